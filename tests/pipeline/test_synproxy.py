# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Real hosts on both sides of a rule of `synproxy`: transfers, losses, deaths of workers, and
floods of SYNs and of ACKs from addresses that no host has."""

import itertools
import json
import os
import shutil

import pytest

from processes import PATIENCE
from test_stateful_firewall import ECHO, Kept, serving
from test_topologies import ROUTER, introduce
from topology import Topology, ask, millrace
from wire import PAGES, Wire, digest

TEXT = """
workers: {{ front: {{ kind: classifier, count: 2, dispatch: flow }} }}
ports:
  lan: {{ device: afpacket, interface: porta, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  wan: {{ device: afpacket, interface: portb, mac: "02:00:00:00:00:0b", addresses: [192.0.2.1/24] }}
functions:
  flow: {{ type: flow, max: 10000 }}
  firewall: {{ type: firewall, rules: {rules}, non_ip: pass }}
  route: {{ type: route, table: none.routes }}
paths:
  all: {{ from: [lan, wan], run: [flow, firewall, route] }}
"""
RULES = """
pass ip any -> any state established,related
pass icmp any -> any
synproxy tcp any -> any port 1-9999 in lan mss 1460 wscale 7 sack-perm timestamp
"""
# Counters behind those of 3 rules and 4 more.
ANSWERED, OPENED, INVALID = "7", "8", "9"
# Sends the segments of numbers FIRST to LAST with those flags from addresses that no host has, all
# unlike.
FLOOD = """
import socket, struct, sys
flags, first, last = (int(word) for word in sys.argv[1:4])
mac, target = sys.argv[4:]
def summed(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth", 0))
front = bytes.fromhex(mac.replace(":", "")) + bytes.fromhex("0200000000ff0800")
to = socket.inet_aton(target)
for number in range(first, last):
    ends = socket.inet_aton(f"10.1.{1 + number // 200 % 200}.{1 + number % 200}") + to
    head = struct.pack("!BBHHHBBH", 0x45, 0, 40, number & 0xffff, 0, 64, 6, 0) + ends
    head = head[:10] + struct.pack("!H", summed(head)) + head[12:]
    part = struct.pack("!HHIIBBHHH", 1024 + number % 60000, 80, number * 7919, number * 31, 0x50,
                       flags, 1000, 0, 0)
    right = summed(ends + struct.pack("!HH", 6, len(part)) + part)
    part = part[:16] + struct.pack("!H", right) + part[18:]
    out.send(front + head + part)
"""
SYN, ACK = 2, 16
# Segments of a flood that a rule has to answer.
FLOODED = 4000


def topology(folder, wire, rules=RULES):
    introduce(wire, "10.1.0.1", "192.0.2.1")
    (folder / "none.routes").write_text("# the networks of the ports\n")
    path = folder / "proxy.rules"
    path.write_text(rules)
    return Topology(folder, TEXT.format(rules=path), prefix=wire.prefix)


def hits(wire, running):
    return wire.metrics_of(running).by("number", "millrace_function_number_hits_total",
                                       function="firewall")


def flows(running):
    said = millrace("flows", running.name, "--json", "--filter", "proto=tcp")
    return len(json.loads(said.stdout)["flows"])


def fetch(wire, folder):
    """curl at a from a server at b, which listens before: a proxy lets the client in at once."""
    (folder / "page").write_bytes(os.urandom(3 << 20))
    with serving(wire.b, PAGES, folder, port=8080):
        wire.a.run("curl", "-sS", "--max-time", PATIENCE, "-o", folder / "fetched",
                   f"http://{wire.b.ip}:8080/page", timeout=2 * PATIENCE)
    assert digest(folder / "fetched") == digest(folder / "page")


def test_transfers_both_ways(tmp_path):
    with Wire(**ROUTER) as wire, topology(tmp_path, wire) as running:
        wire.a.wait_for(wire.b.ip)
        fetch(wire, tmp_path)
        wire.iperf(amount="10M")
        wire.iperf("-R", amount="10M")
        found = hits(wire, running)
        assert found[ANSWERED] >= found[OPENED] >= 5
        audit = running.settle()
    assert audit["generated"]["reply"] >= 2 * found[OPENED]


LOSSY = """
table inet lossy {
  chain i {
    type filter hook input priority 0
    tcp flags & (syn | rst | fin) == 0 meta length > 1000 numgen random mod 100 < 2 drop
  }
}
"""


def sack_recoveries(host):
    said = host.run("nstat", "-az", "TcpExtTCPSackRecovery").stdout
    return int(said.split("TcpExtTCPSackRecovery")[1].split()[0])


@pytest.mark.skipif(shutil.which("nft") is None or shutil.which("nstat") is None,
                    reason="nft or nstat is not installed")
@pytest.mark.parametrize("words, sender", [((), "a"), (("-R",), "b")])
def test_losses_are_made_good_with_sack(tmp_path, words, sender):
    (tmp_path / "lossy.nft").write_text(LOSSY)
    with Wire(**ROUTER) as wire, topology(tmp_path, wire) as running:
        wire.a.wait_for(wire.b.ip)
        for host in (wire.a, wire.b):
            host.run("nft", "-f", tmp_path / "lossy.nft")
        before = sack_recoveries(getattr(wire, sender))
        wire.iperf(*words, amount="10M")
        assert sack_recoveries(getattr(wire, sender)) > before
        fetch(wire, tmp_path)
        running.settle()


def test_a_connection_outlives_workers_and_a_reload(tmp_path):
    with Wire(**ROUTER) as wire, topology(tmp_path, wire) as running:
        wire.a.wait_for(wire.b.ip)
        workers = [name for name in running.lives() if name.startswith("front")]
        assert len(workers) == 2
        with serving(wire.b, ECHO, port=7), Kept(wire.a, wire.b.ip) as kept:
            assert kept.holds()
            for name in workers:
                running.kill(name)
                assert kept.holds()
                running.wait_alive(name)
            with Kept(wire.a, wire.b.ip) as later:
                assert later.holds()
            (tmp_path / "proxy.rules").write_text("pass ip any -> any state established,related\n")
            ask("reload", running.name, "firewall", "--accept-shrunk")
            assert kept.holds()
        running.settle()


# The client is let in before the server says no: what it does next is reset.
CALLER = """
import socket, sys
try:
    with socket.create_connection((sys.argv[1], 8080), 30) as one:
        one.recv(1)
except ConnectionResetError:
    print("reset")
"""


def test_a_refusal_reaches_the_client(tmp_path):
    with Wire(**ROUTER) as wire, topology(tmp_path, wire) as running:
        wire.a.wait_for(wire.b.ip)
        assert wire.a.run("python3", "-c", CALLER, wire.b.ip).stdout == "reset\n"
        running.settle()


def flood(wire, running, flags, counter):
    """Until that counter has FLOODED hits: a port of a host that stands still loses what its ring
    has no room for."""
    piece = FLOODED // 4
    for first in itertools.count(0, piece):
        wire.a.run("python3", "-c", FLOOD, flags, first, first + piece, "02:00:00:00:00:0a",
                   wire.b.ip)
        if hits(wire, running)[counter] >= FLOODED:
            return
        assert first < 100 * FLOODED, "the port lost nearly all of a flood"


def test_floods_leave_no_flows(tmp_path):
    with Wire(**ROUTER) as wire, topology(tmp_path, wire) as running:
        wire.a.wait_for(wire.b.ip)
        with serving(wire.b, ECHO, port=7), Kept(wire.a, wire.b.ip) as kept:
            assert kept.holds()
            before = flows(running)
            assert before == 1
            for flags, counter in ((SYN, ANSWERED), (ACK, INVALID)):
                flood(wire, running, flags, counter)
                assert flows(running) == before
            assert kept.holds()
            assert hits(wire, running)[OPENED] == 1
        audit = running.settle()
    assert audit["dropped"]["rule"] >= FLOODED
