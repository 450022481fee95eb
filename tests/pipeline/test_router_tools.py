# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The tools by which operators look at routers see this one: where a path leads, how long packets
may be, what is at an address."""

import json
import os

import pytest

from processes import PATIENCE, wait_until
from routed import (BACKENDS, FAMILIES, FAR, LAN, WAN, needs, routed, two_routers)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")


@pytest.fixture(name="wire", params=BACKENDS)
def fixture_wire(request, tmp_path):
    with routed(request.param, tmp_path) as wire:
        wire.backend = request.param
        yield wire


def family_of(family):
    return "-4" if family == "ipv4" else "-6"


def hops_of(host, family, *words):
    """Addresses of the hops to the far host, by traceroute; those that are silent are "*"."""
    lines = host.run("traceroute", family_of(family), "-n", "-q", "1", "-w", "2", *words,
                     FAR[family]).stdout.splitlines()[1:]
    return [line.split()[1] for line in lines]


@needs("traceroute")
@pytest.mark.parametrize("how", ["-I", "-U", "-T", ""])
@pytest.mark.parametrize("family", FAMILIES)
def test_traceroute_sees_the_router_and_the_host(wire, family, how):
    wire.a.wait_for(FAR[family])
    words = [how] if how else []
    wait_until(lambda: hops_of(wire.a, family, *words) == [LAN[family], FAR[family]], PATIENCE,
               lambda: f"two hops: {hops_of(wire.a, family, *words)}")


@needs("traceroute")
@pytest.mark.parametrize("family", FAMILIES)
def test_traceroute_ends_at_an_address_of_the_router(wire, family):
    wire.a.wait_for(FAR[family])
    for how in ("-I", "-U", "-T"):
        def hops(how=how):
            lines = wire.a.run("traceroute", family_of(family), "-n", "-q", "1", "-w", "2", how,
                               WAN[family]).stdout.splitlines()[1:]
            return [line.split()[1] for line in lines]
        wait_until(lambda hops=hops: hops() == [WAN[family]], PATIENCE, "one hop")


@needs("traceroute")
@pytest.mark.parametrize("backend", BACKENDS)
def test_traceroute_sees_two_routers(tmp_path, backend):
    with two_routers(backend, tmp_path) as (left, right):
        for family, second in (("ipv4", "198.18.0.2"), ("ipv6", "fd00:9::2")):
            left.wait_for(FAR[family])
            right.wait_for(LAN[family])
            expected = [LAN[family], second, FAR[family]]
            wait_until(lambda: hops_of(left, family, "-I") == expected, PATIENCE,
                       lambda: f"three hops: {hops_of(left, family, '-I')}")


@needs("tracepath")
@pytest.mark.parametrize("family", FAMILIES)
def test_tracepath_finds_the_mtu_of_the_path(tmp_path, wire, family):
    wire.a.wait_for(FAR[family])
    def said(host, words):
        def path():
            return host.run("tracepath", family_of(family), "-n", "-m", "5", FAR[family]).stdout
        return wait_until(lambda: words in path(), PATIENCE, lambda: f"{words}: {path()}")
    said(wire.a, "pmtu 1500 hops 2")
    with routed(wire.backend, tmp_path, mtu=1300) as narrow:
        narrow.a.wait_for(FAR[family])
        said(narrow.a, "Resume: pmtu 1300 hops 2")


@needs("mtr")
@pytest.mark.parametrize("family", FAMILIES)
def test_mtr_sees_both_hops(wire, family):
    wire.a.wait_for(FAR[family])
    def hops():
        said = wire.a.run("mtr", family_of(family), "-n", "-c", "3", "-i", "0.2", "-C",
                          FAR[family]).stdout
        return [line.split(",")[5] for line in said.splitlines()[1:]]
    wait_until(lambda: hops() == [LAN[family], FAR[family]], PATIENCE, lambda: f"hops: {hops()}")


@needs("arping")
def test_arping_finds_the_port_and_sees_a_duplicate(wire):
    wire.a.wait_for(LAN["ipv4"])
    said = wire.a.run("arping", "-c", "1", "-w", PATIENCE, "-I", "eth", LAN["ipv4"]).stdout
    assert "02:00:00:00:00:0a" in said.lower(), said
    # -D ends with 1 when the address is taken.
    assert wire.a.run("arping", "-D", "-c", "1", "-w", PATIENCE, "-I", "eth", LAN["ipv4"],
                      check=False).returncode == 1


@needs("ndisc6")
def test_ndisc6_finds_the_port(wire):
    wire.a.wait_for(LAN["ipv6"])
    wait_until(lambda: "02:00:00:00:00:0A" in wire.a.run(
        "ndisc6", "-q", LAN["ipv6"], "eth", check=False).stdout.upper(), PATIENCE, "its address")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_hosts_know_no_neighbour_for_good(wire, family):
    wire.a.wait_for(FAR[family])
    known = json.loads(wire.a.run("ip", "-j", "neighbour", "show", "dev", "eth").stdout)
    assert known and all("PERMANENT" not in entry["state"] for entry in known)
