# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The frames of tests/golden/flow-cases (README.md there has the words): one line, one packet
between an inside and an outside host that no other case has."""

import re
import struct

from scapy.all import (GRE, ICMP, IP, TCP, UDP, Ether, ICMPv6DestUnreach, ICMPv6EchoReply,
                       ICMPv6EchoRequest, ICMPv6PacketTooBig, ICMPv6ParamProblem,
                       ICMPv6TimeExceeded, ICMPv6Unknown, IPv6, IPv6ExtHdrFragment, Raw, fragment,
                       fragment6)

FLAGS = re.compile(r"^[FSRPAUEC]+$|^-$")
WINDOW = 10000
OUTSIDE, INSIDE = 80, 40000  # the usual ports
ERRORS = {"unreachable": (3, 1), "port_unreachable": (3, 3), "too_big": (3, 4), "expired": (11, 0),
          "problem": (12, 0), "quench": (4, 0), "redirect": (5, 1)}
ERRORS6 = {"unreachable": lambda: ICMPv6DestUnreach(code=3),
           "port_unreachable": lambda: ICMPv6DestUnreach(code=4),
           "too_big": lambda: ICMPv6PacketTooBig(mtu=1280),
           "expired": ICMPv6TimeExceeded, "problem": ICMPv6ParamProblem}
QUESTIONS = {"echo": 8, "reply": 0, "stamp": 13, "stamp_reply": 14, "information": 15,
             "information_reply": 16, "mask": 17, "mask_reply": 18, "router": 9, "strange": 42}


class Words:
    """The words of a line, taken one by one."""

    def __init__(self, text):
        self.left = text.split()

    def first(self):
        return self.left.pop(0)

    def take(self, name, default=None, count=1):
        """What stands behind the name; `default`: it is not there. 0 words: whether it is there."""
        if name not in self.left:
            return default if count else False
        at = self.left.index(name)
        values = self.left[at + 1:at + 1 + count]
        assert len(values) == count, f"'{name}' misses its value"
        del self.left[at:at + 1 + count]
        return values[0] if count == 1 else values or True

    def number(self, name, default):
        return int(self.take(name, default))


def data(size):
    return bytes((7 * number + 3) & 0xFF for number in range(size))


class Frames:
    """Of one case: `number` makes its addresses, `family` is 4 or 6."""

    def __init__(self, number, family, world):
        high, low = divmod(number, 250)
        self.family, self.world = family, world
        self.inside = f"10.67.{high}.{low + 1}" if family == 4 else f"2001:db8:68::{number + 1:x}"
        self.outside = f"10.2.{high}.{low + 1}" if family == 4 else f"2001:db8:66::{number + 1:x}"
        self.routers = (("10.67.255.1", "10.2.255.1") if family == 4 else
                        ("2001:db8:68::ffff", "2001:db8:66::ffff"))
        self.packets = []  # of IP, as they were sent: errors quote them

    def make(self, direction, text, key):
        """Frames of that line, with `key` in a field that a router leaves alone."""
        words = Words(text)
        kind = words.first()
        here, there = self.inside, self.outside
        self.ports = words.number("port", INSIDE), words.number("peer", OUTSIDE)
        if direction == "<":
            here, there = there, here
            self.ports = self.ports[::-1]
        if words.take("router", count=0):
            here = self.routers[direction == "<"]
        pieces, bad = words.number("pieces", 0), words.take("badsum", count=0)
        cut = words.number("short", 0)
        if FLAGS.match(kind):
            words.left.insert(0, kind)
            kind = "tcp"
        made = getattr(self, f"make_{kind}", None)
        payload = made(words) if made else self.make_icmp(kind, words)
        assert not words.left, f"unknown words: {words.left}"
        packet = self.network(here, there, key, self.protocol_of(kind, payload)) / payload
        packet = packet.__class__(bytes(packet))
        if bad:
            packet = self.spoil(packet)
        if cut:
            packet = self.shorten(packet, cut)
        self.packets.append(bytes(packet))
        parts = self.split(packet, pieces) if pieces else [packet]
        port = "lan" if direction == ">" else "wan"
        host = self.world.hosts["second" if port == "lan" else "gateway"]
        ether = Ether(src=host.mac, dst=self.world.ports[port].mac,
                      type=0x0800 if self.family == 4 else 0x86dd)
        return [bytes(ether) + bytes(part) for part in parts]

    def network(self, here, there, key, protocol):
        if self.family == 4:
            return IP(src=here, dst=there, id=key, ttl=64, proto=protocol)
        return IPv6(src=here, dst=there, fl=key, hlim=64, nh=protocol)

    def protocol_of(self, kind, payload):
        known = {TCP: 6, UDP: 17, GRE: 47}
        if kind in ("proto", "sctp"):
            return self.number
        return known.get(type(payload), 1 if self.family == 4 else 58)

    def spoil(self, packet):
        """The checksum of what IP carries is wrong."""
        raw = bytearray(bytes(packet))
        at = 20 if self.family == 4 else 40
        protocol = raw[9] if self.family == 4 else raw[6]
        raw[at + {6: 16, 17: 6, 1: 2, 58: 2}[protocol]] ^= 0x55
        return packet.__class__(bytes(raw))

    def shorten(self, packet, cut):
        """The packet ends so many bytes earlier; IP says so, what it carries does not."""
        raw = bytearray(bytes(packet)[:-cut])
        if self.family == 4:
            raw[2:4] = struct.pack(">H", len(raw))
            raw[10:12] = b"\0\0"
            header = IP(bytes(raw[:20]))
            del header.chksum
            raw[:20] = bytes(header)[:20]
        else:
            raw[4:6] = struct.pack(">H", len(raw) - 40)
        return Raw(bytes(raw))

    def split(self, packet, size):
        if self.family == 4:
            return fragment(packet, fragsize=size)
        key = packet.fl
        whole = IPv6(src=packet.src, dst=packet.dst, fl=key, hlim=packet.hlim) / \
            IPv6ExtHdrFragment(id=key) / packet.payload
        parts = fragment6(whole, size)
        for part in parts:
            part.fl = key
        return parts

    # Each word that begins a line.

    def make_tcp(self, words):
        flags, (sequence, _, size) = words.first(), words.first().partition("+")
        options = []
        if words.take("sackok", count=0):
            options.append(("SAckOK", b""))
        scale = words.take("ws")
        if scale:
            options.append(("WScale", int(scale)))
        sack = words.take("sack")
        if sack:
            left, _, right = sack.partition("-")
            options.append(("SAck", (int(left), int(right))))
        offset = words.number("offset", 0)
        packet = TCP(sport=self.ports[0], dport=self.ports[1], flags=flags.replace("-", ""),
                     seq=int(sequence), ack=words.number("ack", 0), urgptr=words.number("urg", 0),
                     window=words.number("win", WINDOW), options=options)
        if offset:
            packet.dataofs = offset
        return packet / Raw(data(int(size or 0)))

    def make_udp(self, words):
        packet = UDP(sport=self.ports[0], dport=self.ports[1])
        if words.take("nosum", count=0):
            packet.chksum = 0
        length = words.take("length")
        if length:
            packet.len = int(length)
        return packet / Raw(data(words.number("bytes", 20)))

    def make_gre(self, words):
        key = words.take("key")
        packet = GRE(key_present=1, key=int(key)) if key else GRE()
        return packet / Raw(data(20))

    def make_proto(self, words):
        self.number = int(words.first())
        return Raw(data(words.number("bytes", 20)))

    def make_sctp(self, words):
        """Of one chunk; its checksum is right (CRC32c)."""
        self.number = 132
        kinds = {"data": 0, "init": 1, "init_ack": 2, "abort": 6, "shutdown": 7, "cookie_echo": 10,
                 "cookie_ack": 11}
        tag, kind = words.number("tag", 1), kinds[words.first()]
        body = struct.pack(">IIHHI", words.number("itag", 1), 10000, 1, 1, 1)
        head = struct.pack(">HHI", *self.ports, tag)
        chunk = struct.pack(">BBH", kind, 0, 4 + len(body)) + body
        return Raw(head + struct.pack("<I", crc32c(head + bytes(4) + chunk)) + chunk)

    def make_icmp(self, kind, words):
        if "of" in words.left:
            return self.make_error(kind, words)
        identifier = int(words.first()) if words.left else 7
        if self.family == 6:
            layers = {"echo": ICMPv6EchoRequest, "reply": ICMPv6EchoReply}
            if kind in layers:
                return layers[kind](id=identifier, seq=1, data=data(20))
            return ICMPv6Unknown(type={"strange": 200}[kind], msgbody=data(20))
        return ICMP(type=QUESTIONS[kind], id=identifier, seq=1) / Raw(data(20))

    def make_error(self, kind, words):
        """Quotes a packet of this case, by its number from 1."""
        quote = bytearray(self.packets[int(words.take("of")) - 1])
        start = 20 if self.family == 4 else 40
        for name, at in (("qport", start), ("qpeer", start + 2)):
            port = words.take(name)
            if port:
                quote[at:at + 2] = struct.pack(">H", int(port))
        if words.take("qother", count=0):  # another destination than the packet had
            quote[start - 1] ^= 0x80
        if words.take("qturned", count=0):
            size = 4 if self.family == 4 else 16
            first = start - 2 * size
            quote[first:start] = quote[first + size:start] + quote[first:first + size]
        quote = quote[:words.number("quote", start + 8)]
        if self.family == 6:
            return ERRORS6[kind]() / Raw(bytes(quote))
        number, code = ERRORS[kind]
        return ICMP(type=number, code=code) / Raw(bytes(quote))


def crc32c(octets):
    crc = 0xFFFFFFFF
    for octet in octets:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
