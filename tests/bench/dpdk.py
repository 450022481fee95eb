#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures a `dpdk` port on DPDK's null driver beside bare forwarding on the same driver in the
same run: packets of 60 bytes from net_null0 to net_null1. The bare loop is one core, with its few
headers in the cache, and once more with as many in circulation as ours; beside two cores stand two
cores, of which one receives and one transmits, with a ring of DPDK between them; and testpmd, where
it is installed. Millrace has a process for each ingress and egress, and orders, accounts and
survives the death of each. Both ratios are of the bare loop: of its rate, and of what a core does.
Nothing here passes or fails on speed.
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys

import testpmd
from launcher import fresh_folder
from path_runs import Planned, actor_medians
from report import instructions, rate_of
from run import find_binaries, machine, reserve_hugepages

HEADERS = 3072  # buffers of a stream of ours
COLUMNS = ("what", "Mpps", "cores", "of the rate", "a core", "instructions a packet")


def topology(streams):
    """`streams` queues of one port to one egress each. A classifier is not on the way."""
    return f"""millrace: 1
name: bench
ports:
  in:  {{ device: dpdk, devargs: "net_null0,size=60", queues: {streams} }}
  out: {{ device: dpdk, devargs: "net_null1,size=60" }}
egress: {{ count: {streams} }}
paths:
  main: {{ from: in, to: out, slots: 16, buffers: {HEADERS} }}
"""


class Bench:
    def __init__(self, options, cores):
        self.options, self.cores = options, cores
        self.binaries = find_binaries(options.bin)
        self.folder = fresh_folder("/tmp/millrace-bench-dpdk")
        self.rows, self.skipped, self.actors = [], [], {}

    def loop(self, *words):
        """Runs of bare forwarding; its cores are the first of `words`."""
        command = [self.binaries / "millrace-dpdk-loop", words[0], self.options.seconds, *words[1:]]
        done = subprocess.run(list(map(str, command)), text=True, capture_output=True, check=False,
                              timeout=self.options.seconds + 60)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return json.loads(done.stdout)

    def ours(self, planned):
        figures = planned.start(self.options.seconds)
        if "error" not in figures:
            figures["mpps"] = sum(stream["mpps"] for stream in figures["streams"])
        return figures

    def cases(self):
        """Name, cores, what makes one run, in the order in which each round takes them."""
        last = self.cores[-2:]
        yield "bare loop", 1, lambda: self.loop(last[-1])
        yield f"bare loop, {HEADERS} headers", 1, lambda: self.loop(last[-1], HEADERS)
        if len(last) == 2:
            yield "two cores, rte_ring between", 2, lambda: self.loop(",".join(map(str, last)))
        for streams in (1, 2, 4):
            used = 2 * streams
            if streams > 1 and (used + 1 > len(self.cores) or self.options.quick):
                continue
            name = f"millrace, {streams} x ingress and egress"
            planned = Planned(topology(streams), self.binaries, self.folder / str(streams))
            yield name, used, lambda planned=planned: self.ours(planned)

    def measure(self):
        """Rounds of all, so that what a host does for minutes meets each alike."""
        cases = list(self.cases())
        found = {name: [] for name, _, _ in cases}
        for _ in range(self.options.starts):
            for name, _, run in cases:
                found[name].append(run())
        for name, cores, _ in cases:
            errors = [run["error"] for run in found[name] if "error" in run]
            if errors:
                self.skipped.append(f"{name}: {errors[0].splitlines()[0]}")
                continue
            self.rows.append((name, cores, found[name]))
            if name.startswith("millrace"):
                self.actors[name] = actor_medians(found[name])
        for mode in ("io", "mac"):
            self.measure_testpmd(mode)

    def measure_testpmd(self, mode):
        if len(self.cores) < 2:
            self.skipped.append(f"testpmd, {mode}: it needs two cores")
            return
        rate = testpmd.mpps(self.cores, self.options.seconds, mode)
        if rate is None:
            self.skipped.append(f"testpmd, {mode}: not installed (Debian's dpdk-dev)")
            return
        self.rows.append((f"testpmd, {mode}", 1, [{"mpps": rate}]))

    def table(self):
        """Lines of cells, the first of them names."""
        bare = statistics.median(run["mpps"] for run in self.rows[0][2])
        yield COLUMNS
        for name, cores, runs in self.rows:
            rate = statistics.median(run["mpps"] for run in runs)
            counts = [run.get("instructions_per_packet") for run in runs]
            count = "-" if None in counts else f"{statistics.median(counts):.0f}"
            yield (name, rate_of(runs), str(cores), f"{rate / bare:.2f}",
                   f"{rate / cores / bare:.2f}", count)

    def actor_lines(self):
        for name, actors in self.actors.items():
            for kind, actor in actors.items():
                yield (f"{name}: {kind} {actor['busy_ns_per_packet']:.1f} ns a packet, busy "
                       f"{actor['busy_share']:.0%}, {instructions(actor)}")

    def enough_cores(self):
        return len(self.cores) > 2


FEW = "Fewer cores than actors and what starts them: no times, and rates say how they share cores."


def show(bench):
    widths = (34, 26, 6, 12, 7, 22)
    for row in bench.table():
        print(" ".join(f"{cell:{'<' if i == 0 else '>'}{width}}"
                       for i, (cell, width) in enumerate(zip(row, widths, strict=True))))
    for line in bench.actor_lines() if bench.enough_cores() else [FEW]:
        print(f"    {line}")
    for line in bench.skipped:
        print(f"skipped: {line}")


def write_page(bench):
    options, rows = bench.options, list(bench.table())
    lines = ["# Figures of a dpdk port", "", machine(), "", f"    {shlex.join(sys.argv)}", "",
             *("| " + " | ".join(row) + " |" for row in rows)]
    lines.insert(7, "|---" + "|--:" * (len(COLUMNS) - 1) + "|")
    lines += ["", f"Medians of {options.starts} rounds, {options.seconds:g} s each (the least to "
              "the most); testpmd ran once. `of the rate`, `a core`: of the bare loop's. net_null "
              "gives packets without an end and frees what it is given one by one.", ""]
    lines += [f"- {line}" for line in (bench.actor_lines() if bench.enough_cores() else [FEW])]
    lines += [f"- skipped: {line}" for line in bench.skipped]
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "dpdk.md").write_text("\n".join(lines) + "\n")
    print(f"written: {options.out}/dpdk.md")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", help="folder of the executables")
    parser.add_argument("--seconds", type=float, help="of each measurement; default: 2")
    parser.add_argument("--starts", type=int, default=5, help="of each")
    parser.add_argument("--quick", action="store_true", help="in short, one queue: a minute")
    parser.add_argument("--out", type=pathlib.Path, default="build/path-figures",
                        help="folder of the page")
    options = parser.parse_args()
    options.out = pathlib.Path(options.out)
    options.seconds = options.seconds or (0.4 if options.quick else 2.0)
    reserve_hugepages(128)
    print(machine())
    bench = Bench(options, sorted(os.sched_getaffinity(0)))
    bench.measure()
    show(bench)
    write_page(bench)


if __name__ == "__main__":
    main()
