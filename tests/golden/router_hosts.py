# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Plays the hosts around a router: answers its questions for neighbours, sends frames, and says
what came out. No time decides when that is all: a marker goes the same way behind the frames."""

import ipaddress
import select
import socket

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6ND_NA, ICMPv6NDOptDstLLAddr, IPv6
from scapy.layers.l2 import ARP, Ether

PATIENCE = 120
MARK = b"MARK BEHIND ALL"  # with its number, shorter than the smallest MTU
# Router solicitations and multicast listener reports: not asked for.
CHATTER = (130, 131, 132, 133, 143)


def marker(world, port, number):
    """A datagram from there to another port's host, and that port."""
    other = "wan" if port != "wan" else "lan"
    to = {"wan": "10.2.255.254", "lan": world.hosts["host"].ips[0]}[other]
    return other, bytes(Ether(dst=world.ports[port].mac, src="02:00:00:00:ff:01") /
                        IP(src="198.18.0.1", dst=to) / UDP(sport=9, dport=9) /
                        (MARK + f" {port} {number}.".encode()))


def question(frame):
    """The neighbour that a frame asks for, or None: ARP requests and solicitations."""
    if frame[12:14] == b"\x08\x06" and frame[20:22] == b"\x00\x01":
        return ipaddress.ip_address(frame[38:42])
    if frame[12:14] == b"\x86\xdd" and frame[20] == 58 and frame[54:55] == b"\x87":
        return ipaddress.ip_address(frame[62:78])
    return None


def answer(frame, target, mac):
    """What the neighbour says to that question."""
    asked = Ether(frame)
    if ARP in asked:
        return bytes(Ether(dst=asked.src, src=mac) / ARP(
            op=2, hwsrc=mac, psrc=str(target), hwdst=asked[ARP].hwsrc, pdst=asked[ARP].psrc))
    return bytes(Ether(dst=asked.src, src=mac) / IPv6(
        src=str(target), dst=asked[IPv6].src, hlim=255) / ICMPv6ND_NA(
            tgt=str(target), R=0, S=1, O=1) / ICMPv6NDOptDstLLAddr(lladdr=mac))


def is_chatter(frame):
    if frame[12:14] != b"\x86\xdd":
        return False
    at = 54 + 8 * (frame[20] == 0)  # behind the hop-by-hop option that reports have
    return frame[at:at + 1] and frame[at] in CHATTER


class Hosts:
    """`peers`: port -> packet socket. `settle()` returns when the router has nothing in hand."""

    def __init__(self, world, peers, settle=lambda: None):
        self.world, self.peers, self.settle = world, peers, settle
        self.names = {peer: name for name, peer in peers.items()}
        self.neighbours = world.neighbours()
        self.marks = 0
        self.asked_before = set()  # in steps before: they may be asked for again
        self.frames = []  # (port, frame) of this step
        self.answered = 0

    def send(self, port, frame):
        self.peers[port].send(frame)

    def read(self, seconds):
        """Whether something came by then; questions that a host knows are answered."""
        ready = select.select(list(self.names), [], [], seconds)[0]
        for peer in ready:
            frame, address = peer.recvfrom(65536)
            if address[2] == socket.PACKET_OUTGOING or is_chatter(frame):
                continue
            port, target = self.names[peer], question(frame)
            mac = target and self.neighbours.get((port, target))
            if mac:
                self.send(port, answer(frame, target, mac))
                self.answered += 1
            self.frames.append((port, frame))
        return bool(ready)

    def read_until(self, condition, what):
        while not condition():
            if not self.read(PATIENCE):
                raise TimeoutError(f"nothing more comes out, and not {what}")

    def flush(self):
        """Everything that the router makes of what was sent is in `frames`, also what waited for
        the answer of a host."""
        before = None
        while before != self.answered:
            before = self.answered
            self.flush_once()

    def flush_once(self):
        self.marks += 1
        awaited = set()
        for port in self.peers:
            other, mark = marker(self.world, port, self.marks)
            self.send(port, mark)
            awaited.add((other, mark[42:]))

        def back():
            return all(any(mark in frame for at, frame in self.frames if at == port)
                       for port, mark in awaited)

        self.read_until(back, "a frame that has to be forwarded")
        self.settle()
        while self.read(0):
            pass

    def greet(self):
        """The router learns all hosts, as it would from their first packets."""
        for host in self.world.hosts.values():
            port = self.world.ports[host.port]
            self.send(host.port, bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src=host.mac) / ARP(
                op=1, hwsrc=host.mac, psrc=host.ips[0], pdst=port.ip)))
            for ip in host.ips[1:] if len(port.families()) > 1 else ():
                self.send(host.port, solicitation(host.mac, ip, port))
        self.flush()
        self.frames = []

    def step(self, frames, done=None):
        """[(port, frame)] that come out for these; `done(outputs)` says, in cases where the router
        has to wait for something itself, when that was all."""
        self.frames = []
        for port, frame in frames:
            self.send(port, frame)
        self.flush()
        if done:
            self.read_until(lambda: done(self.outputs()), "what the case awaits")
        outputs = self.outputs()
        self.end_step()
        return outputs

    def outputs(self):
        """Without markers, questions that a host has answered, and what former cases left."""
        return [(port, frame) for port, frame in self.frames
                if MARK not in frame and not self.is_household(port, frame)]

    def is_household(self, port, frame):
        """What a neighbour answers, is asked again, or alone: whether it is still there."""
        target = question(frame)
        return target is not None and ((port, target) in self.neighbours or not frame[0] & 1
                                       or target in self.asked_before)

    def end_step(self):
        self.asked_before |= {question(frame) for _, frame in self.frames}
        self.asked_before.discard(None)


def solicitation(mac, ip, port):
    """A host asks for the router's address."""
    from scapy.layers.inet6 import ICMPv6ND_NS, ICMPv6NDOptSrcLLAddr
    group = ipaddress.IPv6Address(port.ip6).packed[-3:]
    return bytes(Ether(dst="33:33:ff:" + group.hex(":"), src=mac) / IPv6(
        src=ip, dst="ff02::1:ff" + group[:1].hex() + ":" + group[1:].hex(), hlim=255) /
        ICMPv6ND_NS(tgt=port.ip6) / ICMPv6NDOptSrcLLAddr(lladdr=mac))
