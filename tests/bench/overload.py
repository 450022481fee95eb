#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what becomes of load beyond capacity: packets of 1,000 bytes through functions that read
all of them (match, several times over, so that they and not the port are what limits), beside a
path of the same port that runs none; offered from 0.2 to 3 times what they can take, with
`overload: wait`, `pass` and `drop`. Nothing here passes or fails on speed.

delivered: packets a second that left, of both paths. looked: those of the functions, which took
`each` ns for one just then, so `busy` of a core went into them. held: looked, as a part of what was
looked at just before and just after without a rate, which is the capacity of that moment: a host
that is now faster and now slower does not show in it. missed: what the port's own queue of 4,096
packets had no room for. Latency is from when a packet was due.
"""

import argparse
import pathlib
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
from latency import buckets, quantile  # noqa: E402
from plot import Axis, line_chart  # noqa: E402
from report import print_machine  # noqa: E402
from topology import Topology  # noqa: E402

FATES = ("wait", "pass", "drop")
FACTORS = (0.2, 0.5, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
WARM_SECONDS = 0.7
LOOKS = [f"look{number}" for number in range(6)]


def topology(folder, fate, rate_mpps):
    (folder / "all.rules").write_text("".join(
        f'alert "rule {i}" name "needle number {i} in the hay"\n' for i in range(200)))
    functions = "\n".join(
        f"  {look}: {{ type: match, rules: all.rules, on: front, overload: {fate} }}"
        for look in LOOKS)
    rate = f", rate_mpps: {rate_mpps:.6f}" if rate_mpps else ""
    return f"""
ports:
  in:    {{ device: generate, size: 1000, flows: 256{rate},
           destinations: [10.0.0.0/8, 172.16.0.0/12] }}
  slow:  {{ device: "null" }}
  quick: {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: 1 }}
functions:
{functions}
paths:
  quick: {{ from: in, to: quick, match: "dst net 172.16.0.0/12", run: [] }}
  slow:  {{ from: in, to: slow, run: [{", ".join(LOOKS)}] }}
"""


def look_at(running):
    scrape, now = running.metrics(), time.monotonic()
    return {
        "now": now,
        "received": scrape.total("millrace_port_received_packets_total"),
        "sent": scrape.total("millrace_port_transmitted_packets_total"),
        "quick": scrape.total("millrace_port_transmitted_packets_total", port="quick"),
        "looked": scrape.total("millrace_function_packets_total", function=LOOKS[0]),
        "missed": scrape.total("millrace_port_missed_packets_total"),
        "timed_seconds": sum(scrape.values("millrace_function_timed_seconds_total")),
        "timed": scrape.total("millrace_function_timed_packets_total", function=LOOKS[0]),
        "drops": scrape.by("reason", "millrace_drops_total"),
        "buckets": buckets(scrape),
    }


def measure(fate, rate_mpps, seconds):
    """Figures of one load: rates in Mpps, latency in microseconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        running = Topology(folder, topology(folder, fate, rate_mpps))
        running.endless = True
        with running:
            time.sleep(WARM_SECONDS)
            before = look_at(running)
            time.sleep(seconds)
            after = look_at(running)
            audit = running.audit()
    assert audit["unaccounted"] == 0, audit
    spent = (after["now"] - before["now"]) * 1e6
    figures = {key: (after[key] - before[key]) / spent
               for key in ("received", "sent", "quick", "looked", "missed")}
    timed = max(after["timed"] - before["timed"], 1)
    figures["each"] = (after["timed_seconds"] - before["timed_seconds"]) * 1e9 / timed
    figures["busy"] = figures["looked"] * figures["each"] / 1e3
    for key, share in (("p50", 0.5), ("p99", 0.99)):
        figures[key] = quantile(share, after["buckets"], before["buckets"]) * 1e6
    figures["drops"] = {reason: count - before["drops"].get(reason, 0)
                        for reason, count in after["drops"].items()
                        if count > before["drops"].get(reason, 0)}
    return figures


def print_row(fate, factor, offered, figures):
    drops = ", ".join(f"{reason} {int(count)}" for reason, count in figures["drops"].items())
    print(f"{fate:5} {factor:6.2f} {offered:9.4f} {figures['sent']:10.4f} {figures['looked']:8.4f} "
          f"{figures['held']:5.2f} {figures['each']:6.0f} {figures['busy']:5.2f} "
          f"{figures['quick']:8.4f} "
          f"{figures['missed']:8.4f} {figures['p50']:9.0f} {figures['p99']:9.0f}  {drops}",
          flush=True)


def write_plots(folder, rows):
    folder.mkdir(parents=True, exist_ok=True)
    charts = {
        "delivered": ("Delivered over offered load", Axis("delivered, Mpps"),
                      {"all": "sent", "looked at": "looked"}),
        "latency": ("Latency over offered load", Axis("p50 and p99, us", log=True),
                    {"p50": "p50", "p99": "p99"}),
    }
    for name, (title, axis, shown) in charts.items():
        curves = {f"{fate}: {label}": [(offered, max(figures[key], 1e-6))
                                       for each, offered, figures in rows if each == fate]
                  for fate in FATES for label, key in shown.items()}
        path = folder / f"overload-{name}.svg"
        path.write_text(line_chart(title, Axis("offered, Mpps"), axis, curves))
        print(f"plot: {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement")
    parser.add_argument("--plots", type=pathlib.Path, help="folder for SVG files")
    options = parser.parse_args()
    print_machine()
    base = measure("wait", 0, options.seconds)
    capacity, looked = base["sent"], base["looked"]
    print(f"baseline: without a rate, `wait`: {base['sent']:.4f} Mpps, {base['looked']:.4f} of "
          f"them looked at; capacity is taken for {capacity:.4f} Mpps offered\n")
    print(f"{'fate':5} {'factor':>6} {'offered':>9} {'delivered':>10} {'looked':>8} "
          f"{'held':>5} {'each':>6} {'busy':>5} {'quick':>8} "
          f"{'missed':>8} {'p50 us':>9} {'p99 us':>9}  dropped")
    rows = []
    for fate in FATES:
        for factor in FACTORS:
            figures = measure(fate, capacity * factor, options.seconds)
            before, looked = looked, measure("wait", 0, options.seconds)["looked"]
            figures["held"] = figures["looked"] * 2 / (before + looked)
            rows.append((fate, capacity * factor, figures))
            print_row(fate, factor, capacity * factor, figures)
    if options.plots:
        write_plots(options.plots, rows)


if __name__ == "__main__":
    main()
