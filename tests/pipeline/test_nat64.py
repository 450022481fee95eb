# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A host that has only IPv6, `nat64`, and a host that has only IPv4: what usual programs see."""

import contextlib
import os
import re

import pytest

from processes import PATIENCE, wait_until
from routed import SETTINGS, kill_workers_under, needs, set_mtu, settings
from topology import Topology
from wire import Wire, wait_heard

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

PUBLIC, LAN = "203.0.113.1", "2001:db8:1::1"
SERVER, FAR = "192.0.2.1", "198.51.100.1"
SERVER6, FAR6 = "64:ff9b::c000:201", "64:ff9b::c633:6401"
TOPOLOGY = """
batch: {{ capacity: 32 }}
ports:
  lan: {{ device: afpacket, interface: {a}, mac: "02:00:00:00:00:0a",
         addresses: ["2001:db8:1::1/64"] }}
  wan: {{ device: afpacket, interface: {b}, mac: "02:00:00:00:00:0b", mtu: {mtu},
         addresses: [192.0.2.2/30] }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  flow: {{ type: flow, max: 4096 }}
  nat64: {{ type: nat64, inside: lan, pool: 203.0.113.1, max: 4096 }}
  route: {{ type: route, table: nat64.routes }}
paths:
  main: {{ from: [lan, wan], to: wan, run: [flow, nat64, route], lanes: 4 }}
"""
# Sends back what it gets, to its sender; to "who" says the address of that.
# With a second word its packets have no DF.
MIRROR = """
import socket, sys
mirror = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if len(sys.argv) > 2:
    mirror.setsockopt(socket.IPPROTO_IP, 10, 0)  # IP_MTU_DISCOVER, IP_PMTUDISC_DONT
mirror.bind((sys.argv[1], 9999))
while True:
    data, peer = mirror.recvfrom(10000)
    try:
        mirror.sendto(" ".join(map(str, peer)).encode() if data == b"who" else data, peer)
    except OSError:
        pass  # the path's MTU is less by now: the next one goes
"""
# What each address, of those given behind the own port, says to "who".
ASK = """
import socket, sys
asks = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
asks.bind(("::", int(sys.argv[1])))
asks.settimeout(1)
for address in sys.argv[2:]:
    asks.sendto(b"who", (address, 9999))
    print(asks.recv(100).decode())
"""
# Sends so many bytes, and prints whether they come back, perhaps behind others of before.
BIG = """
import os, socket, sys
asks = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
asks.bind(("::", 5010))
asks.connect((sys.argv[1], 9999))  # so it hears of errors
asks.settimeout(2)
data = os.urandom(int(sys.argv[2]))
try:
    asks.send(data)
    while asks.recv(10000) != data:
        pass
    print(True)
except OSError as error:
    print(error)
"""
# Opens a mapping by asking the mirror, says which, and waits for one more packet.
OPEN = """
import socket, sys
asks = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
asks.settimeout(float(sys.argv[2]))
asks.sendto(b"who", (sys.argv[1], 9999))
print(asks.recv(100).decode(), flush=True)
data, peer = asks.recvfrom(100)
print(data.decode(), peer[0], flush=True)
"""
KNOCK = """
import socket, sys
knocks = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
knocks.bind((sys.argv[1], 0))
knocks.sendto(b"knock", (sys.argv[2], int(sys.argv[3])))
"""


@contextlib.contextmanager
def translated(folder, mtu=1500):
    """`wire.a` is inside, `wire.b` outside; `mtu` of the cable to it."""
    with Wire(addresses=("2001:db8:1::5/64", f"{SERVER}/30")) as wire:
        for namespace, interface in ((wire.middle, wire.port_b), (wire.b.namespace, "eth")):
            set_mtu(namespace, interface, mtu)
        for host in (wire.a, wire.b):
            settings(host.namespace, SETTINGS)
        wire.a.run("ip", "route", "add", "default", "via", LAN)
        wire.b.run("ip", "address", "add", f"{FAR}/24", "dev", "lo")
        wire.b.run("ip", "route", "add", "default", "via", "192.0.2.2")
        (folder / "nat64.routes").write_text(f"198.51.100.0/24 wan via {SERVER}\n")
        text = TOPOLOGY.format(a=wire.port_a, b=wire.port_b, mtu=mtu)
        with Topology(folder, text, prefix=wire.prefix) as running:
            wire.running = running
            wire.a.wait_for(SERVER6)
            yield wire


@pytest.fixture(name="wire")
def fixture_wire(tmp_path):
    with translated(tmp_path) as wire:
        yield wire


def start_mirrors(wire, *addresses):
    for address in addresses:
        wire.b.start("python3", "-c", MIRROR, address)


def test_pages_come_to_a_host_of_ipv6(wire, tmp_path):
    wire.fetch(tmp_path, 3, to=SERVER6)
    wire.a.ping(FAR6)


def test_a_mapping_is_the_same_whatever_the_other_end(wire):
    start_mirrors(wire, SERVER, FAR)

    def seen():
        said = wire.a.run("python3", "-c", ASK, "5004", SERVER6, FAR6, check=False).stdout.split()
        return said if len(said) == 4 else None
    address, port, other_address, other_port = wait_until(seen, PATIENCE, "two answers")
    assert (address, port) == (other_address, other_port)
    assert address == PUBLIC and int(port) % 2 == 0


