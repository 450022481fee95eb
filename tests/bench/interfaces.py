#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures network interfaces as ports: a router between two hosts on veth, each in a network
namespace: the kernel's own forwarding, then Millrace on `afpacket` and on `afxdp`, one after the
other over the same cables, then on `tap`, where the hosts have Millrace's interfaces instead of
cables. Needs root. Nothing here passes or fails on speed.

Mpps: packets of 60 bytes that arrive, while a topology sends as many as it can from the same cores.
Latency: round trips of ping, 500 a second. TCP: one iperf3 stream of full-sized segments.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
from topology import Topology  # noqa: E402
from wire import Wire, run  # noqa: E402

PORTS = ("02:00:00:00:00:0a", "02:00:00:00:00:0b")
GATEWAYS = ("10.8.1.1", "10.8.2.1")


def router(folder, wire, device):
    (folder / "routes").write_text(f"10.8.1.0/24 a {wire.a.mac}\n10.8.2.0/24 b {wire.b.mac}\n")
    return f"""
ports:
  a: {{ device: {device}, interface: {wire.port_a}, mac: "{PORTS[0]}",
       addresses: [{GATEWAYS[0]}/24] }}
  b: {{ device: {device}, interface: {wire.port_b}, mac: "{PORTS[1]}",
       addresses: [{GATEWAYS[1]}/24] }}
functions:
  route: {{ type: route, table: routes }}
paths:
  main: {{ from: [a, b], run: [route] }}
"""


def load(wire):
    """A topology at host a that sends what it can."""
    return f"""
ports:
  from: {{ device: generate, size: 60, flows: 1000, mac: "{PORTS[0]}",
          destinations: [{wire.b.ip}/32] }}
  to:   {{ device: afpacket, interface: eth, host: true }}
paths:
  main: {{ from: from, to: to }}
"""


def arrived(host):
    text = run("ip", "-n", host.namespace, "-s", "link", "show", "eth").stdout
    return int(re.search(r"RX:.*\n\s*\d+\s+(\d+)", text).group(1))


def mpps(folder, wire, seconds):
    sending = Topology(folder, load(wire), prefix=("ip", "netns", "exec", wire.a.namespace))
    sending.endless = True
    with sending:
        time.sleep(0.5)
        before, began = arrived(wire.b), time.monotonic()
        time.sleep(seconds)
        return (arrived(wire.b) - before) / (time.monotonic() - began) / 1e6


def round_trips(wire, count=1000):
    """(median, 99th of 100) in microseconds."""
    text = wire.a.run("ping", "-c", count, "-i", "0.002", wire.b.ip).stdout
    times = sorted(float(value) for value in re.findall(r"time=([\d.]+) ms", text))
    return times[len(times) // 2] * 1000, times[len(times) * 99 // 100] * 1000


def measure(name, folder, wire, seconds):
    wire.a.wait_for(wire.b.ip)
    median, late = round_trips(wire)
    gbit = wire.iperf(seconds=seconds)["sum_received"]["bits_per_second"] / 1e9
    print(f"{name:18} {mpps(folder, wire, seconds):8.3f} {median:10.0f} {late:10.0f} {gbit:10.2f}",
          flush=True)


def meet(wire):
    """The hosts know their gateways, which answer no ARP."""
    for host, gateway, mac, prefix in ((wire.a, GATEWAYS[0], PORTS[0], "10.8.2.0/24"),
                                       (wire.b, GATEWAYS[1], PORTS[1], "10.8.1.0/24")):
        host.neighbour(gateway, mac)
        host.route(prefix, gateway)


def measure_port(device, folder, wire, seconds):
    with wire.between(folder, router(folder, wire, device)) as running:
        running.endless = True
        if wire.taps:
            meet(wire)
        measure(device, folder, wire, seconds)


def by_the_kernel(wire):
    """The middle becomes a router of the kernel's."""
    for port, mac, gateway in zip((wire.port_a, wire.port_b), PORTS, GATEWAYS):
        wire.in_middle("ip", "link", "set", port, "address", mac)
        wire.in_middle("ip", "address", "add", f"{gateway}/24", "dev", port)
    wire.in_middle("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0",
                   "net.ipv4.conf.default.rp_filter=0", f"net.ipv4.conf.{wire.port_a}.rp_filter=0")
    wire.in_middle("ip", "neighbour", "replace", wire.b.ip, "lladdr", wire.b.mac, "dev",
                   wire.port_b)


def no_more_by_the_kernel(wire):
    wire.in_middle("sysctl", "-qw", "net.ipv4.ip_forward=0")
    for port in (wire.port_a, wire.port_b):
        wire.in_middle("ip", "address", "flush", "dev", port)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement")
    seconds = parser.parse_args().seconds
    print(f"{os.cpu_count()} cores; hosts, sender and router share them")
    print(f"{'router':18} {'Mpps':>8} {'rtt p50 us':>10} {'p99 us':>10} {'TCP Gbit/s':>10}")
    with tempfile.TemporaryDirectory() as name, \
            Wire(addresses=("10.8.1.10/24", "10.8.2.10/24")) as wire:
        folder = pathlib.Path(name)
        meet(wire)
        by_the_kernel(wire)
        measure("kernel", folder, wire, seconds)
        no_more_by_the_kernel(wire)
        for device in ("afpacket", "afxdp"):
            measure_port(device, folder, wire, seconds)
    with tempfile.TemporaryDirectory() as name, \
            Wire(addresses=("10.8.1.10/24", "10.8.2.10/24"), device="tap") as wire:
        measure_port("tap", pathlib.Path(name), wire, seconds)


if __name__ == "__main__":
    main()
