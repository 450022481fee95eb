#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the path with real processes: 64-byte packets, replay -> workers -> null.

Prints the machine, the command, each case's rate, latency, fill and where each actor's time
goes, beside a plain model of the path (path_probe) in the same run when it is there. Nothing
here passes or fails on speed.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

from cases import cases_for, topology_of, write_capture
from launcher import Topology, fresh_folder
from report import print_case, print_header, write_svg

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


def measure(case, binaries, folder, seconds):
    """Figures of one case, or the reason why there are none."""
    return measure_text(topology_of(case, folder), binaries, folder / case.name, seconds)


def measure_text(text, binaries, folder, seconds):
    """The same of a topology, whose name is `bench`."""
    run_dir = fresh_folder(folder)
    yaml = run_dir / "topology.yaml"
    yaml.write_text(text)
    plan = run_dir / "plan.bin"
    planned = subprocess.run(
        [binaries / "millrace-bench-plan", yaml, plan], text=True, capture_output=True, check=False
    )
    if planned.returncode != 0:
        return {"error": planned.stderr.strip()}
    actors, tables = [], []
    for line in planned.stdout.splitlines():
        words = line.split()
        if words[0] == "table":
            tables.append(words[1])
        else:
            actors.append((words[5], words[2] if words[3] == "1" else "spare"))
    for table in tables:
        subprocess.run(
            [binaries / "millrace-builder", "--plan", plan, "--function", table],
            check=True,
            capture_output=True,
        )
    topology = Topology(binaries, run_dir, "bench", actors)
    try:
        topology.start()
        time.sleep(0.5)
        output = subprocess.run(
            [binaries / "millrace-figures", plan, str(seconds)],
            text=True,
            capture_output=True,
            check=False,
        )
        if output.returncode != 0:
            return {"error": output.stderr + topology.log()}
        figures = json.loads(output.stdout)
        if not any(stream["mpps"] for stream in figures["streams"]):
            return {"error": "nothing flows\n" + topology.log()}
        return figures
    finally:
        topology.stop()


def run_probe(binaries):
    """A model of the path without functions, tables and ports: the same run's baseline."""
    probe = binaries / "path_probe"
    source = ROOT / "../shared/probes/path_probe.cpp"
    if not probe.exists() and source.exists():
        probe = pathlib.Path("/tmp/millrace-path-probe")
        subprocess.run(
            ["g++", "-std=c++20", "-O3", "-march=native", "-o", probe, source], check=True
        )
    if not probe.exists():
        return "path_probe is not here: no baseline"
    return subprocess.run([probe], text=True, capture_output=True, check=False).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", help="folder of the executables")
    parser.add_argument("--seconds", type=float, default=2.0, help="measured time of a case")
    parser.add_argument("--quick", action="store_true", help="three short cases")
    parser.add_argument("--only", default="", help="only cases whose name holds this")
    parser.add_argument("--no-probe", action="store_true", help="without the baseline")
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--svg", help="draw latency against offered load into this file")
    options = parser.parse_args()
    binaries = find_binaries(options.bin)
    cores = len(os.sched_getaffinity(0))
    folder = fresh_folder("/tmp/millrace-bench")
    write_capture(folder / "small.pcap")
    reserve_hugepages(160)
    print_header(cpu_model(), cores, platform.release(), sys.argv)
    results = []
    for case in cases_for(cores, options.quick):
        if options.only not in case.name:
            continue
        figures = measure(case, binaries, folder, 0.5 if options.quick else options.seconds)
        results.append({"case": case.__dict__, "figures": figures})
        print_case(case, figures)
    probe = "" if options.no_probe else run_probe(binaries)
    if probe:
        print("\nbaseline of the same run: path_probe\n" + probe)
    if options.json:
        document = {"cpu": cpu_model(), "cores": cores, "cases": results, "probe": probe}
        pathlib.Path(options.json).write_text(json.dumps(document, indent=1))
    if options.svg:
        write_svg(options.svg, results)


if __name__ == "__main__":
    main()
