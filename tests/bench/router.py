#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what routing costs a path: packets a second of a path without a function, which needs no
worker, of one that routes by a small table, and of one with as many prefixes as the Internet has,
all in one run, by size of frame. Packets come from memory and go nowhere; ingress, workers and
egress are processes of their own. Prints the machine, this command, medians of several starts, and
ratios to the small table. Nothing here passes or fails on speed.

    tests/bench/router.py [--workers N] [--starts N] [--seconds S] [--prefixes N]

Programs: build/release/bin, or MILLRACE_BIN. Needs root, hugepages (`millrace doctor --fix`), and a
core for each of hub, standby, ingress, workers and egress: with fewer, figures say nothing.
"""

import argparse
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

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


def networks(count):
    """As many different /24 networks, spread over 1.0.0.0 to 99.255.255.0."""
    chosen = random.Random(1).sample(range(1 << 16, 100 << 16), count)
    return [f"{n >> 16}.{n >> 8 & 255}.{n & 255}" for n in chosen]


def write_tables(folder, count):
    names = networks(count)
    for name, lines in (("small", names[:100]), ("full", names)):
        (folder / f"{name}.routes").write_text("0.0.0.0/0 out 02:00:00:00:00:01\n" + "".join(
            f"{net}.0/24 out 02:00:00:00:00:{i % 80 + 10:02x}\n" for i, net in enumerate(lines)))
    spread = random.Random(2).sample(names, min(200, count))
    return {"small": [f"{net}.9" for net in names[:100]], "full": [f"{net}.9" for net in spread]}


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


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1, help="default: 1")
    parser.add_argument("--starts", type=int, default=5, help="of each case; default: 5")
    parser.add_argument("--seconds", type=float, default=1, help="of each start; default: 1")
    parser.add_argument("--prefixes", type=int, default=900_000, help="of the full table")
    options = parser.parse_args()
    print(f"{cpu_model()}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}")
    print("command:", " ".join(sys.argv))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        addresses = write_tables(folder, options.prefixes)
        cases = {"100 routes": ("small", "way"), f"{options.prefixes:,} routes": ("full", "way"),
                 "no function": ("small", "")}
        print(f"{'frames':8} {'path':16} {'Mpps':>8} {'least':>8} {'most':>8} {'ratio':>6}")
        for label, size in SIZES.items():
            baseline = None
            for case, (table, run) in cases.items():
                text = TEXT.format(size=size, destinations=json.dumps(addresses[table]),
                                   workers=options.workers, table=folder / f"{table}.routes",
                                   run=run)
                rates = [rate(folder, text, options.seconds) / 1e6 for _ in range(options.starts)]
                median = statistics.median(rates)
                baseline = baseline or median
                print(f"{label:8} {case:16} {median:8.2f} {min(rates):8.2f} {max(rates):8.2f} "
                      f"{median / baseline:6.2f}", flush=True)


if __name__ == "__main__":
    main()
