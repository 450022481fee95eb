#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what being watched costs: one topology under full load, a second of it with a scrape
each second, a second without, in turns. Prints the packets of both, the share of a core that the
telemetry process took, and how long a scrape lasted. Nothing here passes or fails on speed.

    tests/bench/telemetry.py [--pairs N]
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
from processes import cpu_seconds, telemetry_pid  # noqa: E402
from topology import Topology  # noqa: E402

LOAD = """
ports:
  in:  { device: generate, flows: 64 }
  out: { device: "null" }
workers:
  front: { kind: classifier, count: 1, max: 2 }
functions:
  look: { type: match, rules: all.rules, on: front }
paths:
  main: { from: in, to: out, run: [look] }
"""


def piece(topology, scrapes):
    """(packets a second, seconds of each scrape) of one second."""
    began, before = time.monotonic(), topology.audit()["received"]
    lasted = []
    if scrapes:
        at = time.monotonic()
        topology.metrics()
        lasted.append(time.monotonic() - at)
    time.sleep(max(0.0, began + 1 - time.monotonic()))
    received = topology.audit()["received"] - before
    return received / (time.monotonic() - began), lasted


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--pairs", type=int, default=15)
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "all.rules").write_text('alert "x" name "any x"\n', encoding="ascii")
        with Topology(folder, LOAD) as topology:
            topology.endless = True
            pid = telemetry_pid(topology.run_dir)
            rates, lasted, cpu = {True: [], False: []}, [], {True: 0.0, False: 0.0}
            for number in range(2 * pairs):
                scrapes = number % 2 == 0
                at = cpu_seconds(pid)
                rate, times = piece(topology, scrapes)
                cpu[scrapes] += cpu_seconds(pid) - at
                rates[scrapes].append(rate)
                lasted += times
    watched, alone = statistics.median(rates[True]), statistics.median(rates[False])
    print(f"scraped each second  {watched / 1e6:.3f} Mpps")
    print(f"not scraped          {alone / 1e6:.3f} Mpps ({100 * (watched / alone - 1):+.2f} % when "
          "scraped)")
    print(f"telemetry            {100 * cpu[True] / pairs:.2f} % of a core when scraped, "
          f"{100 * cpu[False] / pairs:.2f} % when not")
    print(f"a scrape             {1e3 * statistics.median(lasted):.1f} ms, "
          f"{1e3 * max(lasted):.1f} ms at most")


if __name__ == "__main__":
    main()
