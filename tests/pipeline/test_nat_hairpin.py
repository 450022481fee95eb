# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts behind `nat` that reach each other by their outside addresses (RFC 4787 REQ-9)."""

import os

import pytest

from processes import PATIENCE, wait_until
from routed import FAR, RIGHT, kill_workers_under, lay_left, lay_right
from topology import Topology
from wire import PAGES, Host, Wire, run

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

OUTSIDE = {"203.0.113.1": "pool: 203.0.113.1", "192.0.2.2": "masquerade: wan"}
SERVER, CLIENTS = "10.1.0.5", ("10.3.0.5", "10.3.0.6", "10.3.0.7", "10.3.0.8")
TOPOLOGY = """
batch: {{ capacity: 32 }}
ports:
  lan: {{ device: afpacket, interface: {lan}, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  dmz: {{ device: afpacket, interface: {dmz}, mac: "02:00:00:00:00:0c", addresses: [10.3.0.1/24] }}
  wan: {{ device: afpacket, interface: {wan}, mac: "02:00:00:00:00:0b", addresses: [192.0.2.2/30] }}
  turn: {{ device: loop }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  flow: {{ type: flow, max: 4096 }}
  nat:
    type: nat
    inside: [lan, dmz]
    {outside}
    max: 4096
    hairpin: turn
    publish: "tcp {public}:8081 -> 10.1.0.5:8080"
  route: {{ type: route, table: nat.routes }}
paths:
  main: {{ from: [lan, dmz, wan, turn], to: wan, run: [flow, nat, route], lanes: 4 }}
"""
# At ADDRESS PORT it says to each sender what address that has. With OTHER FILE it asks another one
# first, and writes the answer.
MIRROR = """
import pathlib, socket, sys
mirror = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
mirror.bind((sys.argv[1], int(sys.argv[2])))
seen = len(sys.argv) == 3
while not seen:
    mirror.settimeout(0.5)
    mirror.sendto(b"who", (sys.argv[3], 9999))
    try:
        seen = pathlib.Path(sys.argv[4]).write_bytes(mirror.recv(100) + b"\\n")
    except OSError:
        pass
mirror.settimeout(None)
while True:
    _, peer = mirror.recvfrom(100)
    mirror.sendto(("seen %s %s" % peer).encode(), peer)
"""
# What a mirror at ADDRESS PORT says to FROM; "refused": an ICMP error came.
ASK = """
import socket, sys
asks = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asks.bind((sys.argv[3], 5004))
asks.settimeout(1)
asks.connect((sys.argv[1], int(sys.argv[2])))
try:
    asks.send(b"who" * 1000)  # in fragments
    print(asks.recv(100).decode(), asks.getsockname()[0])
except ConnectionRefusedError:
    print("refused")
"""


@pytest.fixture(name="wire", params=OUTSIDE)
def fixture_wire(request, tmp_path):
    """`wire.a` and `wire.c` are inside, `wire.b` outside, which sees them as `wire.public`."""
    (tmp_path / "nat.routes").write_text("10.2.0.0/16 wan via 192.0.2.1\n")
    with Wire(addresses=(SERVER + "/24", "192.0.2.1/30")) as wire:
        wire.c = Host(f"mr-c-{wire.number}", CLIENTS[0] + "/24", "02:00:00:00:0c:01")
        run("ip", "netns", "add", wire.c.namespace)
        try:
            wire.plug(wire.c, "portc")
            for address in CLIENTS[1:]:
                wire.c.add_address(address + "/24")
            wire.c.run("ip", "route", "add", "default", "via", "10.3.0.1")
            lay_left(wire.a)
            lay_right(wire.b)
            wire.public = request.param
            text = TOPOLOGY.format(lan=wire.port_a, wan=wire.port_b, dmz="portc",
                                   public=wire.public, outside=OUTSIDE[wire.public])
            with Topology(tmp_path, text, prefix=wire.prefix) as running:
                wire.running = running
                for host in (wire.a, wire.c):
                    host.wait_for(RIGHT["ipv4"])
                yield wire
                running.settle()
        finally:
            wire.c.end()


def ask(host, address, port, source):
    return host.run("python3", "-c", ASK, address, port, source, check=False).stdout.split()


def test_a_published_server_is_reached_from_inside(wire, tmp_path):
    (tmp_path / "page").write_bytes(os.urandom(1 << 20))
    wire.a.start("python3", "-c", PAGES, SERVER, tmp_path)
    out = tmp_path / "fetched"

    def fetched(host, source):
        out.unlink(missing_ok=True)
        return host.run("curl", "-sS", "--max-time", "5", "--interface", source, "-o", out,
                        f"http://{wire.public}:8081/page", check=False).returncode == 0
    # Each in the lane of its address; the server itself too.
    for host, source in [(wire.c, address) for address in CLIENTS] + [(wire.a, SERVER)]:
        wait_until(lambda host=host, source=source: fetched(host, source), PATIENCE,
                   f"the page at {source}")
        assert out.read_bytes() == (tmp_path / "page").read_bytes()


def test_a_worker_that_dies_breaks_no_connection(wire, tmp_path):
    page = tmp_path / "page"
    page.write_bytes(os.urandom(1 << 20) * 20)
    wire.a.start("python3", "-c", PAGES, SERVER, tmp_path)

    def fetch():
        out = tmp_path / "fetched"
        wire.c.run("curl", "-sS", "--retry", "20", "--retry-delay", "1", "--retry-connrefused",
                   "--max-time", PATIENCE, "-o", out, f"http://{wire.public}:8081/page",
                   timeout=2 * PATIENCE)
        assert out.read_bytes() == page.read_bytes()
    kill_workers_under(wire, fetch, ("front.0", "front.1", "ingress.turn.0"))


def test_a_mapping_is_reached_from_inside_and_answers_by_it(wire, tmp_path):
    """So each host sees the other one's outside address and port (REQ-9a)."""
    wire.b.start("python3", "-c", MIRROR, FAR["ipv4"], 9999)
    told = tmp_path / "told"
    mapped = wire.a.start("python3", "-c", MIRROR, SERVER, 5004, FAR["ipv4"], told)
    wait_until(lambda: told.exists() and told.read_text().endswith("\n"), PATIENCE, "a mapping")
    _, address, port = told.read_text().split()
    assert address == wire.public
    of_clients = {}
    for source in CLIENTS:
        of_clients[source] = wait_until(
            lambda source=source: ask(wire.c, FAR["ipv4"], 9999, source), PATIENCE, "b")[1:3]
        said = wait_until(lambda source=source: ask(wire.c, wire.public, port, source), PATIENCE,
                          "the server inside")
        assert said[1:3] == of_clients[source]
    assert len({tuple(ends) for ends in of_clients.values()}) == len(CLIENTS)
    mapped.kill()
    mapped.wait()
    # An error comes back about what the client has sent (RFC 5508 REQ-7).
    for source in CLIENTS:
        # An answer of before may be on its way.
        wait_until(lambda source=source: ask(wire.c, wire.public, port, source) == ["refused"],
                   PATIENCE, "an error")


def test_what_no_mapping_waits_for_is_dropped(wire):
    for source in CLIENTS[:2]:
        assert not ask(wire.c, wire.public, 2000, source)
    wait_until(lambda: wire.running.audit()["dropped"].get("nat_no_mapping", 0) >= 2, PATIENCE,
               "two drops")
