# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Flows of captured Ethernet frames: streams of TCP in order, datagrams of UDP."""

import ipaddress
from dataclasses import dataclass, field

TCP, UDP = 6, 17
VLAN_TYPES = (b"\x81\x00", b"\x88\xa8")
SYN, ACK = 2, 16


@dataclass
class Flow:
    """Direction 0 is that of its first packet."""

    protocol: int
    client: tuple  # address, port
    server: tuple
    pieces: list = field(default_factory=list)  # (direction, bytes) as they came in order
    expected: list = field(default_factory=lambda: [None, None])  # next sequence numbers
    waiting: list = field(default_factory=lambda: [{}, {}])

    def text(self, direction):
        return b"".join(data for of, data in self.pieces if of == direction)

    def take(self, direction, sequence, data, is_syn):
        """A segment of TCP; what has come before is not taken again."""
        if is_syn:
            sequence = (sequence + 1) % 2**32
            self.expected[direction] = sequence
        if self.expected[direction] is None or not data:
            return
        self.waiting[direction].setdefault(sequence, data)
        while True:
            for at, bytes_ in sorted(self.waiting[direction].items()):
                behind = (self.expected[direction] - at) % 2**32
                if behind < 2**31 and behind < len(bytes_):
                    self.pieces.append((direction, bytes_[behind:]))
                    self.expected[direction] = (at + len(bytes_)) % 2**32
                    del self.waiting[direction][at]
                    break
            else:
                return


def network_of(frame):
    """(protocol, source, destination, rest) of IPv4 and IPv6 without extensions; or None."""
    at = 12
    while frame[at:at + 2] in VLAN_TYPES:
        at += 4
    kind, packet = frame[at:at + 2], frame[at + 2:]
    if kind == b"\x08\x00" and len(packet) >= 20:
        if int.from_bytes(packet[6:8]) & 0x3FFF:
            return None
        end = int.from_bytes(packet[2:4]) or len(packet)
        return packet[9], packet[12:16], packet[16:20], packet[(packet[0] & 15) * 4:end]
    if kind == b"\x86\xdd" and len(packet) >= 40:
        end = 40 + int.from_bytes(packet[4:6])
        return packet[6], packet[8:24], packet[24:40], packet[40:end]
    return None


def flows_of(frames):
    """Flows in the order of their first packets; of TCP those that begin with a SYN."""
    flows, done = {}, []
    for frame in frames:
        network = network_of(frame)
        if network is None or network[0] not in (TCP, UDP) or len(network[3]) < 8:
            continue
        protocol, source, target, rest = network
        ends = ((ipaddress.ip_address(source), int.from_bytes(rest[:2])),
                (ipaddress.ip_address(target), int.from_bytes(rest[2:4])))
        flags = rest[13] if protocol == TCP and len(rest) >= 20 else 0
        key = (protocol, *sorted(ends))
        if protocol == TCP and flags & (SYN | ACK) == SYN or protocol == UDP and key not in flows:
            known = flows.get(key)
            if known is None or known.client != ends[0] or known.pieces:
                flows[key] = Flow(protocol, *ends)
                done.append(flows[key])
        flow = flows.get(key)
        if flow is None or (protocol == TCP and len(rest) < 20):
            continue
        direction = 0 if ends[0] == flow.client else 1
        if protocol == UDP:
            flow.pieces.append((direction, rest[8:]))
        else:
            flow.take(direction, int.from_bytes(rest[4:8]), rest[(rest[12] >> 4) * 4:],
                      bool(flags & SYN))
    return done
