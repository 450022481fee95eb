# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""How figures are shown."""

import os
import pathlib
import platform
import random
import sys

from path_runs import spread_of
from plot import Axis, line_chart


def print_machine(*more):
    """For a shared host: what else it was doing. `more`: behind the command."""
    print(f"machine: {platform.processor() or platform.machine()}, {os.cpu_count()} cores, Linux "
          f"{platform.release()}, {os.getloadavg()[0]:.1f} running before")
    print("command:", *sys.argv, *more)


def load_options(parser):
    """What every bench takes that strikes a topology under load; printed with the machine."""
    parser.add_argument("--rate-mpps", type=float, default=0.05, help="offered load")
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "software"),
                        help="of the GPU worker")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print_machine(f"(seed {options.seed})")
    return options


def print_header(machine, command):
    print(f"machine: {machine}")
    print(f"command: {command}")
    print(f"\n{'case':<22} {'offered':>8} {'Mpps: median (least to most)':>29} {'missed':>8} "
          f"{'fill':>5} {'p50 us':>7} {'p99 us':>7} {'model Mpps':>22} {'of it':>5} {'unacc.':>6}")


def rate_of(runs, key="mpps"):
    """Median, and between what it lay."""
    median, least, most = spread_of(runs, key)
    return f"{median:.2f} ({least:.2f} to {most:.2f})"


def print_case(case, results, cores):
    """A line of the case, and one for each kind of actor beside the model's."""
    if "error" in results:
        print(f"{case.name:<22} not measured: {results['error']}", flush=True)
        return
    runs, models = results["runs"], results["models"]
    median = {key: spread_of(runs, key)[0] for key in runs[0]}
    offered = f"{case.rate_mpps:g}" if case.rate_mpps else "all"
    enough = cores >= case.actors
    times = [f"{median[key]:7.2f}" if enough else f"{'-':>7}" for key in ("p50_us", "p99_us")]
    ratio = f"{median['mpps'] / spread_of(models, 'mpps')[0]:.2f}"
    missed = f"{median['missed_mpps']:8.2f}" if case.rate_mpps else f"{'-':>8}"
    print(f"{case.name:<22} {offered:>8} {rate_of(runs):>29} {missed} {median['fill']:5.1f} "
          f"{times[0]} {times[1]} {rate_of(models):>22} "
          f"{ratio if enough else '-':>5} "
          f"{max(run['unaccounted'] for run in runs):6d}", flush=True)
    if not enough:
        print(f"    {cores} cores for {case.actors} actors: no times and no ratio; the rates "
              "say how they share cores")
        return
    for kind, actor in results["actors"].items():
        model = results["model_actors"][kind]
        print(f"    {kind:<12} busy {actor['busy_share']:6.1%}  "
              f"{actor['busy_ns_per_packet']:6.1f} ns a packet (model "
              f"{model['busy_ns_per_packet']:.1f})  {instructions(actor)} (model "
              f"{instructions(model)})", flush=True)


BUSY = 0.9  # of its time: an actor that has less to do also counts instructions of waiting


def instructions(actor):
    count = actor["instructions_per_packet"]
    if count is None:
        return "no counters"
    return f"{'' if actor['busy_share'] >= BUSY else 'at most '}{count:.0f} instructions"


def write_svg(path, results):
    """p50 and p99 over the offered load, one line a kind of case; True if there is any."""
    curves = {}
    for case, found in results:
        if "error" in found or not case.rate_mpps:
            continue
        kind = case.name.rsplit("-", 1)[0]
        for quantile in ("p50_us", "p99_us"):
            points = curves.setdefault(f"{kind} {quantile[:3]}", [])
            points.append((case.rate_mpps, max(spread_of(found["runs"], quantile)[0], 0.1)))
    if curves:
        chart = line_chart("Latency over load", Axis("offered, Mpps", log=True),
                           Axis("us", log=True),
                           {name: sorted(points) for name, points in sorted(curves.items())})
        pathlib.Path(path).write_text(chart)
    return bool(curves)
