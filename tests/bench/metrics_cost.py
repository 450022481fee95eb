#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what metrics cost the whole path: all of them kept and scraped each second, against
none kept, in turns in the same process, whose build has a switch for it
(shared/layout/metrics_kept.hpp). Prints packets a second and nanoseconds of a processor a packet of
both. Nothing here passes or fails on speed.

`bare`, `route` and `match` run from memory into nothing; `wire` is a router between two hosts on
veth (afpacket), one of which sends what it can. The path is `placement: fused`, which is one
thread: its time is all that a packet costs. That thread has the last processor to itself as far as
this bench goes. ns a packet is the processor time of the thread, so a neighbour that takes the
processor away does not count; one that takes caches and memory bandwidth does. Neighbouring phases
are compared with each other, and `noise` compares phases with metrics in the same way: what is
smaller has not been measured. Where memory comes to lie differs from start to start, so each case
is started several times.

    cmake -S . -B build/switched -G Ninja -DMILLRACE_METRICS_SWITCH_FOR_BENCH=ON
    cmake --build build/switched --target programs
    tests/bench/metrics_cost.py [--starts N] [--phases N] [--only route]
"""

import argparse
import contextlib
import os
import pathlib
import platform
import signal
import statistics
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
import interfaces  # noqa: E402
import processes  # noqa: E402
import topology  # noqa: E402
from cases import write_capture  # noqa: E402
from metrics import Metrics, address_of  # noqa: E402
from run import cpu_model  # noqa: E402
from wire import Wire, run  # noqa: E402

WARM_SECONDS = 0.5
COMMON = """
placement: fused
ports:
  in:  { device: replay, file: small.pcap }
  out: { device: "null" }
"""
CASES = {
    "bare": "paths:\n  main: { from: in, to: out }\n",
    "route": "functions:\n  way: { type: route, table: all.routes }\n"
             "paths:\n  main: { from: in, to: out, run: [way] }\n",
    "match": "functions:\n  look: { type: match, rules: all.rules }\n"
             "paths:\n  main: { from: in, to: out, run: [look] }\n",
    "wire": None,
}


def write_tables(folder):
    write_capture(folder / "small.pcap")
    (folder / "all.routes").write_text(
        "0.0.0.0/0 out 02:00:00:00:00:02\n"
        + "".join(f"10.{i}.0.0/16 out 02:00:00:00:00:03\n" for i in range(256)))
    (folder / "all.rules").write_text('alert "needle" name "a needle"\n')


@contextlib.contextmanager
def on_wire(folder):
    """Hosts and router; host a sends to host b."""
    with Wire(addresses=("10.8.1.10/24", "10.8.2.10/24")) as wire:
        interfaces.meet(wire)
        text = "placement: fused\n" + interfaces.router(folder, wire, "afpacket")
        with wire.between(folder, text) as running:
            sending = topology.Topology(folder, interfaces.load(wire),
                                        prefix=("ip", "netns", "exec", wire.a.namespace))
            sending.endless = True
            with sending:
                yield running


def started(folder, case):
    if case == "wire":
        return on_wire(folder)
    return topology.Topology(folder, COMMON + CASES[case])


def scrape(running):
    """From where the topology's own interfaces are."""
    return Metrics(run(*running.prefix, "curl", "-sf",
                       f"http://{address_of(running.run_dir)}/metrics").stdout)


