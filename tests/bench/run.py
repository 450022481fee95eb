#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the path with real processes: replay -> workers -> null.

Each case is started five times, and before each start and behind the last one runs a plain model of
the path on the same cores (path_model.cpp): processes, lanes, slots, batches and buffers are as
many, and nothing is done but the work itself. Prints the machine, the command, medians and ranges,
the ratio, and where the time and the instructions of each actor go beside the model's; writes a
page of it. Latency is by packet: each has that of its batch's first one. Nothing here passes or
fails on speed.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys

from cases import cases_for
from launcher import fresh_folder
from path_page import write_page
from path_runs import measure_case
from report import print_case, print_header

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def find_binaries(given):
    for folder in [given, ROOT / "bin", ROOT / "build/release/bin"]:
        if folder and (pathlib.Path(folder) / "millrace-hub").exists():
            return pathlib.Path(folder).resolve()
    sys.exit("no executables: build them with `make build`, or name them with --bin")


def cpu_model():
    match = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return match.group(1) if match else platform.machine()


def reserve_hugepages(pages):
    """As many free 2 MB pages as the largest case needs; says so when it changes something."""
    free = int(
        re.search(r"HugePages_Free:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text()).group(1)
    )
    if free < pages:
        target = pathlib.Path("/proc/sys/vm/nr_hugepages")
        target.write_text(str(int(target.read_text()) + pages - free))
        print(f"reserved hugepages: vm.nr_hugepages={target.read_text().strip()}", file=sys.stderr)
    if not os.path.ismount("/dev/hugepages"):
        pathlib.Path("/dev/hugepages").mkdir(exist_ok=True)
        subprocess.run(
            ["mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "none", "/dev/hugepages"], check=True
        )


def machine():
    return f"{cpu_model()}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}"


def pages_of(case):
    """Huge pages of 2 MB that a case and its model need, one after the other."""
    buffers = case.streams * case.buffers * 2304
    return max(64, 40 + buffers // (2 << 20) + 8 * case.streams)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", help="folder of the executables")
    parser.add_argument("--seconds", type=float, help="measured time of a start; default: 1.5")
    parser.add_argument("--model-seconds", type=float, help="of the model; default: 0.7")
    parser.add_argument("--starts", type=int, default=5, help="of each case")
    parser.add_argument("--quick", action="store_true", help="few cases, in short: two minutes")
    parser.add_argument("--only", default="", help="only cases whose name holds this")
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--out", type=pathlib.Path, default="build/path-figures",
                        help="folder of the page")
    options = parser.parse_args()
    options.seconds = options.seconds or (0.4 if options.quick else 1.5)
    options.model_seconds = options.model_seconds or (0.25 if options.quick else 0.7)
    binaries = find_binaries(options.bin)
    cores = len(os.sched_getaffinity(0))
    folder = fresh_folder("/tmp/millrace-bench")
    cases = [case for case in cases_for(cores, options.quick) if options.only in case.name]
    reserve_hugepages(max(map(pages_of, cases), default=0))
    print_header(machine(), shlex.join(sys.argv))
    results = []
    for case in cases:
        results.append((case, measure_case(case, binaries, folder, options)))
        print_case(*results[-1], cores)
    if options.json:
        document = {"machine": machine(), "cases": [{"case": vars(case), **found}
                                                    for case, found in results]}
        pathlib.Path(options.json).write_text(json.dumps(document, indent=1))
    write_page(options.out, results, machine(), options)
    print(f"written: {options.out}/README.md")


if __name__ == "__main__":
    main()
