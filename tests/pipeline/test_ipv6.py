# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A router for IPv6 and IPv4 between two networks: real clients and servers of both families."""

import pytest

from wire import Wire

ROUTES = """
10.8.1.0/24      a 02:00:00:00:0a:01
10.8.2.0/24      b 02:00:00:00:0b:01
2001:db8:1::/64  a 02:00:00:00:0a:01
2001:db8:2::/64  b 02:00:00:00:0b:01
"""
TOPOLOGY = """
batch: {{ capacity: 32 }}
ports:
  a: {{ device: {device}, interface: {wire.port_a}, mac: "02:00:00:00:00:0a",
       addresses: [10.8.1.1/24, "2001:db8:1::1/64"] }}
  b: {{ device: {device}, interface: {wire.port_b}, mac: "02:00:00:00:00:0b",
       addresses: [10.8.2.1/24, "2001:db8:2::1/64"] }}
functions:
  route: {{ type: route, table: routes }}
paths:
  main: {{ from: [a, b], run: [route] }}
"""


def know_the_router(host, number, other):
    """What is behind it."""
    for own, far in ((f"10.8.{number}.1", f"10.8.{other}.0/24"),
                     (f"2001:db8:{number}::1", f"2001:db8:{other}::/64")):
        host.route(far, own)


@pytest.mark.parametrize("device", ["afpacket", "afxdp"])
def test_ping_and_curl_go_through_a_router_of_both_families(tmp_path, device):
    (tmp_path / "routes").write_text(ROUTES)
    with Wire(addresses=("2001:db8:1::10/64", "2001:db8:2::10/64"), device=device) as wire:
        wire.a.add_address("10.8.1.10/24")
        wire.b.add_address("10.8.2.10/24")
        with wire.between(tmp_path, TOPOLOGY.format(wire=wire, device=device)) as running:
            know_the_router(wire.a, 1, 2)
            know_the_router(wire.b, 2, 1)
            wire.a.wait_for(wire.b.ip)
            assert "ttl=63" in wire.a.hears(wire.b.ip, "-t", "2")
            hop = wire.a.hears(wire.b.ip, "-t", "1")
            assert "From 2001:db8:1::1 icmp_seq=1 Time exceeded: Hop limit" in hop
            wire.a.ping("10.8.2.10")
            # A whole packet, one in fragments, and TCP.
            wire.a.ping(wire.b.ip, "-M", "do", "-s", 1500 - 48)
            wire.a.ping(wire.b.ip, "-s", 4000)
            wire.fetch(tmp_path, 5)
            wire.iperf("-R")
            wire.a.route("2001:db8:9::/64", "2001:db8:1::1")
            for _ in range(2):
                assert "Destination unreachable: No route" in wire.a.hears("2001:db8:9::1")
            audit = running.settle()
            assert audit["generated"]["report"] == 3 and audit["consumed"]["answered"] >= 5
            # Chatter of the hosts.
            assert set(audit["dropped"]) <= {"not_forwarded", "not_unicast"}, audit