def cpu_ns(pid):
    """Time on a processor of all threads so far."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


def pin(running):
    """All packets on the last processor, all others elsewhere; the pid of the former."""
    cores = sorted(os.sched_getaffinity(0))
    last, others = {cores[-1]}, set(cores[:-1]) or set(cores)
    moves = None
    for pid, path in processes.processes_of(running.run_dir).items():
        fused = os.path.basename(path) == "millrace-fused"
        moves = pid if fused else moves
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), last if fused else others)
    return moves


def look(running, pid):
    """(packets so far, ns of its processor so far, ns of the clock) of one moment."""
    began, before = time.monotonic_ns(), cpu_ns(pid)
    packets = running.audit()["received"]
    ended, after = time.monotonic_ns(), cpu_ns(pid)
    return packets, (before + after) / 2, (began + ended) / 2


def phase(running, pid, seconds, scrapes):
    """(packets a second, ns a packet) of one phase."""
    first = look(running, pid)
    if scrapes:
        scrape(running)
    time.sleep(seconds)
    packets, ns, clock = (b - a for a, b in zip(first, look(running, pid)))
    return packets * 1e9 / clock, ns / packets


def batches(running):
    return scrape(running).total("millrace_batches_total")


def one_start(folder, case, options):
    """Phases with metrics and without, in turns: one list of each."""
    on, off = [], []
    with started(folder, case) as running:
        running.endless = True
        pid = pin(running)
        time.sleep(WARM_SECONDS)
        for _ in range(options.phases):
            on.append(phase(running, pid, options.seconds, True))
            os.kill(pid, signal.SIGUSR2)
            before = batches(running)
            off.append(phase(running, pid, options.seconds, False))
            kept = batches(running) - before
            os.kill(pid, signal.SIGUSR2)
            if before == 0 or kept != 0:
                sys.exit(f"the switch does not work: {before} batches before, {kept} while off")
    return on, off


def spread(values):
    """Median, and half of the distance between the quartiles in percent of it."""
    low, middle, high = statistics.quantiles(values, n=4)
    return middle, 50 * (high - low) / middle


def ratio(over, under):
    """Median of the ratios of neighbours less 1, in percent, and its standard error."""
    ratios = [100 * (a / b - 1) for a, b in zip(over, under)]
    error = 1.253 * statistics.stdev(ratios) / len(ratios) ** 0.5  # of a median of normal values
    return f"{statistics.median(ratios):+.2f} % +- {error:.2f}"


def compare(case, folder, options):
    on, off = [], []
    for _ in range(options.starts):
        for all_of, some in zip((on, off), one_start(folder, case, options)):
            all_of.extend(some)
    for name, phases in (("with metrics", on), ("without", off)):
        rate, rate_spread = spread([rate for rate, _ in phases])
        cost, cost_spread = spread([ns for _, ns in phases])
        print(f"{case:<6} {name:<13} {rate / 1e6:7.3f} Mpps (+-{rate_spread:.1f} %)  "
              f"{cost:7.2f} ns a packet (+-{cost_spread:.1f} %)")
    costs = [ns for _, ns in on]
    print(f"{case:<6} metrics cost  {ratio(costs, [ns for _, ns in off])} of the time a packet;"
          f" noise {ratio(costs[1:], costs)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--starts", type=int, default=3, help="of the topology, a case")
    parser.add_argument("--phases", type=int, default=20, help="of each kind and start")
    parser.add_argument("--seconds", type=float, default=0.4, help="of a phase")
    parser.add_argument("--only", choices=CASES, help="only this case")
    parser.add_argument("--bin", type=pathlib.Path,
                        default=topology.ROOT / "build/switched/bin", help="programs with a switch")
    options = parser.parse_args()
    if options.starts * options.phases < 3:
        parser.error("--phases: 3 at least in all, for quartiles")
    if not (options.bin / "millrace-fused").exists():
        sys.exit(f"no programs in {options.bin}: the head of this file says how they are built")
    topology.BIN = options.bin
    print(f"machine: {cpu_model()}, {len(os.sched_getaffinity(0))} cores, Linux "
          f"{platform.release()}\ncommand: {' '.join(sys.argv)}")
    with tempfile.TemporaryDirectory() as folder:
        write_tables(pathlib.Path(folder))
        for case in [options.only] if options.only else CASES:
            compare(case, pathlib.Path(folder), options)


if __name__ == "__main__":
    main()
