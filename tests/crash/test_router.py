# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Workers of a router die while packets wait for neighbours, leave in fragments, are copied to the
host, answered and reported on. Where the packets end may differ with each blow, but all of them
have an end, no buffer or slot is lost, and no flow is out of order."""

import contextlib
import os
import subprocess

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_RR
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

import topology
from behind import inside, routed
from ordeal import Ordeal
from processes import PATIENCE, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
BLOWS = 8
PARTS = ("egress.0", "classifier.0", "classifier.1", "ingress.lan.0", "ingress.wan.0",
         "ingress.lan.host.0")
ROUTES = "{ type: route, table: none.routes, icmp_rate: 0 }"
MORE = """
batch: { capacity: 32 }
workers:
  classifier: { kind: classifier, count: 2, max: 2 }
"""
# Sends the frames of a file, a line of hex each, again and again until its input ends. Those that
# hold NUMBER get a number instead, which grows. At most 2,000 a second: the host has other work.
SENDER = """
import select, socket, sys, time
frames = [bytes.fromhex(line) for line in open(sys.argv[1])]
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth", 0))
number = 0
print("ready")
while not select.select([sys.stdin], [], [], 0.01)[0]:
    for _ in range(20 // len(frames) + 1):
        for frame in frames:
            number += 1
            try:
                out.send(frame.replace(b"NUMBER--", number.to_bytes(8, "big")))
            except OSError:
                pass  # no room: as on any cable
"""
# Numbers of each flow, by source port; says a line for each that is not above the last one.
RECEIVER = """
import socket
inlet = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
inlet.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
inlet.bind(("::", 7000))
last, count = {}, 0
print("ready")
while True:
    data, (_, port, *_) = inlet.recvfrom(9000)
    if data == b"end":
        break
    number = int.from_bytes(data[:8], "big")
    if number <= last.get(port, 0):
        print("out of order", port, last[port], number)
    last[port], count = number, count + 1
print("received", count, "of", len(last))
"""


def frames_of_a_lan():
    """What hosts of a LAN may send by one router: forwarded, cut, waiting, answered, refused."""
    to_router = Ether(src="02:00:00:00:0a:01", dst="02:00:00:00:00:0a")
    near, far = "10.1.0.5", "192.0.2.1"
    near6, far6 = "2001:db8:1::5", "2001:db8:2::1"
    number = Raw(b"NUMBER--")

    def udp(to, sport=1000, size=0, **ip):
        # No checksum: the number comes later.
        return to_router / IP(src=near, dst=to, **ip) / UDP(sport=sport, dport=7000, chksum=0) / (
            number / Raw(bytes(size)))

    return [
        *(udp(far, sport) for sport in (1001, 1002, 1003)),
        udp(far, 1004, size=1300),  # leaves in fragments
        udp(far, 1004),
        udp(far, size=1300, flags="DF"),  # too long
        *(udp(f"192.0.2.{host}", 1000 + host) for host in (40, 41, 42, 43)),  # they come later
        udp("203.0.113.1"),  # no route
        udp(far, ttl=1),
        udp(far, options=IPOption_RR(length=7, pointer=4, routers=["0.0.0.0"])),
        to_router / IP(src=near, dst="10.1.0.1") / ICMP() / bytes(40),
        to_router / IP(src=near, dst="10.1.0.1") / TCP(sport=9, dport=22, flags="S"),  # the host's
        to_router / IP(src=near, dst="10.1.0.9") / UDP(sport=1, dport=2) / b"redirect",
        to_router / IPv6(src=near6, dst=far6, hlim=1) / UDP(sport=1, dport=2),
        to_router / IPv6(src=near6, dst="2001:db8:2::77") / UDP(sport=1, dport=2) / b"waits",
        to_router / IPv6(src=near6, dst="2001:db8:1::1") / ICMPv6EchoRequest(data=b"echo"),
        to_router / IPv6(src=near6, dst=far6) / UDP(sport=1, dport=2) / bytes(1300),  # too long
        to_router / IP(src=near, dst=far, chksum=1) / UDP(),
        to_router / Raw(bytes(3)),
    ]


@contextlib.contextmanager
def talking(prefix, program, *words):
    started = subprocess.Popen([*prefix, "python3", "-uc", program, *map(str, words)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert started.stdout.readline() == "ready\n"
        yield started
    finally:
        started.kill()
        started.communicate()


@contextlib.contextmanager
def load(wire, folder):
    """Until its end; then what arrived was in order."""
    file = folder / "frames"
    file.write_text("".join(bytes(frame).hex() + "\n" for frame in frames_of_a_lan()))
    with talking(inside(wire.b), RECEIVER) as receiver:
        with talking(inside(wire.a), SENDER, file) as sender:
            yield
            sender.stdin.write("end\n")
            sender.stdin.flush()
            assert sender.wait(PATIENCE) == 0
        end = ("import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
               ".sendto(b'end', ('127.0.0.1', 7000))")
        wire.b.run("python3", "-c", end)
        said = receiver.stdout.read()
    assert "out of order" not in said and said.startswith("received"), said
    count, flows = (int(word) for word in said.split() if word.isdigit())
    assert count > 0 and flows >= 5, said


@pytest.fixture(params=["as it is", "slow egress"])
def programs(request, tmp_path, monkeypatch):
    """A slow one stops in the middle of each burst, so that a kill finds it with one in hand."""
    if request.param == "slow egress":
        monkeypatch.setattr(topology, "BIN", topology.with_program(
            tmp_path / "bin", "slow-io-worker", "millrace-io-worker"))


@pytest.mark.usefixtures("programs")
def test_what_waits_is_cut_copied_or_answered_is_accounted_for(tmp_path, seed):
    with routed(tmp_path, function=ROUTES, more=MORE, wan="192.0.2.2/24", mtu=1280) as (
            wire, running):
        wire.a.wait_for("192.0.2.1")
        ordeal = Ordeal(running, seed)
        with load(wire, tmp_path):
            for blow in range(BLOWS):
                if blow % 2 == 0:  # a neighbour for which packets wait is there now
                    wire.b.add_address(f"192.0.2.{40 + blow // 2}/24")
                parts = ordeal.chance.sample(PARTS, ordeal.chance.choice((1, 1, 2)))
                ordeal.strike(["egress.0"] if blow == 0 else parts)
            audit = running.audit()
            for reason in ("reply", "report", "solicit", "punt", "fragment", "held"):
                assert audit["generated"].get(reason, 0) > 0, (reason, audit)
            held = audit["consumed"]["held"]
            wait_until(lambda: running.audit()["consumed"]["held"] > held, PATIENCE, "they wait")
        audit = running.settle()
        assert audit["consumed"]["held"] == audit["generated"]["held"], audit
        print(f"struck {ordeal.struck}: {audit}")
