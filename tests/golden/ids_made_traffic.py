# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Packets that are likely to match a rule, and near misses: frames of one flow for each."""

import ipaddress
import itertools
import re
import struct

from ids_fill import fill, near_miss
from ids_flows import ACK, FIN, ICMP, SYN, TCP, UDP
from ids_judge import address_fits, port_fits
from ids_rule import PAYLOAD

PUSH = 8
SEGMENT = 1400
PORTS = [80, 443, 25, 21, 53, 445, 139, 1433, 1521, 22, 23, 110, 143, 5060, 8080, *range(1024)]
PLAIN = {"http.user_agent": b"User-Agent", "http.referer": b"Referer", "http.accept": b"Accept",
         "http.accept_enc": b"Accept-Encoding", "http.accept_lang": b"Accept-Language",
         "http.connection": b"Connection", "http.content_type": b"Content-Type",
         "http.location": b"Location", "http.server": b"Server"}
# In front of what a protocol's rules look at: (direction, bytes).
PRELUDES = {"smtp": [(1, b"220 mail ready\r\n"), (0, b"EHLO host\r\n")],
            "ftp": [(1, b"220 files ready\r\n"), (0, b"USER guest\r\n")],
            "ssh": [(0, b"SSH-2.0-client\r\n"), (1, b"SSH-2.0-server\r\n")],
            "smb": [(0, b"\0\0\0\x23\xffSMBr" + bytes(30))],
            "http": [(0, b"GET /first HTTP/1.1\r\nHost: host\r\n\r\n")]}


def escaped(uri):
    """Bytes that do not stand in a URI, as escapes."""
    return re.sub(rb"[^!-~]|#|%(?![0-9A-Fa-f]{2})", lambda found: b"%%%02X" % found[0][0], uri)


def header_lines(bufs, cookie):
    """Lines for what is wanted of headers."""
    lines = [name + b": " + bufs[buffer] for buffer, name in PLAIN.items() if buffer in bufs]
    if "http.cookie" in bufs:
        lines.append(cookie + b": " + bufs["http.cookie"])
    for buffer in ("http.header", "http.header.raw"):
        for line in filter(None, re.split(rb"\r\n", bufs.get(buffer, b""))):
            is_whole = re.match(rb"[A-Za-z0-9_-]+:", line)
            lines.append(line if is_whole else b"X-Line: " + line)
    for name in filter(None, re.split(rb"\r\n", bufs.get("http.header_names", b""))):
        if name not in [line.partition(b":")[0] for line in lines]:
            lines.append(name + b": 1")
    return lines


def http_request(bufs):
    body = bufs.get("http.request_body", bufs.get("file.data", b"")) + bufs.get(PAYLOAD, b"")
    method = bufs.get("http.method", b"POST" if body else b"GET").strip()
    uri = bufs.get("http.uri.raw", b"") + escaped(bufs.get("http.uri", b"")) or b"/"
    if not uri.startswith(b"/"):
        uri = b"/" + uri
    line = bufs.get("http.request_line", method + b" " + uri + b" HTTP/1.1")
    lines = [] if b"Host:" in bufs.get("http.header", b"") else [
        b"Host: " + bufs.get("http.host.raw", bufs.get("http.host", b"host.example"))]
    lines += header_lines(bufs, b"Cookie")
    if body:
        lines.append(b"Content-Length: %d" % len(body))
    return line + b"\r\n" + b"\r\n".join(lines) + b"\r\n\r\n" + body


def http_response(bufs):
    body = (bufs.get("http.response_body", b"") + bufs.get("file.data", b"")
            + bufs.get(PAYLOAD, b"")) or b"ok"
    line = bufs.get("http.response_line", b"HTTP/1.1 " + bufs.get("http.stat_code", b"200")
                    + b" " + bufs.get("http.stat_msg", b"OK"))
    lines = header_lines(bufs, b"Set-Cookie") + [b"Content-Length: %d" % len(body)]
    return line + b"\r\n" + b"\r\n".join(lines) + b"\r\n\r\n" + body


