# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""How figures are shown."""

import os
import pathlib
import platform
import random
import sys

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


def print_header(cpu, cores, kernel, command):
    print(f"machine: {cpu}, {cores} cores, Linux {kernel}")
    print(f"command: {' '.join(command)}")
    if cores < 6:
        print(
            "fewer cores than actors: this says how it shares cores, not how fast the path is"
        )
    print(
        f"\n{'case':<18} {'offered':>8} {'Mpps':>8} {'fill':>6} {'p50 us':>8} {'p99 us':>8} "
        f"{'p99.9 us':>9} {'unacc.':>6}"
    )


def print_case(case, figures):
    if "error" in figures:
        print(f"{case.name:<18} not measured: {figures['error']}")
        return
    streams = figures["streams"]
    worst = max(streams, key=lambda s: s["p99_us"])
    rate = sum(s["mpps"] for s in streams)
    fill = sum(s["fill"] for s in streams) / len(streams)
    offered = f"{case.rate_mpps:g}" if case.rate_mpps else "all"
    print(
        f"{case.name:<18} {offered:>8} {rate:8.2f} {fill:6.1f} {worst['p50_us']:8.2f} "
        f"{worst['p99_us']:8.2f} {worst['p999_us']:9.2f} "
        f"{sum(s['unaccounted'] for s in streams):6d}"
    )
    for actor in figures["actors"]:
        print(
            f"    {actor['actor']:<22} core {actor['core']:>3}  busy {actor['busy_share']:6.1%}  "
            f"{actor['busy_ns_per_packet']:7.2f} ns/packet  sleeps {actor['sleeps']}"
        )


def write_svg(path, results):
    """p50 and p99 over the offered load, one line a kind of case."""
    curves = {}
    for result in results:
        rate = result["case"]["rate_mpps"]
        if "error" in result["figures"] or not rate:
            continue
        kind = result["case"]["name"].rsplit("-", 1)[0]
        stream = result["figures"]["streams"][0]
        for quantile in ("p50_us", "p99_us"):
            points = curves.setdefault(f"{kind} {quantile[:3]}", [])
            points.append((rate, max(stream[quantile], 0.1)))
    if curves:
        chart = line_chart("Latency over load", Axis("offered, Mpps", log=True),
                           Axis("us", log=True),
                           {name: sorted(points) for name, points in sorted(curves.items())})
        pathlib.Path(path).write_text(chart)
