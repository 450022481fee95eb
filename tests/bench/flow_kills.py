#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Kills and scales the workers of `flow` while packets of a million connections pass, and says what
that cost the survivors. Each blow is a SIGKILL or a SIGSTOP of a random worker; every tenth, the
group is scaled by one as well. It ends with 1 when a connection is missing or there twice at the
end (begun - ended is not their number), when a lane's state was given up, when packets came out of
order, or when the audit is not exact. Nothing here passes or fails on speed.
"""

import argparse
import pathlib
import random
import signal
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
from audited import Audited, audit_line, require_order  # noqa: E402
from kills import living, print_row, strike, window  # noqa: E402
from processes import PATIENCE, wait_until  # noqa: E402
from report import load_options  # noqa: E402

BEGUN, ENDED = "0", "1"  # services/functions/flow/README.md


def topology(options):
    return f"""
crash_limit: 0
ports:
  in:
    device: generate
    numbered: true
    flows: {options.flows}
    rate_mpps: {options.rate_mpps}
  out: {{ device: "null" }}
workers:
  front:
    kind: classifier
    count: {options.workers}
    max: {options.workers + 1}
    dispatch: flow
functions:
  flow:    {{ type: flow, on: front, max: {2 * options.flows}, udp: 1000000 }}
  witness: {{ type: record, on: front }}
paths:
  main: {{ from: in, to: out, run: [flow, witness], lanes: {options.lanes} }}
"""


def flows_in(metrics):
    def total(number):
        return metrics.total("millrace_function_number_hits_total", function="flow", number=number)
    return total(BEGUN) - total(ENDED)


def blows(running, options, chance):
    windows = []
    workers = options.workers
    for number in range(options.blows):
        how = chance.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP))
        windows.append(strike(running, "front", how, options, chance))
        if number % 10 == 9:
            workers = options.workers + (1 if workers == options.workers else 0)
            running.scale("front", workers)
            wait_until(lambda: len(living(running, "front")) == workers, PATIENCE, "it scales")
    return windows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blows", type=int, default=20)
    parser.add_argument("--flows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--lanes", type=int, default=16)
    parser.add_argument("--window", type=float, default=0.5, help="seconds")
    options = load_options(parser)
    print(f"\n{'latency in ms':32} {'blows':>5} {'packets':>11} {'p99':>9} {'longest':>10} "
          f"{'maximum':>10}")
    with tempfile.TemporaryDirectory() as name:
        running = Audited(pathlib.Path(name), topology(options))
        with running:
            wait_until(lambda: flows_in(running.metrics()) >= options.flows, 10 * PATIENCE,
                       "all connections")
            time.sleep(2)
            print_row("flow: baseline", [window(running, options.window) for _ in range(20)])
            print_row("flow, kills and scalings",
                      blows(running, options, random.Random(options.seed)))
            metrics = running.metrics()
            in_order = require_order(running, "witness")
    discarded = metrics.total("millrace_recovery_lane_states_discarded_total")
    print(f"    {audit_line(running.final)}; {in_order} seen in order; "
          f"{flows_in(metrics)} connections of {options.flows}, {discarded} lanes given up")
    return 0 if flows_in(metrics) == options.flows and discarded == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
