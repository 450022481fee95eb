# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Flows of captured packets, as ids_judge looks at them. Shares no code with the path."""

import functools
import ipaddress
import re
from dataclasses import dataclass, field

import ids_messages
from ids_messages import Unclear

ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58
SYN, ACK, FIN, RST = 2, 16, 1, 4
METHODS = re.compile(rb"(GET|PUT|POST|HEAD|OPTIONS|DELETE|PATCH|PROPFIND|TRACE|CONNECT) ")
# It may be taken for HTTP.
LIKE_HTTP = re.compile(rb"\s*[!-~]+[ \t]+(/|https?:)|\s*(%s)[ \t]|\s+\Z" % METHODS.pattern[1:-2],
                       re.I)


@dataclass
class Packet:
    number: int  # in its capture
    time: int  # ns
    source: tuple  # address, port
    target: tuple
    protocol: int
    fields: dict
    payload: bytes
    flags: int = 0
    sequence: int = 0
    direction: int = 0
    end: int = 0  # of a segment that is next: of the stream


@dataclass
class Flow:
    """Direction 0 is that of its first packet."""

    protocol: int
    client: tuple
    server: tuple
    packets: list = field(default_factory=list)
    is_clear: bool = True  # it begins with its handshake, and nothing of it is missing

    def side(self, direction):
        return (self.client, self.server) if direction == 0 else (self.server, self.client)

    @functools.cached_property
    def streams(self):
        return [b"".join(self.pieces(direction)) for direction in (0, 1)]

    def pieces(self, direction):
        """Bytes that come next, in the order in which they can be read. Sets Packet.end."""
        of = [one for one in self.packets if one.direction == direction]
        start = next((one.sequence + 1 for one in of if one.flags & SYN), None)
        waiting, done = [], 0
        for packet in of:
            if start is None or not packet.payload or packet.flags & (SYN | RST):
                continue
            waiting.append(((packet.sequence - start) % 2**32, packet.payload))
            while found := next(((at, data) for at, data in waiting
                                 if at <= done < at + len(data)), None):
                yield found[1][done - found[0]:]
                done = found[0] + len(found[1])
            packet.end = done

    @functools.cached_property
    def cuts(self):
        """Of each direction: (number of the packet, length of the stream by then)."""
        _ = self.streams
        return [[(one.number, one.end) for one in self.packets
                 if one.direction == direction and one.end] for direction in (0, 1)]

    @functools.cached_property
    def is_in_order(self):
        """Each segment is the next one: none is missing, early, or comes twice."""
        for direction in (0, 1):
            done = 0
            of = [one for one in self.packets if one.direction == direction and one.payload]
            start = next((one.sequence + 1 for one in self.packets
                          if one.direction == direction and one.flags & SYN), None)
            for one in of:
                if start is None or (one.sequence - start) % 2**32 != done:
                    return False
                done += len(one.payload)
        return True

    @property
    def is_whole(self):
        return {one.direction for one in self.packets if one.flags & FIN} == {0, 1}

    @functools.cached_property
    def app(self):
        """What it carries; "": nothing that is known; None: unclear."""
        if self.protocol != TCP:
            return self.app_of_datagrams()
        client, server = self.streams
        if METHODS.match(client):
            return "http"
        if client[:2] == b"\x16\x03" and client[5:6] == b"\x01" or (
                server[:2] == b"\x16\x03" and server[5:6] == b"\x02"):
            return "tls"
        if client.startswith(b"SSH-") or server.startswith(b"SSH-"):
            return "ssh"
        if re.match(rb"(EHLO|HELO) ", client) and server.startswith(b"220"):
            return "smtp"
        if re.match(rb"USER ", client) and server.startswith(b"220"):
            return "ftp"
        if client[4:8] in (b"\xffSMB", b"\xfeSMB") and client[:1] == b"\0":
            return "smb"
        is_like = (LIKE_HTTP.match(client) or server.startswith((b"HTTP/", b"220"))
                   or 53 in (self.client[1], self.server[1]) or client[4:8] == server[4:8] == b""
                   or re.match(rb"(EHLO|HELO|MAIL FROM|USER|PASS)", client, re.I)
                   or b"SMB" in client[:80] + server[:80] or b"\x16\x03" in client + server)
        return None if is_like else ""

    def app_of_datagrams(self):
        if self.protocol != UDP or 53 not in (self.client[1], self.server[1]):
            return ""
        try:
            for one in self.packets:
                ids_messages.dns_message(one.payload, is_answer=one.direction == 1)
        except Unclear:
            return None
        return "dns" if self.server[1] == 53 else None

    @functools.cached_property
    def messages(self):
        """Of its app; None: not read."""
        try:
            if self.app == "http":
                return ids_messages.http_messages(self.streams)
            if self.app == "tls":
                return ids_messages.tls_messages(self.streams)
            if self.protocol == UDP and self.app == "dns":
                return [ids_messages.dns_message(one.payload, one.number) for one in self.packets
                        if one.direction == 0]
        except (Unclear, IndexError):
            return None
        return None if self.app in (None, "dns") else []

    @functools.cached_property
    def text(self):
        """All bytes that a content can be in, one behind the other."""
        found = [one.payload for one in self.packets] + (self.streams if self.protocol == TCP
                                                         else [])
        for message in self.messages or ():
            found += [value for values in message.values.values() for value in values or ()]
        return b"\n\n".join(found).lower()