def record(kind, body):
    """A record of TLS with one message of a handshake."""
    message = bytes([kind]) + len(body).to_bytes(3) + body
    return b"\x16\x03\x03" + len(message).to_bytes(2) + message


def tls_pieces(bufs):
    name = bufs.get("tls.sni", b"host.example")
    entry = b"\0" + len(name).to_bytes(2) + name
    names = len(entry).to_bytes(2) + entry
    extensions = b"\0\0" + len(names).to_bytes(2) + names
    hello = b"\x03\x03" + bytes(32) + b"\0" + b"\0\x02\x13\x01" + b"\x01\0" + len(
        extensions).to_bytes(2) + extensions
    certificate = bufs.get("tls.certs", b"0\0")
    one = len(certificate).to_bytes(3) + certificate
    answer = b"\x03\x03" + bytes(32) + b"\0" + b"\x13\x01" + b"\0"
    return [(0, record(1, hello)),
            (1, record(2, answer) + record(11, len(one).to_bytes(3) + one))]


def dns_query(bufs):
    labels = bufs.get("dns.query", b"host.example").split(b".")
    name = b"".join(bytes([min(len(one), 63)]) + one[:63] for one in labels if one) + b"\0"
    return b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0" + name + b"\0\x01\0\x01"


def place_of(text, fits, candidates):
    return next((one for one in candidates if fits(text, one)), None)


