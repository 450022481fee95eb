# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The page of figures that run.py writes: rates and latency of each case beside the model, and
where the nanoseconds and instructions of each actor go."""

import os
import pathlib
import shlex
import sys

from cases import FRAMES
from path_runs import spread_of
from plot import Axis, line_chart
from report import BUSY, rate_of, write_svg

RATES = ["| case | frames | routes | offered | Mpps | missed | fill | p50 / p99 / p99.9 us | model "
         "Mpps | of the model | model that restores | unaccounted |",
         "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
ACTORS = ["| case | actor | busy | ns a packet | of the model | more | instructions a packet | of "
          "the model |", "|---|---|--:|--:|--:|--:|--:|--:|"]


def enough_cores(case):
    return len(os.sched_getaffinity(0)) >= case.actors


def rate_row(case, found):
    runs, models = found["runs"], found["models"]
    median = {key: spread_of(runs, key)[0] for key in runs[0]}
    times = " / ".join(f"{median[key]:.1f}" for key in ("p50_us", "p99_us", "p999_us"))
    offered, missed = "all", "-"
    if case.rate_mpps:
        offered, missed = f"{case.rate_mpps:g}", f"{median['missed_mpps']:.2f}"
    ratio = f"{median['mpps'] / spread_of(models, 'mpps')[0]:.2f}"
    restoring = rate_of(found["restoring"]) if found["restoring"] else "-"
    cells = [case.name, case.frame, f"{case.prefixes or 257:,}", offered, rate_of(runs), missed,
             f"{median['fill']:.1f}", times if enough_cores(case) else "-", rate_of(models),
             ratio if enough_cores(case) else "-", restoring,
             str(max(run["unaccounted"] for run in runs))]
    return "| " + " | ".join(cells) + " |"


def instruction_cell(actor):
    count = actor["instructions_per_packet"]
    if count is None:
        return "no counters"
    return f"{'' if actor['busy_share'] >= BUSY else '≤ '}{count:.0f}"


def actor_rows(case, found):
    for kind, actor in found["actors"].items():
        model = found["model_actors"][kind]
        ours, plain = actor["busy_ns_per_packet"], model["busy_ns_per_packet"]
        cells = [case.name, kind, f"{actor['busy_share']:.0%}", f"{ours:.1f}", f"{plain:.1f}",
                 f"{ours - plain:+.1f}", instruction_cell(actor), instruction_cell(model)]
        yield "| " + " | ".join(cells) + " |"


def draw_frames(path, results):
    """Rate over the size of frames, ours and the model's; True if there are several sizes."""
    curves = {}
    for case, found in results:
        sizes = FRAMES[case.frame]
        if "error" in found or case.rate_mpps or case.prefixes or case.slots == 8:
            continue
        kind = case.name.split("-full")[0].replace(f"-{case.frame}", "")
        for name, runs in ((kind, found["runs"]), (f"{kind}, model", found["models"])):
            curves.setdefault(name, []).append((sum(sizes) / len(sizes) + 4,
                                                spread_of(runs, "mpps")[0]))
    curves = {name: sorted(points) for name, points in curves.items() if len(points) > 1}
    if curves:
        chart = line_chart("Rate over frames", Axis("bytes of a frame, on average", log=True),
                           Axis("Mpps"), curves)
        pathlib.Path(path).write_text(chart)
    return bool(curves)


def notes(options):
    return [f"Medians of {options.starts} starts of {options.seconds:g} s (the least to the most); "
            f"the model (`tests/bench/path_model.cpp`) ran before each of them and behind the "
            f"last, {options.model_seconds:g} s each, on the cores of the case, with as many "
            "lanes, slots, buffers and packets a batch. It receives, hashes, looks up one table, "
            "puts in order, writes two addresses and gives back; it checks nothing, counts "
            "nothing by reason, and could not be recovered. Its packets lie in their buffers for "
            "ever; in ours `replay` writes each packet's first 128 bytes anew, which costs the "
            "ingress what a network card would do: `model that restores` does so for 64 bytes.",
            "", "`missed`: offered load that was due and not taken, Mpps. `fill`: packets a batch. "
            "Latency: from the time at which a packet was due until its release, by packet, where "
            "each has the latency of its batch's first one, and a batch is released at the end of "
            "the egress's turn; it begins with waiting for the batch to fill, and at full load it "
            "is what waits in the slots. `64`, `128`, `512`: bytes with FCS; `1514` without; "
            "`imix`: 7 to 4 to 1 of 64, 594, 1518. `none`: a path with `order: none`; beside the "
            "case `any` of as many workers it says what order costs.", "",
            "`ns a packet`: the actor's busy time by its packets, by the time stamp counter, with "
            "what it waits for memory. Instructions: of the actor's process in user space, with "
            "its control thread; an actor that is not busy all the time counts instructions of "
            "looking for work too (`≤`)."]


def write_page(folder, results, machine, options):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    measured = [(case, found) for case, found in results if "error" not in found]
    timed = [(case, found) for case, found in measured if enough_cores(case)]
    page = ["# Figures of the path", "", machine, "", f"    {shlex.join(sys.argv)}", "", *RATES]
    page += [rate_row(case, found) for case, found in measured]
    page += [f"\n{case.name} was not measured: `{found['error'].splitlines()[0]}`"
             for case, found in results if "error" in found]
    if len(timed) < len(measured):
        page += ["", "This host has fewer cores than some cases have actors: of these there are no "
                 "times and no ratios, and their rates say how they share cores, not how fast the "
                 "path is."]
    if any(not model.get("huge_pages", True) for _, found in measured for model in found["models"]):
        page += ["", "The model found no huge pages for its table and buffers, which ours have."]
    if timed:
        page += ["", "## Where the nanoseconds and instructions go", "", *ACTORS]
        page += [row for case, found in timed for row in actor_rows(case, found)]
    page += ["", *notes(options), ""]
    if draw_frames(folder / "frames.svg", timed):
        page += ["![rate over frames](frames.svg)"]
    if write_svg(folder / "latency.svg", timed):
        page += ["![latency over load](latency.svg)"]
    (folder / "README.md").write_text("\n".join(page) + "\n")
