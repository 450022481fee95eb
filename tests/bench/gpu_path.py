#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures a whole topology with a GPU, ring to ring: replay -> classifiers -> `match` on a GPU ->
egress -> null, and the same on classifiers alone, which get all cores that ingress and egress
leave. Nothing here passes or fails on speed; it ends with 1 when an audit is not exact, or when a
packet had another verdict than the function alone gives it (`millrace try`).

The first load is all that is taken; `--loads` are shares of the rate that came through there, which
tell latency without the queues of overload. Rates are medians of windows with the least and the
most; latency (within 6 %) is the worst window's and stream's, from arrival to release; `stage`: of
the stage with `match`, waiting and work; `device`: from handing a batch to the device until its
result was seen. `cores`: processor time of all processes by the time of the window, polling
included; `busy`: turns of their loops that found work. `of copy`: bytes of frames, which the GPU
reads in place, by what copying pinned memory to it reaches before and after, in the same run.

With `--auto` there is a third row for each load: the GPU and all classifiers that cores are left
for share the batches by what both are measured to do (`offload: auto`). Further loads are then
shares of what the classifiers alone take, for all three, so they may be above 1.

    MILLRACE_BIN=bin tests/bench/gpu_path.py --device cuda --streams 2 --json path.json
    MILLRACE_BIN=bin tests/bench/gpu_path.py --device cuda --auto --loads 0.1,0.5,0.9,1.5,3
"""

import argparse
import dataclasses
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

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
import processes  # noqa: E402
from audited import Audited, audit_line, backend_line, backends_of  # noqa: E402
from gpu import gpu_model  # noqa: E402
from payloads import all_work  # noqa: E402
from report import print_machine  # noqa: E402
from run import cpu_model, reserve_hugepages  # noqa: E402
from topology import BIN  # noqa: E402

WARM_SECONDS = 1.5
SHARE_SECONDS = 8  # until a share that is measured has been found
HITS_OFF = 0.01  # counters are not read at one moment


@dataclasses.dataclass
class Case:
    where: str  # gpu, cpu, auto
    work: object
    load: float
    rate_mpps: float  # of all streams; 0: all that is taken


def cores_left(options):
    """Beside those of ingresses, egresses, and the first, which the planner keeps for others."""
    cores = len(os.sched_getaffinity(0))
    return max(cores - 1 - options.streams - options.egress, 1)


def classifiers_of(case, options):
    return {"gpu": options.front, "cpu": cores_left(options),
            "auto": max(cores_left(options) - 1, 1)}[case.where]  # its worker has a core too


def topology(case, rules, through, options):
    gpu, count = case.where != "cpu", classifiers_of(case, options)
    offload = ", offload: auto" if case.where == "auto" else ""
    scan_on = {"gpu": "gpu", "cpu": "front", "auto": "[gpu, front]"}[case.where]
    rate = f", rate_mpps: {case.rate_mpps / options.streams:.6f}" if case.rate_mpps else ""
    ports = "\n".join(f"  in{i}: {{ device: replay, file: {case.work.capture}{rate} }}"
                      for i in range(options.streams))
    names = ", ".join(f"in{i}" for i in range(options.streams))
    through_line = "" if options.direct else \
        f"\n  through: {{ type: acl, rules: {through}, on: front }}"
    return f"""
batch: {{ capacity: {options.capacity} }}
egress: {{ count: {options.egress} }}
ports:
{ports}
  out: {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: {count}, max: {count} }}
{f"  gpu: {{ kind: gpu, device: {options.device}{offload} }}" if gpu else ""}
functions:
  scan: {{ type: match, rules: {rules}, on: {scan_on} }}{through_line}
paths:
  main: {{ from: [{names}], to: out, run: [{"" if options.direct else "through, "}scan],
          slots: {options.slots} }}
