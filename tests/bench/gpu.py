#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures a GPU beside all CPU cores of the same host in the same run, and writes a page with
plots: rate over batch size, latency over load, and what share of the PCIe limit is reached. The
limit is what copying pinned memory reaches in that run. Rates are medians of several samples.
Whole topologies are measured by gpu_path.py. Nothing here passes or fails on speed.
"""

import argparse
import json
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys

from plot import Axis, line_chart
from run import cpu_model, find_binaries


def measure(program, name, words, folder, options):
    """The figures of one run of millrace-gpu-figures: its cases, renamed for the page."""
    target = folder / f"{name}.json"
    command = [program, "--json", target, "--seconds", str(options.seconds), "--samples",
               str(options.samples), "--sizes", *options.sizes.split(","), *words]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))} failed")
    return json.loads(target.read_text())


def by_name(cases):
    named = {}
    for case in cases:
        named.setdefault(case["name"], []).append(case)
    return named


def draw(folder, results):
    cases = by_name(results["cases"])
    every_size = [case["packets"] for case in results["cases"]]
    ends = sorted({min(every_size), max(every_size)})
    limit = {"copy of pinned memory": [(size, results["copy_gbps"]) for size in ends]}
    rates = {name: [(case["packets"], case["gpu"]["gbps"]) for case in all_sizes]
             for name, all_sizes in cases.items()}
    cores = {f"{name}: CPU": [(case["packets"], case["cpu_all"]["gbps"]) for case in all_sizes]
             for name, all_sizes in cases.items() if name.startswith("match")}
    size = Axis("packets a batch", log=True)
    (folder / "rate.svg").write_text(
        line_chart("Rate over batch size", size, Axis("Gbit/s of frames"),
                   {**rates, **cores, **limit}))
    middle = min(every_size, key=lambda each: abs(each - 64))
    loads = {name: [(point["mpps"], point["mean_us"]) for point in case["load"]]
             for name, all_sizes in cases.items() for case in all_sizes
             if case["packets"] == middle}
    (folder / "latency.svg").write_text(
        line_chart(f"Latency over load, {middle} packets a batch", Axis("Mpps", log=True),
                   Axis("mean us at the device", log=True), loads))
    shares = {name: [(case["packets"], share_of_limit(case, results)) for case in all_sizes]
              for name, all_sizes in cases.items()}
    (folder / "roofline.svg").write_text(
        line_chart("Share of the PCIe limit", size, Axis("achieved / copy"), shares))


def share_of_limit(case, results):
    """By the bytes that the GPU reads, which are less or more than those of the frames."""
    return case["gpu"]["mpps"] * case["read_each"] * 8 / 1e3 / results["copy_gbps"]


def spread(rate, key="mpps"):
    return f"{rate[key]:.1f} ({rate['low']:.1f} to {rate['high']:.1f})"


def table(results):
    cores = f"{results['threads']} cores"
    lines = ["| case | packets a batch | GPU p50 / p99 us | GPU Mpps | GPU Gbit/s | bytes read "
             f"each | of the limit | {cores} Mpps | GPU / {cores} | {cores}, DPDK's look-ups M/s | "
             "GPU / DPDK's | worth cores |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for case in results["cases"]:
        gpu, cpu, one, library = (case.get(key) for key in
                                  ("gpu", "cpu_all", "cpu_one", "library"))
        beside = "- | -"
        if library:
            beside = (f"{library['name']} {spread(library, 'mps')} | "
                      f"{gpu['mpps'] / library['mps']:.2f}")
        lines.append(f"| {case['name']} | {case['packets']} | {case['p50_us']:.1f} / "
                     f"{case['p99_us']:.1f} | {spread(gpu)} | {gpu['gbps']:.1f} | "
                     f"{case['read_each']:.0f} | {share_of_limit(case, results):.2f} | "
                     f"{spread(cpu)} | {gpu['mpps'] / cpu['mpps']:.2f} | {beside} | "
                     f"{gpu['mpps'] / one['mpps']:.0f} |")
    return lines


def notes(results, options):
    """What the columns say."""
    return [f"Rates: medians of {options.samples} samples of {options.seconds:g} s (the least to "
            "the most). GPU Gbit/s are of frames. `bytes read each`: columns and bytes of frames "
            "that the GPU asks for, of a packet; `of the limit` is of these. "
            f"`{results['threads']} cores Mpps`: our own code on the CPU over whole packets, `acl` "
            "by bit vectors. DPDK's: rte_acl, rte_fib, look-ups alone on as many threads that "
            "share a table, 64 in a call, no packet read. `with options`: of IPv4, so that the "
            "column of keys says nothing and the GPU reads each header in place, as it does for "
            "IPv6 and fragments. `worth cores`: its rate by that of one core alone, which is where "
            "a stage begins to gain by a GPU.", "",
            "Latency: p50 and p99 of batches sent one by one; in the plot, batches under way by "
            "their rate (Little's law), single samples."]


def gpu_model():
    program = shutil.which("nvidia-smi")
    if program is None:
        return "GPU"
    asked = subprocess.run([program, "--query-gpu=name,driver_version", "--format=csv,noheader"],
                           text=True, capture_output=True, check=False)
    return asked.stdout.strip().splitlines()[0] if asked.stdout.strip() else "GPU"


def write_page(folder, results, options):
    page = ["# Figures of a GPU", "",
            f"{gpu_model()}; {cpu_model()}, {len(os.sched_getaffinity(0))} cores, Linux "
            f"{platform.release()}", "", f"    {shlex.join(sys.argv)}", "",
            f"The limit, copying pinned memory in this run: {results['copy_gbps']:.0f} Gbit/s.", "",
            *table(results), "", *notes(results, options), "", "![rate over batch size](rate.svg)",
            "![latency over load](latency.svg)", "![share of the PCIe limit](roofline.svg)", ""]
    (folder / "README.md").write_text("\n".join(page))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", help="folder of the executables")
    parser.add_argument("--out", default="build/gpu-figures", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each sample")
    parser.add_argument("--samples", type=int, default=5, help="of each rate")
    parser.add_argument("--sizes", default="8,16,32,64,128,256", help="packets a batch")
    parser.add_argument("--rules", help="a rule file of match")
    parser.add_argument("--routes", help="prefixes of IPv4 a line, or a route table; default: "
                        "900,000 made ones")
    parser.add_argument("--capture", action="append", default=[], metavar="FILE",
                        help="packets for match (pcap); may be given several times")
    parser.add_argument("--acl", action="append", default=[], metavar="FILE",
                        help="a rule file of acl, with --trace; may be given several times")
    parser.add_argument("--trace", action="append", default=[], metavar="FILE",
                        help="a ClassBench trace for it")
    options = parser.parse_args()
    if len(options.acl) != len(options.trace):
        parser.error(f"{len(options.acl)} --acl and {len(options.trace)} --trace: each has one")
    program = find_binaries(options.bin) / "millrace-gpu-figures"
    options.out.mkdir(parents=True, exist_ok=True)
    rules = ["--rules", options.rules] if options.rules else []
    routes = ["--routes", options.routes] if options.routes else []
    results = measure(program, "frames", [*rules, *routes], options.out, options)
    for rules_file, trace in zip(options.acl, options.trace, strict=True):
        words = ["--acl", rules_file, "--trace", trace]
        results["cases"] += measure(program, "acl", words, options.out, options)["cases"]
    for path in options.capture:
        words = [*rules, "--capture", path]
        results["cases"] += measure(program, "capture", words, options.out, options)["cases"]
    draw(options.out, results)
    write_page(options.out, results, options)
    print(f"written: {options.out}/README.md")


if __name__ == "__main__":
    main()
