# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Rules over payloads and streams, tried the slow way. Shares no code with the path.

A rule is made here, as text for ids and as tests for search() alike. It is looked for in each
packet of UDP, and in what a receiver of TCP reads.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from capture_records import packets_of

TCP, UDP = 6, 17


@dataclass
class Content:
    word: bytes
    nocase: bool = False
    negated: bool = False
    offset: int | None = None
    depth: int | None = None
    distance: int | None = None
    within: int | None = None

    def text(self):
        quoted = "".join(f"|{byte:02x}|" for byte in self.word)
        numbers = "".join(f" {name}:{value};" for name in ("offset", "depth", "distance", "within")
                          if (value := getattr(self, name)) is not None)
        return (f'content:{"!" if self.negated else ""}"{quoted}";'
                f'{" nocase;" if self.nocase else ""}{numbers}')

    def bounds(self, data, before):
        """Where a match, behind the one that ended at `before`, begins and ends at the farthest."""
        low, high = 0, len(data)
        if self.distance is not None or self.within is not None:
            low = before + (self.distance or 0)
            high = before + self.within if self.within is not None else high
            if self.within is not None and self.distance:
                high = before + self.distance + self.within
        else:
            low = self.offset or 0
            if self.depth is not None:
                high = low + self.depth
        return low, high

    def waits(self, data, before):
        """A negated one is undecided while bytes that may deny it can come."""
        return self.negated and self.bounds(data, before)[1] > len(data)

    def ends(self, data, before):
        """Where each match ends, behind the match that ended at `before`."""
        low, high = self.bounds(data, before)
        text, word = (data.lower(), self.word.lower()) if self.nocase else (data, self.word)
        return [at + len(word) for at in range(max(low, 0), min(high, len(data)) - len(word) + 1)
                if text[at:at + len(word)] == word]


@dataclass
class Pcre:
    expression: bytes
    relative: bool = False
    negated: bool = False

    def text(self):
        return (f'pcre:{"!" if self.negated else ""}"/{self.expression.decode()}/s'
                f'{"R" if self.relative else ""}";')

    def waits(self, _data, _before):
        return False

    def ends(self, data, before):
        return [found.end() for found in
                re.compile(self.expression, re.DOTALL).finditer(data, before if self.relative
                                                                else 0)]


@dataclass
class Rule:
    sid: int
    protocol: str
    tests: list = field(default_factory=list)

    def text(self):
        return (f'alert {self.protocol} any any -> any any (msg:"made {self.sid}"; '
                f'{" ".join(test.text() for test in self.tests)} sid:{self.sid}; rev:1;)')

    def search(self, data, is_whole=True, number=0, before=0):
        """True if all tests from `number` on hold. `is_whole`: no byte follows; otherwise what
        waits for more does not hold."""
        if number == len(self.tests):
            return True
        test = self.tests[number]
        ends = test.ends(data, before)
        if test.negated:
            if not is_whole and test.waits(data, before):
                return False
            return not ends and self.search(data, is_whole, number + 1, before)
        return any(self.search(data, is_whole, number + 1, end) for end in ends)


def ip_of(frame):
    """(addresses, protocol, payload of IP) of a whole packet, or None."""
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    kind, ip = frame[at:at + 2], frame[at + 2:]
    if kind == b"\x08\x00" and len(ip) >= 20 and ip[0] >> 4 == 4:
        header, total = (ip[0] & 15) * 4, int.from_bytes(ip[2:4])
        if int.from_bytes(ip[6:8]) & 0x3FFF or header < 20 or not header <= total <= len(ip):
            return None
        return (ip[12:16], ip[16:20]), ip[9], ip[header:total]
    if kind == b"\x86\xdd" and len(ip) >= 40 and ip[0] >> 4 == 6:
        end = 40 + int.from_bytes(ip[4:6])
        return ((ip[8:24], ip[24:40]), ip[6], ip[40:end]) if end <= len(ip) else None
    return None


def transport_of(frame):
    """(protocol, end, end, TCP's sequence and flags, data) of a packet of TCP or UDP, or None."""
    found = ip_of(frame)
    if not found or found[1] not in (TCP, UDP):
        return None
    (source, destination), protocol, segment = found
    if len(segment) < (20 if protocol == TCP else 8):
        return None
    ends = ((source, segment[:2]), (destination, segment[2:4]))
    if protocol == UDP:
        return protocol, *ends, (0, 0), segment[8:]
    header = (segment[12] >> 4) * 4
    if not 20 <= header <= len(segment):
        return None
    return protocol, *ends, (int.from_bytes(segment[4:8]), segment[13]), segment[header:]


def directions(capture):
    """((protocol, source, destination), datagrams or [stream]) of each direction of each flow. A
    stream begins with its SYN and ends with the first hole."""
    datagrams, segments, starts = defaultdict(list), defaultdict(list), {}
    for packet in packets_of(capture)[1]:
        found = transport_of(packet[0])
        if not found:
            continue
        protocol, source, destination, (sequence, flags), data = found
        key = (protocol, source, destination)
        if protocol == UDP:
            datagrams[key].append(data)
        elif flags & 2:
            if key in starts and starts[key] != sequence + 1:
                starts[key] = None  # the ports serve a second time: not judged
            else:
                starts[key] = sequence + 1
        elif data:
            segments[key].append((sequence, data))
    for key, datas in datagrams.items():
        yield key, datas
    for key, pieces in segments.items():
        other = (key[0], key[2], key[1])
        if starts.get(key) is None or starts.get(other) is None:
            continue
        yield key, [stream_of(starts[key], pieces)]


def stream_of(start, pieces):
    """The bytes from `start` on, until one is missing. The first version of a byte counts."""
    known = {}
    for sequence, data in pieces:
        at = (sequence - start) % 2**32
        if at < 2**31:
            for number, byte in enumerate(data, at):
                known.setdefault(number, byte)
    stream = bytearray()
    while len(stream) in known:
        stream.append(known[len(stream)])
    return bytes(stream)
