# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What hosts are told of packets that a function in front has translated: refusals of a `firewall`
behind `nat`, and reports of `route` behind `nat` and behind `synproxy`. The kernel's hosts accept
what is about a packet that they have sent, and nothing else."""

import contextlib
import os
import shutil

import pytest

from processes import PATIENCE, wait_until
from routed import (FAR, RIGHT, ROUTES, functions_between, kernel_router, lan, lay_left, lay_right,
                    set_mtu, wait_for_addresses, wan)
from test_stateful_firewall import serving
from test_synproxy import RULES as PROXY_RULES
from topology import Topology
from wire import PAGES, Wire, digest

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root"),
              pytest.mark.skipif(shutil.which("nft") is None, reason="nft is not installed")]

PUBLIC = "203.0.113.1"
SMALL = 1300  # MTU behind the router
TOPOLOGY = """
ports:
  lan: {{ device: afpacket, interface: {a}, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  wan: {{ device: afpacket, interface: {b}, mac: "02:00:00:00:00:0b", mtu: {mtu},
         addresses: [192.0.2.2/30] }}
functions:
  flow: {{ type: flow, max: 4096 }}
  nat: {{ type: nat, inside: lan, pool: 203.0.113.1, max: 4096,
         publish: ["tcp 203.0.113.1:8081 -> 10.1.0.5:8080",
                   "udp 203.0.113.1:5353 -> 10.1.0.5:53"] }}
  wall: {{ type: firewall, rules: wall.rules, default: pass, non_ip: pass }}
  route: {{ type: route, table: nat.routes }}
paths:
  main: {{ from: [lan, wan], to: wan, run: [flow, nat, wall, route], lanes: 4 }}
"""
# Of what is behind the translation of a destination.
REJECTS = """
reject tcp any -> any port 23
reject udp any -> any port 53
reject tcp any -> 10.1.0.5 port 8080
"""
NFT = """
table ip nat {{
  chain out {{ type nat hook postrouting priority srcnat;
    oifname {b} ip saddr 10.1.0.0/24 snat to 203.0.113.1; }}
  chain in {{ type nat hook prerouting priority dstnat;
    ip daddr 203.0.113.1 tcp dport 8081 dnat to 10.1.0.5:8080
    ip daddr 203.0.113.1 udp dport 5353 dnat to 10.1.0.5:53
  }}
}}
table ip filter {{
  chain f {{ type filter hook forward priority 0;
    tcp dport 23 reject with tcp reset
    udp dport 53 reject
    ip daddr 10.1.0.5 tcp dport 8080 reject with tcp reset
  }}
}}
"""
# What the kernel says of a connection, or of a datagram that is to be answered: KIND ADDRESS PORT
# SECONDS.
CLIENT = """
import errno, socket, sys
kind = getattr(socket, sys.argv[1])
with socket.socket(socket.AF_INET, kind) as client:
    client.settimeout(float(sys.argv[4]))
    try:
        client.connect((sys.argv[2], int(sys.argv[3])))
        if kind == socket.SOCK_DGRAM:
            client.send(b"a question")
            client.recv(100)
        print("open", end="")
    except OSError as error:
        print(errno.errorcode.get(error.errno, str(error)), end="")
"""
# Takes one connection, and writes what it brings: ADDRESS FILE.
TAKER = """
import socket, sys
with open(sys.argv[2], "wb", buffering=0) as file:
    connection = socket.create_server(("", 7001)).accept()[0]
    while data := connection.recv(65536):
        file.write(data)
"""
# Brings it: ADDRESS FILE. Ends when all of it has been acknowledged.
GIVER = """
import socket, sys
with socket.create_connection((sys.argv[1], 7001)) as out:
    out.sendall(open(sys.argv[2], "rb").read())
    out.shutdown(socket.SHUT_WR)
    out.recv(1)
"""


@contextlib.contextmanager
def translated(backend, folder, mtu=1500):
    """`wire.a` is inside, `wire.b` outside."""
    with Wire(addresses=("10.1.0.5/24", "192.0.2.1/30"), no_dad=True) as wire:
        wire.running = None
        lay_left(wire.a)
        lay_right(wire.b)
        if backend == "kernel":
            set_mtu(wire.middle, wire.port_b, mtu)
            (folder / "nat.nft").write_text(NFT.format(b=wire.port_b))
            with kernel_router(wire.middle, {"lan": lan(wire.port_a), "wan": wan(wire.port_b)},
                               ROUTES):
                wire.in_middle("nft", "-f", folder / "nat.nft")
                wait_for_addresses(wire.a.namespace, wire.b.namespace, wire.middle)
                wire.a.wait_for(RIGHT["ipv4"])
                yield wire
            return
        (folder / "nat.routes").write_text("10.2.0.0/16 wan via 192.0.2.1\n")
        (folder / "wall.rules").write_text(REJECTS)
        text = TOPOLOGY.format(a=wire.port_a, b=wire.port_b, mtu=mtu)
        with Topology(folder, text, prefix=wire.prefix) as running:
            wire.a.wait_for(RIGHT["ipv4"])
            wire.running = running
            yield wire
            running.settle()


def refusal(host, kind, address, port, patience=PATIENCE):
    return host.run("python3", "-c", CLIENT, kind, address, port, patience,
                    timeout=2 * PATIENCE).stdout


def refusals(host, address, tcp, udp):
    return [refusal(host, "SOCK_STREAM", address, tcp), refusal(host, "SOCK_DGRAM", address, udp)]


@pytest.fixture(name="backend", params=["kernel", "millrace"])
def fixture_backend(request):
    return request.param


def test_a_refusal_behind_nat_reaches_both_sides(tmp_path, backend):
    with translated(backend, tmp_path) as wire:
        assert refusals(wire.a, RIGHT["ipv4"], 23, 53) == ["ECONNREFUSED"] * 2
        assert refusals(wire.a, FAR["ipv4"], 23, 53) == ["ECONNREFUSED"] * 2
        assert refusals(wire.b, PUBLIC, 8081, 5353) == ["ECONNREFUSED"] * 2


def test_a_host_behind_nat_learns_what_fits(tmp_path, backend):
    (tmp_path / "page").write_bytes(os.urandom(1 << 20))
    with translated(backend, tmp_path, SMALL) as wire:
        with serving(wire.b, TAKER, tmp_path / "taken", port=7001):
            wire.a.run("python3", "-c", GIVER, RIGHT["ipv4"], tmp_path / "page")
            wait_until(lambda: digest(tmp_path / "taken") == digest(tmp_path / "page"), PATIENCE,
                       "the whole page")
        wire.a.run("ip", "route", "flush", "cache")

        def told():
            ping = ("ping", "-M", "do", "-c", "1", "-s", "1400", RIGHT["ipv4"])
            return f"mtu = {SMALL}" in wire.a.run(*ping, check=False).stdout
        wait_until(told, PATIENCE, "what fits")


def test_a_host_behind_nat_learns_that_none_answers(tmp_path):
    """A connection that begins: of a datagram's socket the kernel keeps this from programs. A host
    behind the kernel's translation is told nothing."""
    with translated("millrace", tmp_path) as wire:
        wire.b.run("ip", "address", "del", "192.0.2.1/30", "dev", "eth")
        wait_until(lambda: refusal(wire.a, "SOCK_STREAM", RIGHT["ipv4"], 80, 5) == "EHOSTUNREACH",
                   PATIENCE, "a refusal")


PROXIED = """
ports:
  lan: {{ device: afpacket, interface: {a}, mac: "02:00:00:00:00:0a", mtu: {lan},
         addresses: [10.1.0.1/24] }}
  wan: {{ device: afpacket, interface: {b}, mac: "02:00:00:00:00:0b", mtu: {wan},
         addresses: [192.0.2.2/30] }}
functions:
  flow: {{ type: flow, max: 4096 }}
  proxy: {{ type: firewall, rules: proxy.rules, non_ip: pass }}
  route: {{ type: route, table: empty.routes }}
paths:
  main: {{ from: [lan, wan], run: [flow, proxy, route] }}
"""


def test_a_server_behind_synproxy_learns_what_fits(tmp_path):
    (tmp_path / "proxy.rules").write_text(PROXY_RULES)
    (tmp_path / "page").write_bytes(os.urandom(1 << 20))
    with functions_between(tmp_path, PROXIED, lan=SMALL, wan=1500) as wire:
        with serving(wire.b, PAGES, tmp_path, port=8080):
            wire.a.run("curl", "-sS", "--max-time", PATIENCE, "-o", tmp_path / "fetched",
                       f"http://{wire.b.ip}:8080/page", timeout=2 * PATIENCE)
        assert digest(tmp_path / "fetched") == digest(tmp_path / "page")
        assert wire.running.settle()["generated"]["report"] >= 1
