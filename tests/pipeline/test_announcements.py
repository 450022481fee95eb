# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What a router says unasked, by the ticks of a loop: Linux hosts that ask for nothing hear it."""

import dataclasses
import json
import os

import pytest

from processes import PATIENCE, wait_until
from routed import LAN, ROUTES, lan, lay_left, lay_right, millrace_router, settings, wan
from test_router_advertisements import default_routers, own_addresses
from wire import Wire

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")


def macs(host):
    """address of the router -> MAC address that the host has of it."""
    told = json.loads(host.run("ip", "-j", "neighbour", "show", "dev", "eth").stdout)
    return {entry["dst"]: entry.get("lladdr") for entry in told
            if entry["dst"] in (LAN["ipv4"], LAN["ipv6"])}


def test_neighbours_turn_to_a_router_that_takes_over_at_once(tmp_path):
    with Wire(addresses=("10.1.0.5/24", "192.0.2.1/30")) as wire:
        lay_left(wire.a)
        lay_right(wire.b)
        ports = {"lan": lan(wire.port_a), "wan": wan(wire.port_b)}
        with millrace_router(tmp_path, wire.middle, ports, ROUTES):
            for address in LAN.values():
                wire.a.wait_for(address)
        assert set(macs(wire.a).values()) == {ports["lan"].mac}
        # As after a while without a packet to it: the host does not probe while there is none, and
        # give it up. Of one that it has given up it would hear nothing unasked.
        for address in LAN.values():
            wire.a.run("ip", "neighbour", "replace", address, "lladdr", ports["lan"].mac, "nud",
                       "stale", "dev", "eth")
        ports["lan"] = dataclasses.replace(ports["lan"], mac="02:00:00:00:00:1a")
        with millrace_router(tmp_path, wire.middle, ports, ROUTES, tick="1s") as running:
            wait_until(lambda: set(macs(wire.a).values()) == {ports["lan"].mac}, PATIENCE,
                       lambda: f"the new MAC address: {macs(wire.a)}")
            assert len(macs(wire.a)) == 2
            # Two announcements of six addresses, one and three seconds after the start, and at each
            # of two ports two reports of groups (MLD).
            wait_until(lambda: running.audit()["generated"].get("announce") == 12 + 4, PATIENCE,
                       "all is said")
            later = running.audit()["consumed"]["control"] + 3
            wait_until(lambda: running.audit()["consumed"]["control"] >= later, PATIENCE, "ticks")
            assert running.audit()["generated"] == {"announce": 16}, "the host has not asked"


def test_a_host_that_does_not_ask_finds_its_address_and_the_router(tmp_path):
    with Wire(addresses=("10.1.0.5/24", "192.0.2.1/30")) as wire:
        lay_right(wire.b)
        settings(wire.a.namespace, {"ipv6.conf.eth.accept_ra": 1, "ipv6.conf.eth.autoconf": 1,
                                    "ipv6.conf.eth.router_solicitations": 0})
        ports = {"lan": lan(wire.port_a), "wan": wan(wire.port_b)}
        with millrace_router(tmp_path, wire.middle, ports, ROUTES, more=", advertise: lan",
                             tick="500ms") as running:
            wait_until(lambda: own_addresses(wire.a), PATIENCE, "an address")
            assert default_routers(wire.a) == [("fe80::ff:fe00:a", "ra")]
            assert not running.audit()["generated"].get("reply"), "to nothing that it asked"
