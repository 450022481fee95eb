# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Real hosts on both sides of a router that they find by ARP and neighbour discovery: what they
send each other arrives, and what cannot is answered."""

import contextlib
import json
import os

import pytest

from processes import PATIENCE, wait_until
from routed import BACKENDS, FAMILIES, FAR, LAN, LEFT, RIGHT, WAN, routed

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
HEADERS = {"ipv4": 28, "ipv6": 48}
# Returns datagrams to their sender.
RETURNER = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
returner = socket.socket(family, socket.SOCK_DGRAM)
returner.bind((sys.argv[1], 7))
while True:
    returner.sendto(*returner.recvfrom(65536))
"""
# Sends datagrams, each until it comes back: a datagram may be lost, and may not be changed. One
# before may come once more, late.
SENDER = """
import random, socket, sys
sender = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
sender.settimeout(2)
sender.connect((sys.argv[1], 7))
before = []
for size in map(int, sys.argv[2:]):
    datagram, answer = random.Random(size).randbytes(size), None
    while answer is None or answer in before:
        try:
            if answer is None:
                sender.send(datagram)
            answer = sender.recv(65536)
        except (TimeoutError, ConnectionError):
            answer = None
    assert answer == datagram, size
    before.append(datagram)
"""
# What becomes of a datagram to that address and port: the name of the error. With IP_RECVERR and
# IPV6_RECVERR the kernel tells also of errors that may pass.
ASKER = """
import errno, socket, sys
six = ":" in sys.argv[1]
asker = socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM)
asker.setsockopt(*((socket.IPPROTO_IPV6, 25, 1) if six else (socket.IPPROTO_IP, 11, 1)))
asker.settimeout(float(sys.argv[3]))
asker.connect((sys.argv[1], int(sys.argv[2])))
asker.send(b"is it there?")
try:
    asker.recv(100)
except OSError as error:
    print(errno.errorcode.get(error.errno, "silence"))
"""


@pytest.fixture(name="wire", params=BACKENDS)
def fixture_wire(request, tmp_path):
    with routed(request.param, tmp_path) as wire:
        yield wire


@pytest.mark.parametrize("family", FAMILIES)
def test_pings_of_all_sizes_are_answered(wire, family):
    wire.a.wait_for(FAR[family])
    whole = 1500 - HEADERS[family]
    for size in (0, 1, 7, 8, 56, whole - 1, whole, whole + 1, 2000, 9000, 30000, 65507):
        wire.a.ping(FAR[family], "-s", size, count=1)
        wire.b.ping(LEFT[family], "-s", size, count=1)
    for size in (0, 56, whole):
        wire.a.ping(FAR[family], "-M", "do", "-s", size, count=1)
        wire.b.ping(LEFT[family], "-M", "do", "-s", size, count=1)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_very_first_packet_arrives(wire, family):
    # It waits where it is for the MAC addresses of both next hops.
    wire.a.ping(RIGHT[family], count=1)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_router_answers_at_all_its_addresses(wire, family):
    for host in (wire.a, wire.b):
        for address in (LAN[family], WAN[family]):
            host.wait_for(address)
            for size in (0, 56, 1500 - HEADERS[family]):
                host.ping(address, "-s", size, count=1)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_router_counts_down(wire, family):
    wire.a.wait_for(FAR[family])
    assert "ttl=63" in wire.a.hears(FAR[family])
    said = wire.a.hears(FAR[family], "-t", "1")
    assert f"From {LAN[family]}" in said and "xceeded" in said


@pytest.mark.parametrize("family", FAMILIES)
def test_a_page_and_streams_come_through(wire, family, tmp_path):
    wire.a.wait_for(FAR[family])
    wire.b.ip = FAR[family]
    wire.fetch(tmp_path, 5)
    wire.iperf(amount="5M")
    wire.iperf("-R", amount="5M")
    wire.iperf("-u", "-b", "20M", amount="1M")


@contextlib.contextmanager
def returner(host, address):
    child = host.start("python3", "-c", RETURNER, address)
    try:
        wait_until(lambda: host.run("ss", "-Hlun", "sport = :7").stdout, PATIENCE, "it listens")
        yield
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("family", FAMILIES)
def test_datagrams_in_fragments_go_both_ways(wire, family):
    wire.a.wait_for(FAR[family])
    with returner(wire.b, FAR[family]):
        wire.a.run("python3", "-c", SENDER, FAR[family], 1, 1472, 1473, 3000, 20000, 65507)
    with returner(wire.a, LEFT[family]):
        wire.b.run("python3", "-c", SENDER, LEFT[family], 1, 1472, 1473, 3000, 20000, 65507)


def becomes_of(host, address, port=9):
    return host.run("python3", "-c", ASKER, address, port, PATIENCE,
                    timeout=2 * PATIENCE).stdout.strip()


def test_what_leads_nowhere_is_answered(wire):
    for host in (wire.a, wire.b):
        host.wait_for(LAN["ipv4"])
        assert becomes_of(host, "10.99.1.2") == "ENETUNREACH"
        host.wait_for(LAN["ipv6"])
        assert becomes_of(host, "2001:dead::2") == "ENETUNREACH"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_port_that_nobody_has_is_refused(wire, family):
    wire.a.wait_for(FAR[family])
    for address in (FAR[family], RIGHT[family], LAN[family], WAN[family]):
        assert becomes_of(wire.a, address) == "ECONNREFUSED", address
        url = f"http://[{address}]:9/" if ":" in address else f"http://{address}:9/"
        done = wire.a.run("curl", "-sS", "--max-time", PATIENCE, url, check=False)
        assert done.returncode == 7, done.stderr  # not 28, which is silence


@pytest.mark.parametrize("family", FAMILIES)
def test_a_host_that_is_not_there_is_unreachable_until_it_comes(wire, family):
    absent = {"ipv4": "10.1.0.99", "ipv6": "2001:db8:1::99"}[family]
    length = {"ipv4": 24, "ipv6": 64}[family]
    assert becomes_of(wire.b, absent) == "EHOSTUNREACH"
    wire.a.add_address(f"{absent}/{length}")
    wire.b.wait_for(absent)


@pytest.mark.parametrize("family", FAMILIES)
def test_neighbours_of_the_hosts_are_the_ports_of_the_router(wire, family):
    for host, address, mac in ((wire.a, LAN[family], "02:00:00:00:00:0a"),
                               (wire.b, WAN[family], "02:00:00:00:00:0b")):
        host.wait_for(address)
        known = json.loads(host.run("ip", "-j", "neighbour", "show", address).stdout)
        assert [entry["lladdr"] for entry in known] == [mac]