class Maker:
    """Frames for rules; each flow has addresses that no other has."""

    def __init__(self, random_):
        self.random = random_
        self.flows = 0
        self.frames = []

    def addresses(self, rule):
        """(client, server), or None. Some rules are of hosts within, some of those without."""
        self.flows += 1
        high, low = divmod(self.flows, 250)
        high, highest = high % 250, high // 250
        within = [f"10.{60 + highest}.{high}.{low + 1}", f"10.{160 + highest}.{high}.{low + 1}"]
        without = [f"20.{60 + highest}.{high}.{low + 1}", f"20.{160 + highest}.{high}.{low + 1}"]
        source = place_of(rule.source, address_fits, map(ipaddress.ip_address,
                                                         (without[0], within[0])))
        target = place_of(rule.target, address_fits, map(ipaddress.ip_address,
                                                         (within[1], without[1])))
        return source and target and (source, target)

    def ends(self, rule):
        """((address, port) of the source, of the target), or None."""
        addresses = self.addresses(rule)
        wanted = {"dns": [53], "smtp": [25], "ftp": [21], "tls": [443]}.get(rule.app, [])
        to_client = "to_client" in rule.flow
        free = [40000 + self.flows % 20000]
        source = place_of(rule.source_ports, port_fits, itertools.chain(
            wanted if to_client else free, PORTS, range(65536)))
        target = place_of(rule.target_ports, port_fits, itertools.chain(
            free if to_client else wanted, PORTS, range(65536)))
        if not addresses or source is None or target is None:
            return None
        return (addresses[0], source), (addresses[1], target)

    def buffers(self, rule, miss):
        """Bytes for each buffer; with `miss` one of them is nearly right."""
        made = {}
        for group in rule.groups:
            made[group.buffer] = made.get(group.buffer, b"") + fill(group.tests, self.random)[0]
        if miss and made:
            chosen = self.random.choice(sorted(made))
            made[chosen] = near_miss(made[chosen], self.random)
        return made

    def pieces(self, rule, miss):
        """[(direction, bytes)] of a connection."""
        bufs = self.buffers(rule, miss)
        direction = int("to_client" in rule.flow)
        if rule.has_buffers and rule.app == "http":
            request = http_request(bufs if direction == 0 else {})
            return [(0, request), (1, http_response(bufs if direction else {}))]
        if rule.has_buffers and rule.app == "tls":
            return tls_pieces(bufs)
        if rule.app == "tls":
            return [*tls_pieces({}), (direction, bufs.get(PAYLOAD, b"x"))]
        return [*PRELUDES.get(rule.app, ()), (direction, bufs.get(PAYLOAD, b"x"))]

    def add(self, rule, miss=False):
        """The frames of one flow. False: none can be made."""
        ends = self.ends(rule)
        if ends is None:
            return False
        if "to_client" in rule.flow:
            ends = ends[::-1]
        if rule.protocol == "icmp":
            self.icmp(rule, ends, miss)
        elif rule.protocol == "udp" or rule.app == "dns":
            self.udp(rule, ends, miss)
        else:
            self.tcp(rule, ends, self.cut(self.pieces(rule, miss)))
        return True

    def cut(self, pieces):
        """As segments; some of them smaller than they need be."""
        for direction, data in pieces:
            size = SEGMENT
            if self.random.random() < 0.25:
                size = self.random.randint(max(1, len(data) // 4), max(1, len(data)))
            for at in range(0, len(data), size):
                yield direction, data[at:at + size]

    def number_for(self, rule, name, default):
        """A value that the rule's tests of a header take."""
        tests = [test for of, test in rule.headers if of == name]
        return next((value for value in itertools.chain([default], range(65536))
                     if all(test(value) for test in tests)), default)

    def ip(self, rule, ends, protocol, body):
        (source, _), (target, _) = ends
        ttl = self.number_for(rule, "ttl", 64)
        number = self.number_for(rule, "id", 7)
        bits = sum(wanted for name, how, wanted, _ in rule.bits if name == "fragbits" and not how)
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), number, bits & 0x4000, ttl,
                           protocol, 0, source.packed, target.packed)
        total = sum(struct.unpack(">10H", head))
        total = (total & 0xFFFF) + (total >> 16)
        total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
        head = head[:10] + total.to_bytes(2) + head[12:]
        self.frames.append(b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0" + head + body)

    def sized(self, rule, data):
        """With as many bytes as `dsize` asks for."""
        size = self.number_for(rule, "dsize", len(data))
        return (data + b"z" * max(size - len(data), 0))[:size][:SEGMENT]

    def udp(self, rule, ends, miss):
        bufs = self.buffers(rule, miss)
        data = dns_query(bufs) if "dns.query" in bufs else bufs.get(PAYLOAD, b"x")
        last = [(int("to_client" in rule.flow), self.sized(rule, data))]
        before = [(0, b"first"), (1, b"second")] if rule.app != "dns" else []
        for direction, payload in before + last:
            here = ends if direction == 0 else ends[::-1]
            self.ip(rule, here, UDP, struct.pack(">HHHH", here[0][1], here[1][1],
                                                 8 + len(payload), 0) + payload)

    def icmp(self, rule, ends, miss):
        data = self.sized(rule, self.buffers(rule, miss).get(PAYLOAD, b""))
        kind = self.number_for(rule, "itype", 8)
        code = self.number_for(rule, "icode", 0)
        if miss and self.random.random() < 0.3:
            code += 1
        self.ip(rule, ends, ICMP, struct.pack(
            ">BBHHH", kind, code % 256, 0, self.number_for(rule, "icmp_id", 5),
            self.number_for(rule, "icmp_seq", 1)) + data)

    def tcp(self, rule, ends, segments):
        """A connection from handshake to end."""
        at = [self.random.getrandbits(32), self.random.getrandbits(32)]
        extra = sum(bits for name, how, bits, _ in rule.bits if name == "flags")

        def send(direction, flags, data=b""):
            here = ends if direction == 0 else ends[::-1]
            self.ip(rule, here, TCP, struct.pack(
                ">HHIIBBHHH", here[0][1], here[1][1], at[direction],
                at[1 - direction] if flags & ACK else 0, 0x50, flags,
                self.number_for(rule, "window", 60000), 0, 0) + data)
            at[direction] = (at[direction] + len(data) + (flags & (SYN | FIN) != 0)) % 2**32

        send(0, SYN)
        send(1, SYN | ACK)
        send(0, ACK)
        for direction, data in segments:
            send(direction, PUSH | ACK if extra & (SYN | FIN | 4) or not extra else extra | ACK,
                 self.sized(rule, data))
            send(1 - direction, ACK)
        send(0, FIN | ACK)
        send(1, FIN | ACK)
        send(0, ACK)
