#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Swaps the table of a function on a GPU and kills its workers, both under a steady load, and
counts what comes out: packets are dropped by one literal, which every table has, so how many have
to be is known from the packets. A second port sends numbered packets through the same function,
for their order. Prints the machine, the rate, what was done, what computed, and the audit; ends
with 1 if a verdict was wrong, a packet out of order, or the audit not exact (received = transmitted
+ dropped by reason, nothing in flight, no slot or buffer in use).
"""

import argparse
import pathlib
import random
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
from audited import (audit_line, backend_line, backends_of, require_exact,  # noqa: E402
                     require_order)
from frames import flow_frames, write_capture  # noqa: E402
from report import load_options  # noqa: E402
from topology import Topology, millrace  # noqa: E402

FRAMES = 4096
LITERAL = b"in the hay"
FEW = f'drop "{LITERAL.decode()}"\n'
MANY = FEW + "".join(f'alert "needle number {i:05}"\n' for i in range(4000))
NUMBERED_SHARE = 0.1  # of the load, beside it
KILL_SECONDS = 4  # more often, and its supervisor gives the worker up


def capture(path, chance):
    """Frames of which some end with the literal; how many."""
    frames = [frame[:-len(LITERAL)] + LITERAL
              if len(frame) > 100 and chance.random() < 0.5 else frame
              for frame in flow_frames(7, FRAMES, 200)]
    write_capture(path, frames)
    return sum(frame.endswith(LITERAL) for frame in frames)


def topology(folder, count, numbered, options):
    return f"""
ports:
  in:  {{ device: replay, file: {folder}/in.pcap, count: {count}, rate_mpps: {options.rate_mpps} }}
  numbered: {{ device: generate, numbered: true, count: {numbered},
              rate_mpps: {options.rate_mpps * NUMBERED_SHARE} }}
  out: {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: flow }}
  last:  {{ kind: classifier, count: 1, dispatch: flow }}
  gpu:   {{ kind: gpu, device: {options.device} }}
functions:
  scan:    {{ type: match, rules: {folder}/scan.rules, on: gpu }}
  witness: {{ type: record, on: last }}
paths:
  main:  {{ from: in, to: out, run: [scan], slots: 512 }}
  order: {{ from: numbered, to: out, run: [scan, witness] }}
"""


def disturb(running, rules, seconds, chance):
    """Swaps and kills; how many of each."""
    swaps = kills = 0
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        rules.write_text(MANY if swaps % 2 == 0 else FEW)
        millrace("reload", running.name, "--accept-shrunk")
        swaps += 1
        if time.monotonic() > begin + (kills + 1) * KILL_SECONDS:
            running.kill(chance.choice([name for name in running.lives()
                                        if name.startswith("gpu.")]))
            kills += 1
        time.sleep(0.3)
    return swaps, kills


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="of load")
    options = load_options(parser)
    chance = random.Random(options.seed)
    laps = max(int(options.rate_mpps * 1e6 * options.seconds / FRAMES), 1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rules = folder / "scan.rules"
        rules.write_text(FEW)
        expected = laps * capture(folder / "in.pcap", chance)
        numbered = max(int(laps * FRAMES * NUMBERED_SHARE), 1)
        total = laps * FRAMES + numbered
        with Topology(folder, topology(folder, laps * FRAMES, numbered, options)) as running:
            swaps, kills = disturb(running, rules, options.seconds * 0.85, chance)
            running.wait_received(total, 60 + options.seconds * 10)
            audit = running.settle(total)
            require_exact(audit)
            in_order = require_order(running, "witness")
            backends = backends_of(running)
    print(f"{swaps} tables, {kills} kills; {backend_line(backends)}")
    print(f"{audit_line(audit)}; to be dropped by the rule {expected}; {in_order} seen in order")
    if audit["dropped"] != {"rule": expected}:
        sys.exit(f"WRONG VERDICTS: {audit['dropped']}")


if __name__ == "__main__":
    main()
