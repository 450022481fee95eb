#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what the state of connections costs, in one run:

- from memory to nowhere: `route` alone, then with `flow`, `firewall` and `nat` in front of it, with
  few flows and many. Flows are there before it is measured. `of route` is the ratio to `route`.
- over veth, where interfaces can be made: the kernel's forwarding with conntrack (rules of
  nftables that look at the state), and with masquerading, beside Millrace with the same functions;
  the same sender and kind of port for all (router_wire.py says what is fair).

Prints the machine, this command, medians of several starts, and ratios. The audit of each start has
to be exact. Nothing here passes or fails on speed.

    tests/bench/stateful.py [--workers N] [--starts N] [--seconds S] [--flows N,N...] [--no-wire]

Programs: build/release/bin, or MILLRACE_BIN. Needs root, hugepages (`millrace doctor --fix`), and a
core for each of hub, standby, ingress, workers and egress, and one for the sender: with fewer,
figures say nothing.
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))

# pylint: disable=wrong-import-position
import router_wire  # noqa: E402
from audited import Audited  # noqa: E402
from processes import wait_until  # noqa: E402
from report import print_machine  # noqa: E402
from router_tables import Table  # noqa: E402

FILL_SECONDS = 300  # in which all flows have come
RULES = "pass ip any -> any state established,related\npass udp any -> any in lan state new\n"
MEMORY = """
ports:
  lan: {{ device: generate, flows: {flows}, size: 60, destinations: [203.0.113.0/24] }}
  wan: {{ device: "null", mac: "02:00:00:00:00:0b" }}
workers:
  worker: {{ kind: classifier, count: {workers}, max: {workers}, dispatch: flow }}
functions:
{functions}
paths:
  main: {{ from: lan, to: wan, run: [{run}], lanes: {lanes}, slots: {slots} }}
"""
FUNCTIONS = {
    "flow": "  flow: {{ type: flow, max: {room}, on: worker }}",
    "firewall": "  firewall: {{ type: firewall, rules: {folder}/own.rules, non_ip: pass, "
                "on: worker }}",
    "nat": "  nat: {{ type: nat, inside: lan, {outside}, block: 8, max: {room}, on: worker }}",
    "route": "  route: {{ type: route, table: {folder}/own.routes, on: worker }}",
}
CHAINS = (("route",), ("flow", "route"), ("flow", "firewall", "route"),
          ("flow", "firewall", "nat", "route"))
POOL = "pool: 198.51.100.0/24"
WIRE = """
ports:
  lan: {{ device: afpacket, interface: {a}, mac: "{macs[0]}", addresses: [{gateways[0]}/24] }}
  wan: {{ device: afpacket, interface: {b}, mac: "{macs[1]}", addresses: [{gateways[1]}/24] }}
workers:
  worker: {{ kind: classifier, count: {workers}, max: {workers}, dispatch: flow }}
functions:
{functions}
paths:
  main: {{ from: [lan, wan], to: wan, run: [{run}], lanes: {lanes} }}
"""
CONNTRACK = """table ip bench {{
  chain forward {{ type filter hook forward priority 0; policy drop;
    ct state established,related accept
    iifname "{a}" meta l4proto udp ct state new accept
  }}
}}
"""
MASQUERADE = CONNTRACK + """table ip bench-nat {{
  chain post {{ type nat hook postrouting priority 100
    oifname "{b}" masquerade
  }}
}}
"""
KERNELS = (("kernel, forwarding", ""), ("kernel, conntrack", CONNTRACK),
           ("kernel, masquerade", MASQUERADE))


def functions_of(chain, folder, flows, outside):
    room = max(65_536, 2 * flows)
    return "\n".join(FUNCTIONS[name].format(folder=folder, room=room, outside=outside)
                     for name in chain)


def rate(folder, text, flows, seconds):
    """Packets a second of one start, when each flow has had a packet. None may be dropped."""
    with Audited(folder, text) as running:
        running.wait_received(flows * 2, FILL_SECONDS)
        before, began = running.audit()["received"], time.monotonic()
        time.sleep(seconds)
        after, ended = running.audit()["received"], time.monotonic()
    dropped = running.final["dropped"]
    if dropped:
        sys.exit(f"packets were dropped: {dropped}")
    return (after - before) / (ended - began) / 1e6


