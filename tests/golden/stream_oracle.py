# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The byte streams of TCP in captured Ethernet frames, put together slowly: the version of a byte
that came first counts. Shares no code with the path."""

import socket
import struct
from dataclasses import dataclass, field

TCP = 6
FIN, SYN, RST, ACK = 1, 2, 4, 16
VLAN_TYPES = (0x8100, 0x88A8, 0x9100)
PPPOE = 0x8864  # RFC 2516
PPP_TYPES = {b"\x00\x21": 0x0800, b"\x00\x57": 0x86DD}
EXTENSIONS = (0, 43, 60)  # hop by hop, routing, destination
FRAGMENT = 44


@dataclass
class Side:
    start: int | None = None  # sequence number of position 0
    picked_up: bool = False
    bytes: dict = field(default_factory=dict)  # by position; negative: in front of the first seen
    pieces: list = field(default_factory=list)  # (position, bytes) in the order in which they came
    next: int = 0

    def take(self, sequence, data):
        if self.start is None:
            self.start, self.picked_up = sequence, True
        near = self.start + self.next
        distance = (sequence - near + 2**31) % 2**32 - 2**31
        position = self.next + distance
        for number, byte in enumerate(data):
            if position + number >= 0 or self.picked_up:
                self.bytes.setdefault(position + number, byte)
        while self.next in self.bytes:
            self.next += 1

    def text(self):
        """All that came, with zeros for what is missing."""
        if not self.bytes:
            return b""
        base = min(self.bytes) if self.picked_up else 0
        whole = bytearray(max(self.bytes) + 1 - base)
        for position, byte in self.bytes.items():
            whole[position - base] = byte
        return bytes(whole)

    def missing(self):
        if not self.bytes:
            return 0
        base = min(self.bytes) if self.picked_up else 0
        return max(self.bytes) + 1 - base - len(self.bytes)


@dataclass
class Connection:
    ends: tuple  # (address, port) of the first packet's source, and of its destination
    sides: list = field(default_factory=lambda: [Side(), Side()])
    order: list = field(default_factory=list)  # (direction, bytes) as they could be read


class Fragments:
    """Datagrams of which parts have come."""

    def __init__(self):
        self.parts = {}

    def add(self, key, offset, more, data):
        """All of the datagram once it is whole, else None."""
        parts = self.parts.setdefault(key, {"bytes": {}, "end": None})
        for number, byte in enumerate(data):
            parts["bytes"].setdefault(offset + number, byte)
        if not more:
            parts["end"] = offset + len(data)
        if parts["end"] is None or any(at not in parts["bytes"] for at in range(parts["end"])):
            return None
        del self.parts[key]
        return bytes(parts["bytes"][at] for at in range(parts["end"]))


def ipv4(packet, fragments):
    header = (packet[0] & 15) * 4
    total = int.from_bytes(packet[2:4])
    if header < 20 or total < header or len(packet) < total:
        return None
    word = int.from_bytes(packet[6:8])
    payload = packet[header:total]
    ends = packet[12:16], packet[16:20]
    if word & 0x3FFF:
        key = (4, packet[4:6], packet[9], ends)
        payload = fragments.add(key, (word & 0x1FFF) * 8, bool(word & 0x2000), payload)
    return None if payload is None else (packet[9], *ends, payload)


def ipv6(packet, fragments):
    total = 40 + int.from_bytes(packet[4:6])
    if len(packet) < total:
        return None
    kind, at = packet[6], 40
    ends = packet[8:24], packet[24:40]
    while kind in EXTENSIONS and at + 8 <= total:
        kind, at = packet[at], at + (packet[at + 1] + 1) * 8
    payload = packet[at:total]
    if kind == FRAGMENT and len(payload) >= 8:
        word = int.from_bytes(payload[2:4])
        kind, key = payload[0], (6, payload[4:8], ends)
        payload = fragments.add(key, word & 0xFFF8, bool(word & 1), payload[8:])
    return None if payload is None else (kind, *ends, payload)


def segment_of(frame, fragments):
    """(source, destination, sequence, flags, data) of a TCP segment that is whole, or None."""
    at = 12
    while int.from_bytes(frame[at:at + 2]) in VLAN_TYPES:
        at += 4
    kind, packet = int.from_bytes(frame[at:at + 2]), frame[at + 2:]
    if kind == PPPOE and len(packet) >= 8:
        kind, packet = PPP_TYPES.get(packet[6:8]), packet[8:]
    found = None
    if kind == 0x0800 and len(packet) >= 20 and packet[0] >> 4 == 4:
        found = ipv4(packet, fragments)
    elif kind == 0x86DD and len(packet) >= 40 and packet[0] >> 4 == 6:
        found = ipv6(packet, fragments)
    if found is None or found[0] != TCP or len(found[3]) < 20:
        return None
    _, source, target, tcp = found
    header = (tcp[12] >> 4) * 4
    if header < 20 or header > len(tcp):
        return None
    source_port, target_port, sequence = struct.unpack("!HHI", tcp[:8])
    family = socket.AF_INET if len(source) == 4 else socket.AF_INET6
    return ((socket.inet_ntop(family, source), source_port),
            (socket.inet_ntop(family, target), target_port), sequence, tcp[13], tcp[header:])


def take_segment(connection, segment):
    source, _, sequence, flags, data = segment
    direction = 0 if source == connection.ends[0] else 1
    side = connection.sides[direction]
    if flags & SYN:
        sequence = (sequence + 1) % 2**32
        if side.start is None:
            side.start = sequence
    if data and not flags & RST:
        before = side.next
        side.take(sequence, data)
        if side.next > before:
            connection.order.append((direction, side.text()[before:side.next]))


def is_another(connection, segment):
    """The SYN begins another connection with the same ends. One of a side that has said nothing is
    the other half of a simultaneous open (RFC 9293 3.5)."""
    source, _, sequence, flags, _ = segment
    if not flags & SYN or flags & ACK:
        return False
    side = connection.sides[0 if source == connection.ends[0] else 1]
    is_used = any(one.bytes for one in connection.sides)
    return is_used and side.start not in (None, (sequence + 1) % 2**32)


def connections_of(frames):
    """Connections in the order of their first packets."""
    known, all_ = {}, []
    fragments = Fragments()
    for frame in frames:
        segment = segment_of(frame, fragments)
        if segment is None:
            continue
        key = tuple(sorted(segment[:2]))
        if key not in known or is_another(known[key], segment):
            known[key] = Connection(segment[:2])
            all_.append(known[key])
        take_segment(known[key], segment)
    return all_


def files_of(connections):
    """What `streams` names the files of these: {name: (bytes, missing)}."""
    files = {}
    for connection in connections:
        for direction, side in enumerate(connection.sides):
            if not side.bytes:
                continue
            ends = connection.ends if direction == 0 else connection.ends[::-1]
            stem = "-".join(f"{address}.{port}" for address, port in ends)
            name, number = stem, 1
            while name in files:
                number += 1
                name = f"{stem}-{number}"
            files[name] = side.text(), side.missing()
    return files
