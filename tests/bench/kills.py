#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what the death of a worker costs the survivors: workers are killed one after the other
under a steady load, by SIGKILL and by SIGSTOP (a hang, which its heartbeat tells), and the latency
of all packets from just before each blow until `--window` seconds later is looked at. Nothing here
passes or fails on speed; it ends with 1 when the audit of each kind's end is not exact (received =
transmitted + dropped by reason, nothing in flight, no slot or buffer in use), or when packets,
which are numbered, come out of order.

longest: of the packets of a window, so a bound of how long any lane stood still; quantiles of that
over all blows. p99: of all packets of a window, the worst window. The first line of each kind is
the baseline: windows of the same run without a blow. Latency is from arrival to release.
"""

import argparse
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
from audited import Audited, audit_line, backend_line, backends_of, require_order  # noqa: E402
from latency import buckets, quantile  # noqa: E402
from processes import wait_until  # noqa: E402
from report import load_options  # noqa: E402

WARM_SECONDS = 2
RULES = 4000


def topology(folder, group, rate_mpps, device):
    rules = folder / "scan.rules"
    rules.write_text("".join(f'alert "needle {i:05} in the hay"\n' for i in range(RULES)))
    gpu = f"  gpu:   {{ kind: gpu, device: {device} }}\n" if group == "gpu" else ""
    return f"""
ports:
  in:  {{ device: generate, numbered: true, flows: 4096, rate_mpps: {rate_mpps} }}
  out: {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: 4, max: 4, dispatch: flow }}
  last:  {{ kind: classifier, count: 1, dispatch: flow }}
{gpu}functions:
  scan:    {{ type: match, rules: scan.rules, on: {group} }}
  witness: {{ type: record, on: last }}
paths:
  main: {{ from: in, to: out, run: [scan, witness] }}
"""


def window(running, seconds, blow=None):
    """(packets, p99, longest) of a window, latency in seconds."""
    before = buckets(running.metrics())
    if blow:
        blow()
    time.sleep(seconds)
    after = buckets(running.metrics())
    packets = max(after.values()) - max(before.values())
    return packets, *(quantile(share, after, before) for share in (0.99, 1.0))


def living(running, group):
    """Process ids of the group's workers; a GPU worker's twin may play on in its place."""
    return {life[0] for name, life in running.lives().items() if name.startswith(f"{group}.")}


def strike(running, group, number, options, chance):
    before = living(running, group)
    victim = chance.choice(sorted(before))
    seen = window(running, options.window, lambda: os.kill(victim, number))
    wait_until(lambda: len(living(running, group) - {victim}) == len(before), 60, "one is back")
    time.sleep(1.2)  # a life shorter than a second is a crash loop, whose restarts wait
    return seen


def print_row(what, windows):
    longest = sorted(one[2] * 1e3 for one in windows)
    packets = sum(one[0] for one in windows)
    worst = max(one[1] for one in windows) * 1e3
    print(f"{what:32} {len(windows):5} {packets:11.0f} {worst:9.3f} "
          f"{longest[len(longest) // 2]:10.3f} {longest[-1]:10.3f}", flush=True)


def measure(group, number, options, chance):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        running = Audited(folder, topology(folder, group, options.rate_mpps, options.device))
        with running:
            time.sleep(WARM_SECONDS)
            what = f"{group}, {signal.Signals(number).name}"
            print_row(f"{what}: baseline", [window(running, options.window)
                                            for _ in range(options.blows)])
            print_row(what, [strike(running, group, number, options, chance)
                             for _ in range(options.blows)])
            backend = f"; {backend_line(backends_of(running))}" if group == "gpu" else ""
            in_order = require_order(running, "witness")
    print(f"    {audit_line(running.final)}; {in_order} seen in order{backend}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blows", type=int, default=20, help="of each kind")
    parser.add_argument("--window", type=float, default=1.5, help="seconds")
    options = load_options(parser)
    print()
    print(f"{'latency in ms':32} {'blows':>5} {'packets':>11} {'p99':>9} {'longest':>10} "
          f"{'maximum':>10}")
    chance = random.Random(options.seed)
    for group in ("front", "gpu"):
        for number in (signal.SIGKILL, signal.SIGSTOP):
            measure(group, number, options, chance)


if __name__ == "__main__":
    main()