def packet_of(number, frame, time):
    """A whole packet of TCP, UDP or ICMP, or None."""
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    kind, ip = frame[at:at + 2], frame[at + 2:]
    fields = {}
    if kind == b"\x08\x00" and len(ip) >= 20 and ip[0] >> 4 == 4:
        header, total = (ip[0] & 15) * 4, int.from_bytes(ip[2:4])
        if int.from_bytes(ip[6:8]) & 0x3FFF or header < 20 or not header <= total <= len(ip):
            return None
        ends, protocol, rest = (ip[12:16], ip[16:20]), ip[9], ip[header:total]
        fields.update(ttl=ip[8], id=int.from_bytes(ip[4:6]), fragbits=int.from_bytes(ip[6:8]),
                      fragoffset=0)
    elif kind == b"\x86\xdd" and len(ip) >= 40 and ip[0] >> 4 == 6:
        ends, protocol = (ip[8:24], ip[24:40]), ip[6]
        rest = ip[40:40 + int.from_bytes(ip[4:6])]
        fields.update(ttl=ip[7], fragoffset=0)
    else:
        return None
    source, target = (ipaddress.ip_address(end) for end in ends)
    fields["ip_proto"] = protocol
    made = Packet(number, time, (source, 0), (target, 0), protocol, fields, b"")
    return with_transport(made, rest)


def with_transport(packet, rest):
    fields = packet.fields
    if packet.protocol in (TCP, UDP) and len(rest) >= 8:
        packet.source = (packet.source[0], int.from_bytes(rest[:2]))
        packet.target = (packet.target[0], int.from_bytes(rest[2:4]))
    if packet.protocol == TCP and len(rest) >= 20:
        packet.sequence, packet.flags = int.from_bytes(rest[4:8]), rest[13]
        packet.payload = rest[(rest[12] >> 4) * 4:]
        fields.update(seq=packet.sequence, ack=int.from_bytes(rest[8:12]), flags=rest[13],
                      window=int.from_bytes(rest[14:16]))
    elif packet.protocol == UDP and len(rest) >= 8:
        packet.payload = rest[8:]
    elif packet.protocol in (ICMP, ICMPV6) and len(rest) >= 8:
        packet.payload = rest[8:]
        fields.update(itype=rest[0], icode=rest[1])
        if rest[0] in (0, 8):
            fields.update(icmp_id=int.from_bytes(rest[4:6]), icmp_seq=int.from_bytes(rest[6:8]))
    else:
        return None
    fields["dsize"] = len(packet.payload)
    return packet


def flows_of(records):
    """Flows in the order of their first packets, of (bytes, wire length, time)."""
    flows, order = {}, []
    for number, (frame, _, time) in enumerate(records):
        packet = packet_of(number, frame, time)
        if packet is None:
            continue
        key = (packet.protocol, *sorted((packet.source, packet.target), key=str))
        flow = flows.get(key)
        is_start = packet.flags & (SYN | ACK) == SYN
        if flow is not None and is_start and any(one.payload for one in flow.packets):
            flow.is_clear = False  # the ports serve a second time
        if flow is None:
            flow = flows[key] = Flow(packet.protocol, packet.source, packet.target)
            flow.is_clear = packet.protocol != TCP or is_start
            order.append(flow)
        packet.direction = 0 if packet.source == flow.client else 1
        flow.packets.append(packet)
    return order