def in_memory(options):
    print("\nFrom memory to nowhere, frames of 64 B.")
    print(f"{'flows':>9} {'functions':28} {'Mpps':>8} {'least':>8} {'most':>8} {'of route':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "own.rules").write_text(RULES)
        (folder / "own.routes").write_text("0.0.0.0/0 wan 02:00:00:00:00:02\n")
        for flows in options.flows:
            alone = None
            for chain in CHAINS:
                text = MEMORY.format(
                    flows=flows, workers=options.workers, run=", ".join(chain),
                    functions=functions_of(chain, folder, flows, POOL),
                    lanes=4 * options.workers, slots=12 * options.workers)
                rates = [rate(folder, text, flows, options.seconds)
                         for _ in range(options.starts)]
                median = statistics.median(rates)
                alone = alone or median
                print(f"{flows:9} {' + '.join(chain):28} {median:8.2f} {min(rates):8.2f} "
                      f"{max(rates):8.2f} {median / alone:8.2f}", flush=True)


def kernel_row(folder, cores, options, table, kind, rules):
    with router_wire.rig(folder, cores, options) as one:
        router_wire.by_the_kernel(one.wire)
        one.wire.in_middle("ip", "route", "add", "default", "via", router_wire.NEXT)
        if rules:
            file = folder / "bench.nft"
            file.write_text(rules.format(a=one.wire.port_a, b=one.wire.port_b))
            one.wire.in_middle("nft", "-f", file)
        return one.row(kind, table)


def millrace_row(folder, cores, options, table, chain):
    with router_wire.rig(folder, cores, options) as one:
        table.write(folder / "own.routes", lambda _: f"wan via {router_wire.NEXT}")
        text = WIRE.format(
            a=one.wire.port_a, b=one.wire.port_b, macs=router_wire.PORTS,
            gateways=router_wire.GATEWAYS, workers=options.workers, run=", ".join(chain),
            functions=functions_of(chain, folder, router_wire.FLOWS, "masquerade: wan"),
            lanes=4 * options.workers)
        running = router_wire.Topology(
            folder, text, prefix=(*one.wire.prefix, *cores.words(cores.router)))
        running.endless = True
        with running:
            return one.row("Millrace, " + " + ".join(chain), table)


def over_veth(options):
    cores = router_wire.Cores.shared_out(options.workers)
    print(f"\nOver veth, frames of 64 B, {router_wire.FLOWS} flows; "
          + ("the sender has a core of its own." if cores.apart else
             "sender and router share all cores: figures say little."), flush=True)
    table = Table("default", [], [router_wire.NEXT])
    options = argparse.Namespace(**vars(options), sizes={"64 B": "60"})
    rows = []
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(sys.stderr):
        folder = pathlib.Path(name)
        (folder / "own.rules").write_text(RULES)
        rows += [kernel_row(folder, cores, options, table, *kernel) for kernel in KERNELS]
        rows += [millrace_row(folder, cores, options, table, chain) for chain in CHAINS]
    print(f"{'router':42} {'Mpps':>7} {'least':>7} {'most':>7} {'sent':>7} {'of forwarding':>13}")
    forwarding = rows[0].median("64 B")
    for row in rows:
        rates = row.rates["64 B"]
        print(f"{row.kind:42} {row.median('64 B'):7.3f} {min(rates):7.3f} {max(rates):7.3f} "
              f"{row.sent['64 B']:7.3f} {row.median('64 B') / forwarding:13.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1, help="default: 1")
    parser.add_argument("--starts", type=int, default=5, help="of each case; default: 5")
    parser.add_argument("--seconds", type=float, default=1, help="of each start; default: 1")
    parser.add_argument("--flows", type=lambda text: [int(word) for word in text.split(",")],
                        default=[1024, 1_000_000], help="default: 1024,1000000")
    parser.add_argument("--no-wire", action="store_true", help="no interfaces")
    options = parser.parse_args()
    print_machine()
    in_memory(options)
    if os.geteuid() != 0 or options.no_wire:
        print("\nNot over veth: " + ("--no-wire" if options.no_wire else "not root"))
    else:
        over_veth(options)


if __name__ == "__main__":
    main()
