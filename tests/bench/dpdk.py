#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures a `dpdk` port on DPDK's null driver beside a bare receive and transmit loop on the same
driver, in the same run: packets of 60 bytes from net_null0 to net_null1. The bare loop is one core
(and testpmd in io mode, where it is installed); Millrace has a process for each ingress and egress,
or all on one core with `fused`, and orders, accounts and survives the death of each. The ratio is
per core used. Nothing here passes or fails on speed.
"""

import argparse
import os
import platform
import subprocess
import sys

import testpmd
from launcher import fresh_folder
from run import cpu_model, find_binaries, measure_text, reserve_hugepages


def topology(streams, placement):
    """`streams` queues of one port to one egress each. A classifier is not on the way."""
    return f"""millrace: 1
name: bench
{placement}
ports:
  in:  {{ device: dpdk, devargs: "net_null0,size=60", queues: {streams} }}
  out: {{ device: dpdk, devargs: "net_null1,size=60" }}
egress: {{ count: {streams} }}
paths:
  main: {{ from: in, to: out, slots: 16 }}
"""


def bare_loop(binaries, core, seconds):
    done = subprocess.run([binaries / "millrace-dpdk-loop", str(core), str(seconds)], text=True,
                          capture_output=True, check=False, timeout=seconds + 60)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", help="folder of the executables")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    options = parser.parse_args()
    binaries = find_binaries(options.bin)
    cores = sorted(os.sched_getaffinity(0))
    folder = fresh_folder("/tmp/millrace-bench-dpdk")
    reserve_hugepages(128)
    print(f"{cpu_model()}, {len(cores)} cores, Linux {platform.release()}")
    bare = bare_loop(binaries, cores[-1], options.seconds)
    print(f"{'what':34} {'Mpps':>8} {'cores':>6} {'per core':>9} {'of the bare loop':>17}")

    def row(name, rate, used):
        print(f"{name:34} {rate:8.2f} {used:6} {rate / used:9.2f} {rate / used / bare:17.2f}",
              flush=True)

    row("bare loop", bare, 1)
    by_testpmd = testpmd.mpps(cores, options.seconds) if len(cores) > 1 else None
    if by_testpmd:
        row("testpmd, io", by_testpmd, 1)
    for streams in (1, 2, 4):
        if streams > 1 and 2 * streams + 1 > len(cores):
            continue
        name = f"millrace, {streams} queue{'s' if streams > 1 else ''}"
        figures = measure_text(topology(streams, ""), binaries, folder / f"q{streams}",
                               options.seconds)
        if "error" in figures:
            print(f"{name}: {figures['error']}")
            continue
        used = min(2 * streams, len(cores))
        row(name, sum(stream["mpps"] for stream in figures["streams"]), used)
        for actor in figures["actors"]:
            print(f"    {actor['actor']:30} {actor['busy_ns_per_packet']:6.1f} ns a packet, busy "
                  f"{actor['busy_share']:.0%}")
    again = bare_loop(binaries, cores[-1], options.seconds)
    print(f"the bare loop again: {again:.2f} Mpps")


if __name__ == "__main__":
    main()