"""


def processor_seconds(run_dir):
    """pid -> seconds of each process so far."""
    seconds = {}
    for pid in processes.processes_of(run_dir):
        try:
            seconds[pid] = processes.cpu_seconds(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return seconds


def window(running, seconds):
    """What flowed, how long it took, and what was at it."""
    before, began = processor_seconds(running.run_dir), time.monotonic()
    told = subprocess.run([BIN / "millrace-figures", f"{running.run_dir}/plan.bin", str(seconds)],
                          text=True, capture_output=True, check=False)
    if told.returncode != 0:
        raise AssertionError(told.stderr)
    took, after = time.monotonic() - began, processor_seconds(running.run_dir)
    figures = json.loads(told.stdout)
    stage = figures["stages"][-1]
    seen = {
        "mpps": sum(stream["mpps"] for stream in figures["streams"]),
        "cores": sum(after[pid] - before.get(pid, 0) for pid in after) / took,
        "busy": sum(actor["busy_share"] for actor in figures["actors"]),
        "fill": statistics.mean(stream["fill"] for stream in figures["streams"]),
        "stage_p50_us": stage["p50_us"], "stage_p99_us": stage["p99_us"],
        "actors": {actor["actor"]: round(actor["busy_share"], 3) for actor in figures["actors"]},
    }
    for key in ("p50_us", "p99_us"):
        seen[key] = max(stream[key] for stream in figures["streams"])
        seen[f"device_{key}"] = stage.get("handover", {}).get(key)
    return seen


def require_verdicts(audit, work):
    """What was dropped of each stream is, frame by frame, what the function alone would drop."""
    for lane in audit["lanes"]:
        expected = work.dropped_of(lane["received"])
        assert lane["dropped"] == expected, \
            f"WRONG VERDICTS: {lane['dropped']} dropped, {expected} expected, of {lane}"


def hits_each(running):
    scrape = running.metrics()
    return scrape.total("millrace_function_hits_total", function="scan") / max(
        scrape.total("millrace_function_packets_total", function="scan"), 1)


def measure(case, files, options, folder):
    """All windows of a case, and its end."""
    running = Audited(folder, topology(case, *files, options))
    with running:
        time.sleep(SHARE_SECONDS if case.where == "auto" else WARM_SECONDS)
        backends = backends_of(running) if case.where != "cpu" else ["classifiers"]
        windows = [window(running, options.seconds) for _ in range(options.windows)]
        scrape = running.metrics()
        hits = hits_each(running)
        share = running.status()["offload"].get("gpu")
    work = case.work
    require_verdicts(running.final, work)
    expected = work.hits / work.frames
    assert abs(hits - expected) <= HITS_OFF * expected, \
        f"WRONG VERDICTS: {hits} hits a packet, {expected} expected"
    return {"where": case.where, "frames": work.name, "load": case.load,
            "offered_mpps": case.rate_mpps, "backends": backends, "windows": windows,
            "classifiers": classifiers_of(case, options), "offload": share,
            "missed": scrape.total("millrace_port_missed_packets_total"),
            "stand_in_batches": scrape.total("millrace_stand_in_batches_total"),
            "frame_bytes": work.frame_bytes, "payload_bytes": work.payload_bytes,
            "hits_each": hits, "audit": {key: running.final[key] for key in (
                "exact", "received", "transmitted", "dropped", "in_flight", "unaccounted")},
            "audit_line": audit_line(running.final)}


def summary(result, copies):
    """The figures of a case, of its windows."""
    windows = result["windows"]
    rates = sorted(each["mpps"] for each in windows)
    middle = statistics.median(rates)
    figures = {"mpps": middle, "mpps_low": rates[0], "mpps_high": rates[-1],
               "gbps": middle * result["frame_bytes"] * 8 / 1e3,
               "frames_gb_s": middle * result["frame_bytes"] / 1e3,
               "payload_gb_s": middle * result["payload_bytes"] / 1e3}
    for key in ("cores", "busy", "fill"):
        figures[key] = statistics.median(each[key] for each in windows)
    for key in ("p50_us", "p99_us", "stage_p50_us", "stage_p99_us", "device_p50_us",
                "device_p99_us"):
        seen = [each[key] for each in windows if each[key] is not None]
        figures[key] = max(seen) if seen else None
    if copies and result["where"] == "gpu":  # of one that shares, it read a part
        figures["of_copy"] = figures["frames_gb_s"] / max(copies)
        figures["payload_of_copy"] = figures["payload_gb_s"] / max(copies)
    return figures


def copy_gb_s():
    """What copying pinned memory to the GPU reaches now; nothing without one."""
    program = BIN / "millrace-gpu-figures"
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder, "copy.json")
        words = [program, "--copy", "--json", target]
        if not program.exists() or subprocess.run(
                words, check=False, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL).returncode != 0:
            return []
        return [json.loads(target.read_text())["copy_gbps"] / 8]


HEADER = (f"{'where':5} {'frames':12} {'load':>5} {'Mpps (least to most)':>23} {'Gbit/s':>7} "
          f"{'GB/s':>6} {'payload':>7} {'of copy':>7} {'cores':>5} {'busy':>5} {'fill':>5} "
          f"{'p50 us':>8} {'p99 us':>8} {'stage us, p50 / p99':>20} {'device us, p50 / p99':>20}")


def pair(low, high):
    return "-" if low is None else f"{low:.1f} / {high:.1f}"


def print_row(result, figures):
    spread = f"{figures['mpps']:.3f} ({figures['mpps_low']:.3f} to {figures['mpps_high']:.3f})"
    share = f"{figures['of_copy']:.2f}" if "of_copy" in figures else "-"
    print(f"{result['where']:5} {result['frames'][:12]:12} {result['load']:5.2f} {spread:>23} "
          f"{figures['gbps']:7.1f} {figures['frames_gb_s']:6.2f} {figures['payload_gb_s']:7.2f} "
          f"{share:>7} {figures['cores']:5.1f} {figures['busy']:5.1f} {figures['fill']:5.1f} "
          f"{figures['p50_us']:8.1f} {figures['p99_us']:8.1f} "
          f"{pair(figures['stage_p50_us'], figures['stage_p99_us']):>20} "
          f"{pair(figures['device_p50_us'], figures['device_p99_us']):>20}")
    print(f"      {result['classifiers']} classifiers; {result['audit_line']}; verdicts as "
          f"expected; missed {result['missed']}; "
          f"{result['stand_in_batches']} batches of the GPU's by the stand-in", flush=True)
    if result["offload"] is not None:
        print(f"      {result['offload']} % of the batches to the GPU at the end", flush=True)
    if result["where"] != "cpu":
        print(f"      {backend_line(result['backends'])}", flush=True)


def measure_all(files, work, options, folder):
    """Every case, its first load (all that is taken) before the others; figures in each result."""
    copies, results = copy_gb_s(), []
    print("copy of pinned memory to the GPU: " +
          (f"{copies[0]:.1f} GB/s" if copies else "not measured, NO GPU") + f"\n\n{HEADER}")
    wheres = ["cpu", "gpu", "auto"] if options.auto else ["gpu", "cpu"]
    for each in work:
        most = 0
        for where in [options.only] if options.only else wheres:
            most = most if options.auto else 0
            for number, load in enumerate([1, *options.loads]):
                case = Case(where, each, load, most * load if number else 0)
                result = measure(case, files, options, folder)
                figures = summary(result, copies)
                most = most or figures["mpps"]
                results.append(result)
                print_row(result, figures)
    copies += copy_gb_s() if copies else []
    for result in results:
        result["figures"] = summary(result, copies)
    return copies, results


def print_ratios(copies, results):
    if copies:
        print(f"\ncopy of pinned memory afterwards: {copies[-1]:.1f} GB/s; the ratio below is to "
              "the faster of the two")
    full = {(each["frames"], each["where"]): each["figures"] for each in results
            if each["load"] == 1}
    for (frames, where), figures in full.items():
        if where != "gpu":
            continue
        line = f"{frames}: {figures['frames_gb_s']:.1f} GB/s of frames read in place"
        if copies:
            line += (f", {figures['of_copy']:.2f} of a copy (payload alone "
                     f"{figures['payload_of_copy']:.2f})")
        if (frames, "cpu") in full:
            beside = full[frames, "cpu"]
            line += (f"; {figures['mpps'] / beside['mpps']:.2f} times the classifiers alone, with "
                     f"{figures['cores']:.1f} cores against {beside['cores']:.1f}")
        print(line)
        if (frames, "auto") in full:
            shared = full[frames, "auto"]["mpps"]
            best = max(figures["mpps"], full[frames, "cpu"]["mpps"])
            print(f"{frames}: a share that is measured does {shared:.3f} Mpps, "
                  f"{shared / best:.2f} of the better one of both")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=2, help="ports, each with an ingress")
    parser.add_argument("--egress", type=int, help="egress processes; default: as many as streams")
    parser.add_argument("--front", type=int, default=4, help="classifiers in front of the GPU")
    parser.add_argument("--direct", action="store_true",
                        help="nothing in front of it; its stand-in remains")
    parser.add_argument("--slots", type=int, default=512, help="of a stream")
    parser.add_argument("--capacity", type=int, default=64, help="packets a batch")
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "software"))
    parser.add_argument("--only", choices=("gpu", "cpu", "auto"))
    parser.add_argument("--auto", action="store_true", help="the share that is measured, too")
    parser.add_argument("--frames", default="large,http", help="of those it makes: large, http")
    parser.add_argument("--capture", action="append", default=[], type=pathlib.Path,
                        metavar="FILE", help="instead of made ones; may be given several times")
    parser.add_argument("--rules", type=pathlib.Path, help="of match")
    parser.add_argument("--literals", type=int, default=4400, help="without --rules")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--seconds", type=float, default=1, help="of each window")
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument("--loads", default="0.8", help="further ones, shares of what came through")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="all figures go there")
    options = parser.parse_args()
    options.egress = options.egress or options.streams
    options.loads = [float(load) for load in options.loads.split(",") if load]
    return options


def main():
    options = arguments()
    print_machine(f"(seed {options.seed})")
    machine = {"cpu": cpu_model(), "cores": len(os.sched_getaffinity(0)), "gpu": gpu_model(),
               "kernel": platform.release()}
    print(f"{machine['cpu']}, {machine['cores']} cores; {machine['gpu']}")
    reserve_hugepages(options.streams * (options.slots * options.capacity + 512) // 1024 + 192)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rules, through, work = all_work(options, folder)
        for each in work:
            print(f"{each.name}: {each.frames} frames of {each.frame_bytes:.0f} bytes, "
                  f"{each.payload_bytes:.0f} of payload; {each.dropped_before[-1]} of them to be "
                  f"dropped, {each.hits} hit a rule")
        copies, results = measure_all((rules, through), work, options, folder)
    print_ratios(copies, results)
    if options.json:
        options.json.write_text(json.dumps(
            {"machine": machine, "command": sys.argv, "seed": options.seed,
             "copy_gb_s": copies, "cases": results}, indent=1))
    backends = {backend for each in results if each["where"] != "cpu"
                for backend in each["backends"]}
    if backends - {"cuda"}:
        print(f"\n{backend_line(sorted(backends))}")


if __name__ == "__main__":
    main()
