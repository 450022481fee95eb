#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures a router in one run, by size of frame, with a small table and one with as many prefixes
as the Internet has:

- from memory to nowhere: the path without a function, which needs no worker, beside the path that
  routes; ingress, workers and egress are processes of their own. And testpmd on DPDK's null driver,
  which writes no packet and needs one core: what is there before anything is done with packets.
- over veth, where interfaces can be made: the kernel's forwarding, the path without a function, and
  the router, all on the same kind of port with the same sender (router_wire.py says what is fair).

Prints the machine, this command, medians of several starts, and ratios. Nothing here passes or
fails on speed.

    tests/bench/router.py [--workers N] [--starts N] [--seconds S] [--prefixes N] [--no-wire]

Programs: build/release/bin, or MILLRACE_BIN. Needs root, hugepages (`millrace doctor --fix`), and a
core for each of hub, standby, ingress, workers and egress, and one for the sender: with fewer,
figures say nothing.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import router_wire
import testpmd
from router_tables import tables

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("MILLRACE_BIN", ROOT / "build/release/bin")).resolve()
SIZES = {"64 B": "60", "IMIX": "[60, 60, 60, 60, 60, 60, 60, 590, 590, 590, 590, 1514]",
         "1,514 B": "1514"}
WARM_SECONDS = 0.5
TEXT = """millrace: 1
name: bench-router
ports:
  in:  {{ device: generate, flows: 1024, size: {size}, destinations: {destinations} }}
  out: {{ device: "null", mac: "02:00:00:00:00:0b" }}
workers:
  worker: {{ kind: classifier, count: {workers}, max: {workers}, dispatch: any }}
functions:
  way: {{ type: route, table: {table}, on: worker }}
paths:
  main: {{ from: in, to: out, run: [{run}] }}
"""


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def millrace(*words):
    done = subprocess.run([BIN / "millrace", *map(str, words)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"millrace {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def received():
    audit = json.loads(millrace("audit", "bench-router", "--json"))
    return audit["received"], sum(audit["dropped"].values())


def rate(folder, text, seconds):
    """Packets a second of one start; none may be dropped."""
    file = folder / "bench.yaml"
    file.write_text(text)
    millrace("up", "--detach", file)
    try:
        time.sleep(WARM_SECONDS)
        (before, _), began = received(), time.monotonic()
        time.sleep(seconds)
        (after, dropped), ended = received(), time.monotonic()
    finally:
        millrace("down", "bench-router")
    if dropped:
        sys.exit(f"{dropped} packets were dropped")
    return (after - before) / (ended - began)


def in_memory(small, full, options):
    print("\nFrom memory to nowhere.")
    print(f"{'frames':8} {'path':24} {'Mpps':>8} {'least':>8} {'most':>8} {'of pass':>8}")
    cores = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number, table in enumerate((small, full)):
            table.write(folder / f"{number}.routes",
                        lambda i: f"out 02:00:00:00:00:{i % 80 + 10:02x}")
        for label, size in SIZES.items():
            passes = None
            for case, number, run in (("no function", 0, ""), (small.name, 0, "way"),
                                      (full.name, 1, "way")):
                text = TEXT.format(size=size, destinations=json.dumps(
                    (small, full)[number].addresses), workers=options.workers,
                                   table=folder / f"{number}.routes", run=run)
                rates = [rate(folder, text, options.seconds) / 1e6 for _ in range(options.starts)]
                median = statistics.median(rates)
                passes = passes or median
                print(f"{label:8} {case:24} {median:8.2f} {min(rates):8.2f} {max(rates):8.2f} "
                      f"{median / passes:8.2f}", flush=True)
            if size.startswith("[") or len(cores) < 2:
                continue  # the null driver has one size
            for mode in ("io", "mac"):
                found = testpmd.mpps(cores, options.seconds, mode, size)
                if found:
                    print(f"{label:8} {'testpmd, ' + mode:24} {found:8.2f} {'':8} {'':8} "
                          f"{found / passes:8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1, help="default: 1")
    parser.add_argument("--starts", type=int, default=5, help="of each case; default: 5")
    parser.add_argument("--seconds", type=float, default=1, help="of each start; default: 1")
    parser.add_argument("--prefixes", type=int, help="of the full table, which is made then")
    parser.add_argument("--no-wire", action="store_true", help="no interfaces")
    options = parser.parse_args()
    options.sizes = SIZES
    small, full, kind = tables(options.prefixes)
    print(f"{cpu_model()}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}")
    print("command:", " ".join(sys.argv))
    print(f"full table: {full.name}, {kind}; workers: {options.workers}")
    in_memory(small, full, options)
    if os.geteuid() != 0 or options.no_wire:
        print("\nNot over veth: " + ("--no-wire" if options.no_wire else "not root"))
    else:
        router_wire.measure(small, full, options)


if __name__ == "__main__":
    main()
