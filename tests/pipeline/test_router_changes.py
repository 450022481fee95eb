# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What changes around a router: links that are narrower, neighbours that go, come back with another
card, or claim its address; a second router behind it."""

import json
import os

import pytest

from processes import PATIENCE, wait_until
from routed import (BACKENDS, FAMILIES, FAR, LAN, LEFT, RIGHT, WAN, routed, settings,
                    two_routers)
from wire import wait_heard

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
NARROW = 1300
HEADERS = {"ipv4": 28, "ipv6": 48}


@pytest.fixture(name="narrow", params=BACKENDS)
def fixture_narrow(request, tmp_path):
    with routed(request.param, tmp_path, mtu=NARROW) as wire:
        yield wire


@pytest.fixture(name="wire", params=BACKENDS)
def fixture_wire(request, tmp_path):
    with routed(request.param, tmp_path) as wire:
        yield wire


def known_mtu(host, address):
    """Of the way there, where the host has learnt one; else of its interface."""
    route = json.loads(host.run("ip", "-j", "route", "get", address).stdout)[0]
    metrics = route.get("metrics", [{}])[0]
    return metrics.get("mtu")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_packet_too_long_for_the_next_link_is_answered_with_its_mtu(narrow, family):
    narrow.a.wait_for(FAR[family])
    fits = NARROW - HEADERS[family]
    narrow.a.ping(FAR[family], "-M", "do", "-s", fits, count=1)
    said = narrow.a.hears(FAR[family], "-M", "do", "-s", fits + 1)
    assert f"From {LAN[family]}" in said and f"mtu={NARROW}" in said.replace(" = ", "="), said
    wait_until(lambda: known_mtu(narrow.a, FAR[family]) == NARROW, PATIENCE, "learnt")
    # From now on the host itself cuts what is longer.
    narrow.a.ping(FAR[family], "-M", "want", "-s", 4000, count=1)


def test_the_router_cuts_what_may_be_cut(narrow):
    narrow.a.wait_for(FAR["ipv4"])
    for size in (NARROW - 27, 1472, 4000, 30000):
        narrow.a.ping(FAR["ipv4"], "-M", "dont", "-s", size, count=1)
    assert known_mtu(narrow.a, FAR["ipv4"]) is None


@pytest.mark.parametrize("family", FAMILIES)
def test_streams_find_the_mtu_of_the_path(narrow, family, tmp_path):
    narrow.a.wait_for(FAR[family])
    narrow.b.ip = FAR[family]
    # It does not say how narrow its own link is.
    narrow.b.run("ip", "route", "replace", "default", "via", WAN[family], "advmss", "1440")
    narrow.fetch(tmp_path, 5)
    narrow.iperf(amount="5M")
    narrow.iperf("-R", amount="5M")
    narrow.iperf("-u", "-b", "20M", "-l", "1200", amount="1M")
    if family == "ipv4":
        wait_until(lambda: known_mtu(narrow.a, FAR[family]) == NARROW, PATIENCE, "learnt")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_host_gets_another_mac_address(wire, family):
    wire.b.wait_for(LEFT[family])
    wire.a.run("ip", "link", "set", "eth", "address", "02:00:00:00:0a:77")
    wire.b.wait_for(LEFT[family])
    wire.a.wait_for(FAR[family])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_router_that_a_host_has_forgotten_is_found_again(wire, family):
    wire.a.wait_for(FAR[family])
    for _ in range(3):
        wire.a.run("ip", "neighbour", "flush", "dev", "eth")
        wire.b.run("ip", "neighbour", "flush", "dev", "eth")
        wire.a.wait_for(FAR[family])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_neighbour_that_goes_is_given_up_and_found_when_it_is_back(wire, family):
    wire.b.wait_for(LEFT[family])
    silence = {"ipv4": "net.ipv4.conf.eth.arp_ignore=8", "ipv6": "net.ipv6.conf.eth.disable_ipv6=1"}
    wire.a.run("sysctl", "-qw", silence[family])
    if family == "ipv4":
        # It would still answer echo requests.
        wire.a.run("ip", "address", "del", f"{LEFT[family]}/24", "dev", "eth")
    wait_heard(wire.b.run, LEFT[family], "nreachable")
    wire.a.run("sysctl", "-qw", silence[family].split("=")[0] + "=0")
    wire.a.add_address(wire.a.address if family == "ipv4" else f"{LEFT[family]}/64")
    wire.a.run("ip", "route", "replace", "default", "via", LAN[family])
    wire.b.wait_for(LEFT[family])


def test_a_host_does_not_take_the_address_of_the_router(wire):
    wire.a.wait_for(LAN["ipv6"])
    settings(wire.a.namespace, {"ipv6.conf.eth.accept_dad": 1})  # as a host has it of itself
    wire.a.run("ip", "address", "add", f"{LAN['ipv6']}/64", "dev", "eth")

    def failed():
        return "dadfailed" in wire.a.run("ip", "-6", "address", "show", "dev", "eth").stdout
    wait_until(failed, PATIENCE, "the duplicate is seen")
    wire.a.run("ip", "address", "del", f"{LAN['ipv6']}/64", "dev", "eth")
    wire.b.wait_for(LEFT["ipv6"])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_cable_of_a_host_is_pulled_and_plugged_in(wire, family):
    wire.b.wait_for(LEFT[family])
    wire.set_port_b("down")
    assert wire.a.run("ping", "-c", "1", "-W", "0.3", RIGHT[family], check=False).returncode != 0
    wire.set_port_b("up")
    if wire.running is None and family == "ipv6":  # of the kernel they are gone with the cable
        wire.in_middle("ip", "address", "replace", f"{WAN[family]}/64", "dev", wire.port_b, "nodad")
    wire.a.wait_for(RIGHT[family])


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_routers_in_a_row(tmp_path, backend):
    with two_routers(backend, tmp_path) as (left, right):
        for family, between in (("ipv4", "198.18.0.2"), ("ipv6", "fd00:9::2")):
            left.wait_for(FAR[family])
            right.wait_for(LEFT[family])
            assert "ttl=62" in left.hears(FAR[family])
            left.ping(FAR[family], "-s", 9000)
            left.wait_for(between)
            said = left.hears(FAR[family], "-t", "2")
            assert f"From {between}" in said, said
