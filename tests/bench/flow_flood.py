#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what a flood of TCP SYNs costs connections that are there: iperf3 between two hosts
through [flow, firewall, route], while a port of device `generate` gives as many SYNs as are taken,
of one source to one address, and of many sources to many. Each flood stands between two
measurements of the same topology whose flood has ended after one packet; `ratio` is of the median
of these. Needs root. Nothing here passes or fails on speed.

The hosts send `--offered` Mbit/s: less than the path can, so that the ratio says what the flood
takes from them. With `--offered 0` TCP takes all that is there; where hosts, router and flood share
cores, the ratio says how the kernel divides these.

The firewall lets the SYNs through, so that each begins a connection that gets no answer, and the
table is full (--refused: it drops them, and they leave no trace). `fill`: packets of a batch that
came from the hosts. `flood`: its packets, Mpps. `flows`: those there at the end, of which only the
hosts' are answered. `pushed out`: flows that went for newer ones. `memory`: MB that the processes
have for themselves, before the flood and at its end; the table lies in the segment, which does not
grow. Each topology is drained and audited at its end.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
from audited import audit_line  # noqa: E402
from interfaces import GATEWAYS, PORTS, meet  # noqa: E402
from processes import PATIENCE, status_megabytes, wait_until  # noqa: E402
from report import print_machine  # noqa: E402
from wire import Wire  # noqa: E402

FLOODS = {
    "none": "sources: 1, destinations: [203.0.113.1], count: 1",
    "one source": "sources: 1, destinations: [203.0.113.1]",
    "many sources": "destinations: [203.0.113.0/24]",
}
KEPT = "pass ip any -> any state established,related\npass ip any -> any in lan\n"
ENDED_FOR_ROOM = "5"  # services/functions/flow/README.md


def topology(folder, wire, flood, options):
    (folder / "way.routes").write_text(
        f"10.8.1.0/24 lan {wire.a.mac}\n10.8.2.0/24 wan {wire.b.mac}\n"
        "203.0.113.0/24 sink 02:00:00:00:00:5f\n")
    (folder / "way.rules").write_text(
        KEPT + f"{'drop' if options.refused else 'pass'} ip any -> any in flood\n")
    rate = f", rate_mpps: {options.rate_mpps}" if options.rate_mpps else ""
    return f"""
ports:
  lan:   {{ device: {options.device}, interface: {wire.port_a}, mac: "{PORTS[0]}",
           addresses: [{GATEWAYS[0]}/24] }}
  wan:   {{ device: {options.device}, interface: {wire.port_b}, mac: "{PORTS[1]}",
           addresses: [{GATEWAYS[1]}/24] }}
  flood: {{ device: generate, syn: true, {FLOODS[flood]}{rate} }}
  sink:  {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: {options.workers}, dispatch: flow }}
functions:
  flow:     {{ type: flow, max: {options.flows}, on: front }}
  firewall: {{ type: firewall, rules: way.rules, non_ip: pass, on: front }}
  route:    {{ type: route, table: way.routes, on: front }}
paths:
  main: {{ from: [lan, wan, flood], to: wan, run: [flow, firewall, route] }}
"""


def own_megabytes(running):
    """Of all its actors, without what they share."""
    return sum(status_megabytes(pid, "RssAnon") for pid, _, _ in running.lives().values())


def measure(wire, folder, flood, options):
    """Goodput in Gbit/s, and what the flood was."""
    offered = f"{options.offered / options.streams}M"  # of each stream
    with wire.between(folder, topology(folder, wire, flood, options)) as running:
        if wire.taps:
            meet(wire)
        wire.a.wait_for(wire.b.ip)
        wait_until(lambda: look_at(wire, running)[0] > 0, PATIENCE, "a packet of the flood")
        before, began = own_megabytes(running), look_at(wire, running)
        figures = wire.iperf("-P", options.streams, "-b", offered, seconds=options.seconds)
        passed = [now - then for now, then in zip(look_at(wire, running), began)]
        after = own_megabytes(running)
        audit = running.drain()
        end = wire.metrics_of(running)
    return {
        "gbit": figures["sum_received"]["bits_per_second"] / 1e9,
        "retransmits": figures["sum_sent"]["retransmits"],
        "fill": passed[1] / passed[2],
        "flood": passed[0] / figures["sum_received"]["seconds"] / 1e6,
        "flows": end.total("millrace_flows"),
        "pushed_out": end.total("millrace_function_number_hits_total", function="flow",
                                number=ENDED_FOR_ROOM),
        "memory": (before, after),
        "audit": audit,
    }


def look_at(wire, running):
    """Packets of the flood; packets and batches that came in by the hosts' ports."""
    now = wire.metrics_of(running)
    hosts = [f"ingress.{port}.0" for port in ("lan", "wan")]
    return [now.total("millrace_port_received_packets_total", port="flood"),
            sum(now.total("millrace_packets_total", actor=name, direction="in")
                for name in hosts),
            sum(now.total("millrace_batches_total", actor=name) for name in hosts)]


def print_header():
    print(f"{'flood':14} {'Gbit/s':>8} {'ratio':>6} {'retrans':>8} {'fill':>6} {'flood':>8} "
          f"{'flows':>9} {'pushed out':>10} {'memory, MB':>15}")


def print_result(name, result, ratio=""):
    before, after = result["memory"]
    print(f"{name:14} {result['gbit']:8.3f} {ratio:>6} {result['retransmits']:8} "
          f"{result['fill']:6.1f} {result['flood']:8.3f} {result['flows']:9} "
          f"{result['pushed_out']:10} {before:7.1f} -> {after:.1f}", flush=True)


def compare(wire, folder, flood, options):
    """A flood between measurements without one; returns the last audit."""
    quiet = [measure(wire, folder, "none", options)]
    flooded = []
    for _ in range(options.times):
        flooded.append(measure(wire, folder, flood, options))
        quiet.append(measure(wire, folder, "none", options))
    baseline = statistics.median(one["gbit"] for one in quiet)
    for one in quiet:
        print_result("  none", one)
    for one in flooded:
        print_result(f"  {flood}", one, f"{one['gbit'] / baseline:.2f}")
    median = statistics.median(one["gbit"] for one in flooded)
    print(f"{flood}: {median:.3f} Gbit/s of {baseline:.3f}, ratio {median / baseline:.3f}")
    print(f"    {audit_line(flooded[-1]['audit'])}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement")
    parser.add_argument("--times", type=int, default=3, help="measurements with each flood")
    parser.add_argument("--streams", type=int, default=4, help="of iperf3")
    parser.add_argument("--offered", type=float, default=400,
                        help="Mbit/s that the hosts send at most; 0: all they can")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--flows", type=int, default=65536, help="that the table has room for")
    parser.add_argument("--device", default="tap", choices=("tap", "afpacket", "afxdp"))
    parser.add_argument("--rate-mpps", type=float, default=0, help="of the flood; 0: all it can")
    parser.add_argument("--refused", action="store_true", help="the firewall drops the flood")
    options = parser.parse_args()
    print_machine()
    print_header()
    device = "tap" if options.device == "tap" else None
    with tempfile.TemporaryDirectory() as name, \
            Wire(addresses=("10.8.1.10/24", "10.8.2.10/24"), device=device) as wire:
        if not wire.taps:
            meet(wire)
        for flood in ("one source", "many sources"):
            compare(wire, pathlib.Path(name), flood, options)


if __name__ == "__main__":
    main()
