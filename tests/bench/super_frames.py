#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures one TCP stream (iperf3) through a router between two hosts on veth: the kernel's, and
Millrace on `afpacket` with and without `super_frames`; then through Millrace on `tap`, where the
hosts have its interfaces instead of cables. Once the hosts cut what they send by themselves, once
they leave it to the cable (TSO, GSO, GRO as `--offloads` says). Needs root. Nothing here passes or
fails on speed.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
import interfaces  # noqa: E402
from wire import MERGING, Wire  # noqa: E402

ADDRESSES = ("10.8.1.10/24", "10.8.2.10/24")


def switch(wire, names):
    """The hosts have these offloads, and no other of those that merge packets."""
    words = [word for name in MERGING for word in (name, "on" if name in names else "off")]
    for host in (wire.a, wire.b):
        host.run("ethtool", "-K", "eth", *words)


def measure(name, wire, offloads, how):
    wire.a.wait_for(wire.b.ip)
    switch(wire, offloads)
    runs = sorted(wire.iperf(seconds=how.seconds)["sum_received"]["bits_per_second"] / 1e9
                  for _ in range(how.runs))
    what = ", ".join(offloads) or "none"
    print(f"{name:24} {what:14} {statistics.median(runs):8.2f} {runs[0]:8.2f} {runs[-1]:8.2f}",
          flush=True)


def through_cables(offloads, how):
    with tempfile.TemporaryDirectory() as name, Wire(addresses=ADDRESSES) as wire:
        folder = pathlib.Path(name)
        interfaces.meet(wire)
        interfaces.by_the_kernel(wire)
        for some in ([], offloads):
            measure("kernel", wire, some, how)
        interfaces.no_more_by_the_kernel(wire)
        for setting in ("false", "true"):
            text = interfaces.router(folder, wire, f"afpacket, super_frames: {setting}")
            switch(wire, [])
            with wire.between(folder, text) as running:
                running.endless = True
                for some in ([], offloads) if setting == "true" else ([],):
                    measure(f"afpacket, {setting}", wire, some, how)


def through_taps(offloads, how):
    for setting in ("false", "true"):
        with tempfile.TemporaryDirectory() as name, \
                Wire(addresses=ADDRESSES, device="tap") as wire:
            folder = pathlib.Path(name)
            text = interfaces.router(folder, wire, f"tap, super_frames: {setting}")
            with wire.between(folder, text) as running:
                running.endless = True
                interfaces.meet(wire)
                for some in ([], offloads) if setting == "true" else ([],):
                    measure(f"tap, {setting}", wire, some, how)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3, help="of each run")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--offloads", default="tso,gso", help="what the hosts leave to the cable")
    how = parser.parse_args()
    offloads = how.offloads.split(",")
    print(f"{os.cpu_count()} cores; hosts and router share them")
    print(f"{'router, super_frames':24} {'offloads':14} {'Gbit/s':>8} {'least':>8} {'most':>8}")
    through_cables(offloads, how)
    through_taps(offloads, how)


if __name__ == "__main__":
    main()
