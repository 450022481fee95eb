#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what metrics cost the whole path: programs that keep all of them and are scraped each
second, and programs of a second build that keep none, in turns, in one run. Prints packets a
second and nanoseconds of a processor a packet of both. Nothing here passes or fails on speed.

The path is `placement: fused`, which is one thread: it is always busy, and its time is all that a
packet costs. That thread has the last processor to itself as far as this bench goes. ns a packet
is the processor time of the thread, so a neighbour that takes the processor away does not count;
one that takes caches and memory bandwidth does. Each start of a topology is one sample, as where
memory comes to lie differs from start to start; `noise` compares those with metrics with each
other, and what is smaller than it has not been measured.

    cmake -S . -B build/unmetered -G Ninja -DMILLRACE_WITHOUT_METRICS_FOR_BENCH=ON
    cmake --build build/unmetered --target programs
    tests/bench/metrics_cost.py [--pairs N] [--only route]
"""

import argparse
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
import processes  # noqa: E402
import topology  # noqa: E402
from cases import write_capture  # noqa: E402
from run import cpu_model  # noqa: E402

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
}


def write_tables(folder):
    write_capture(folder / "small.pcap")
    (folder / "all.routes").write_text(
        "0.0.0.0/0 out 02:00:00:00:00:02\n"
        + "".join(f"10.{i}.0.0/16 out 02:00:00:00:00:03\n" for i in range(256)))
    (folder / "all.rules").write_text('alert "needle" name "a needle"\n')


def cpu_ns(pid):
    """Time on a processor of all threads so far."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


def pin(running):
    """All packets on the last processor, everybody else on the others; the pid of the former."""
    cores = sorted(os.sched_getaffinity(0))
    last, others = {cores[-1]}, set(cores[:-1]) or set(cores)
    moves = None
    for pid, path in processes.processes_of(running.run_dir).items():
        fused = os.path.basename(path) == "millrace-fused"
        moves = pid if fused else moves
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), last if fused else others)
    return moves


def sample(folder, text, binaries, seconds, scrapes):
    """(packets a second, ns a packet, batches that metrics tell of) of one start."""
    topology.BIN = binaries
    with topology.Topology(folder, text, name="metrics-cost") as running:
        running.endless = True
        pid = pin(running)
        time.sleep(WARM_SECONDS)
        began, ns, packets = time.monotonic(), cpu_ns(pid), running.audit()["received"]
        while time.monotonic() - began < seconds:
            if scrapes:
                running.metrics()
            time.sleep(max(0.0, min(1.0, began + seconds - time.monotonic())))
        packets = running.audit()["received"] - packets
        lasted, ns = time.monotonic() - began, cpu_ns(pid) - ns
        batches = running.metrics().total("millrace_batches_total")
        return packets / lasted, ns / packets, batches


def spread(values):
    """Median, and half of the distance between the quartiles in percent of it."""
    low, middle, high = statistics.quantiles(values, n=4)
    return middle, 50 * (high - low) / middle


def ratio(over, under):
    """Median of the ratios of neighbours less 1, in percent, and its standard error."""
    ratios = [100 * (a / b - 1) for a, b in zip(over, under)]
    error = 1.253 * statistics.stdev(ratios) / len(ratios) ** 0.5  # of a median of normal values
    return f"{statistics.median(ratios):+.2f} % +- {error:.2f}"


def least(samples):
    """ns a packet where neighbours disturbed least."""
    return min(ns for _, ns, _ in samples)


def compare(case, folder, options):
    on, off = [], []
    for _ in range(options.pairs):
        on.append(sample(folder, COMMON + CASES[case], options.bin, options.seconds, True))
        off.append(sample(folder, COMMON + CASES[case], options.without, options.seconds, False))
    if not all(kept for _, _, kept in on) or any(kept for _, _, kept in off):
        sys.exit("the programs of --bin keep no metrics, or those of --without do")
    for name, samples in (("with metrics", on), ("without", off)):
        rate, rate_spread = spread([rate for rate, _, _ in samples])
        cost, cost_spread = spread([ns for _, ns, _ in samples])
        print(f"{case:<6} {name:<13} {rate / 1e6:7.3f} Mpps (+-{rate_spread:.1f} %)  "
              f"{cost:7.2f} ns a packet (+-{cost_spread:.1f} %), least {least(samples):.2f}")
    costs = [ns for _, ns, _ in on]
    print(f"{case:<6} metrics cost  {ratio(costs, [ns for _, ns, _ in off])} of the time a packet;"
          f" noise {ratio(costs[1:], costs)};\n"
          f"       of the least {100 * (least(on) / least(off) - 1):+.2f} %", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--pairs", type=int, default=15, help="starts of each, at least 3")
    parser.add_argument("--seconds", type=float, default=2.0, help="measured time of a start")
    parser.add_argument("--only", choices=CASES, help="only this case")
    parser.add_argument("--bin", type=pathlib.Path, default=topology.BIN)
    parser.add_argument("--without", type=pathlib.Path,
                        default=topology.ROOT / "build/unmetered/bin")
    options = parser.parse_args()
    if options.pairs < 3:
        parser.error("--pairs: 3 at least, for quartiles")
    for programs in (options.bin, options.without):
        if not (programs / "millrace-fused").exists():
            sys.exit(f"no programs in {programs}: the head of this file says how they are built")
    print(f"machine: {cpu_model()}, {len(os.sched_getaffinity(0))} cores, Linux "
          f"{platform.release()}\ncommand: {' '.join(sys.argv)}")
    with tempfile.TemporaryDirectory() as folder:
        write_tables(pathlib.Path(folder))
        for case in [options.only] if options.only else CASES:
            compare(case, pathlib.Path(folder), options)


if __name__ == "__main__":
    main()