def test_a_stranger_reaches_a_mapping(wire, tmp_path):
    start_mirrors(wire, SERVER)
    wait_until(lambda: wire.a.run("python3", "-c", ASK, "5004", SERVER6, check=False).stdout,
               PATIENCE, "the mirror answers")
    said = tmp_path / "said"
    wire.a.start("sh", "-c", f"exec python3 -c '{OPEN}' {SERVER6} {PATIENCE} > {said}")
    wait_until(lambda: said.exists() and len(said.read_text().split()) == 2, PATIENCE, "a mapping")
    address, port = said.read_text().split()

    def knocked():
        wire.b.run("python3", "-c", KNOCK, FAR, address, port)
        return "knock" in said.read_text()
    wait_until(knocked, PATIENCE, "a packet of a stranger")
    assert said.read_text().splitlines()[1].split() == ["knock", FAR6]


def test_what_nobody_asked_for_is_dropped(wire):
    assert wire.b.run("ping", "-c", "2", "-i", "0.1", "-W", "0.3", PUBLIC,
                      check=False).returncode != 0
    wait_until(lambda: wire.running.audit()["dropped"].get("nat64_no_mapping", 0) >= 2, PATIENCE,
               "two drops")


def test_the_router_reports_a_hop_limit_that_ends(wire):
    wait_heard(wire.a.run, SERVER6, f"From {LAN} icmp_seq=1 Time exceeded", "-t", "1")


@needs("traceroute")
@pytest.mark.parametrize("how", ["-I", "-U"])
def test_traceroute_sees_the_router_and_the_host(wire, how):
    def hops():
        lines = wire.a.run("traceroute", "-6", "-n", "-q", "1", "-w", "2", how,
                           FAR6).stdout.splitlines()[1:]
        return [line.split()[1] for line in lines]
    wait_until(lambda: hops() == [LAN, FAR6], PATIENCE, lambda: f"hops: {hops()}")


def test_a_closed_port_is_told_of(wire):
    def said():
        return wire.a.run("python3", "-c", BIG, SERVER6, "10").stdout
    wait_until(lambda: "refused" in said(), PATIENCE, lambda: f"refused: {said()}")


def count_of(host, name):
    return int(host.run("nstat", "-asz", name).stdout.split(name)[1].split()[0])


def mtu_of(host, *words):
    found = re.search(r"mtu (\d+)", host.run("ip", *words).stdout)
    return int(found[1]) if found else None


def test_a_host_of_ipv6_learns_the_mtu_of_an_ipv4_link(tmp_path):
    with translated(tmp_path, mtu=1400) as wire:
        def learned():
            wire.a.run("ping", "-c", "1", "-W", "0.3", "-M", "do", "-s", "1400", SERVER6,
                       check=False)
            return mtu_of(wire.a, "-6", "route", "get", SERVER6)
        wait_until(lambda: learned() == 1420, PATIENCE, lambda: f"1,420 bytes, not {learned()}")
        wire.a.ping(SERVER6, "-M", "do", "-s", str(1420 - 48))
        wire.fetch(tmp_path, 1, to=SERVER6)


def test_a_host_of_ipv4_learns_what_fits_behind_the_longer_header(wire):
    """Its datagram of 1,500 bytes becomes one of 1,520, or two fragments."""
    start_mirrors(wire, SERVER)

    def came_back():
        return "True" in wire.a.run("python3", "-c", BIG, SERVER6, "1472").stdout
    wait_until(came_back, PATIENCE, "1,472 bytes")
    assert mtu_of(wire.b, "route", "get", PUBLIC) in (1472, 1480)


@needs("nstat")
@pytest.mark.parametrize("bytes_, pieces", [("1232", 0), ("1233", 2), ("1472", 2), ("4000", 5)])
def test_what_has_no_df_leaves_in_fragments_that_each_link_takes(wire, bytes_, pieces):
    """RFC 7915 4: without an error, though a datagram of 1,500 bytes becomes longer than the MTU.
    Of 4,000 bytes the host sends three fragments, two of which are cut once more."""
    wire.b.start("python3", "-c", MIRROR, SERVER, "no DF")

    def came_back():
        return "True" in wire.a.run("python3", "-c", BIG, SERVER6, bytes_).stdout
    counts = []

    def came_in_pieces():
        """Pieces of an answer that was late before are counted too: then once more."""
        before = count_of(wire.a, "Ip6ReasmReqds")
        if came_back():
            counts.append(count_of(wire.a, "Ip6ReasmReqds") - before)
        return counts and counts[-1] == pieces
    wait_until(came_in_pieces, PATIENCE, lambda: f"{bytes_} bytes in {pieces} pieces: {counts}")
    assert mtu_of(wire.b, "route", "get", PUBLIC) is None


def test_fragments_go_both_ways(wire):
    start_mirrors(wire, SERVER)
    wait_until(lambda: "True" in wire.a.run("python3", "-c", BIG, SERVER6, "4000").stdout, PATIENCE,
               "4,000 bytes")


def test_a_worker_that_dies_breaks_no_connection(wire, tmp_path):
    kill_workers_under(wire, lambda: wire.fetch(tmp_path, 20, to=SERVER6))
    wire.running.settle()
