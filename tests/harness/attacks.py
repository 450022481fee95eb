# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Packets of an attacker that knows our source, as frames of a capture that is replayed again and
again beside other traffic. Both directions of a connection are in one capture: the server is the
attacker's too. Sources lie in 198.18.0.0/15, servers in 203.0.113.0/24."""

import gzip
import socket
import struct

from frames import checksum

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
MACS = bytes.fromhex("020000005f01020000005f02")
SOURCES = "198.18.0.0/15"
SERVERS = "203.0.113.0/24"
SEGMENT = 1400
WINDOW = 1 << 20  # `window_kb` of the functions over streams
ZEROS = 4 << 20  # what one body may inflate to
# An expression that takes thousands of steps at each place of a text of letters.
COSTLY = r'content:"aaaa"; pcre:"/[a-z]{1,60}[a-z]{1,50}\d/"; '
COSTLY_RULES = f"""
alert udp any any -> any any (msg:"costly datagram"; {COSTLY}sid:9001;)
alert tcp any any -> any any (msg:"costly stream"; flow:established; {COSTLY}sid:9002;)
alert http any any -> any any (msg:"costly body"; flow:to_client,established; file.data; \
  {COSTLY}sid:9003;)
"""


def ip_packet(source, destination, protocol, payload, identity=0, fragment=0x4000):
    """`fragment`: flags and offset as the header has them."""
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), identity, fragment, 64, protocol,
                         0) + source + destination
    return MACS + b"\x08\x00" + header[:10] + struct.pack("!H", checksum(header)) + header[12:] \
        + payload


def with_checksum(source, destination, protocol, segment, at):
    pseudo = source + destination + struct.pack("!BBH", 0, protocol, len(segment))
    total = checksum(pseudo + segment + b"\0" * (len(segment) % 2))
    return segment[:at] + struct.pack("!H", total) + segment[at + 2:]


def datagram(source, destination, ports, payload):
    udp = struct.pack("!HHHH", *ports, 8 + len(payload), 0) + payload
    return ip_packet(source, destination, 17, with_checksum(source, destination, 17, udp, 6))


class Connection:
    """Of TCP, between a source and a server by number; its segments as frames."""

    def __init__(self, number, server_port=80):
        self.ends = (socket.inet_aton("198.18.0.0")[:2] + struct.pack("!H", number // 50_000 + 1),
                     socket.inet_aton(f"203.0.113.{number % 250 + 1}"))
        self.ports = (number % 50_000 + 1024, server_port)
        self.first = [1_000_000, 2_000_000]
        self.sent = [1, 1]  # by direction: behind the SYN

    def segment(self, direction, flags, data=b"", at=None):
        """`at`: its place, else behind what was sent."""
        place = self.sent[direction] if at is None else at
        if at is None:
            self.sent[direction] += len(data)
        source, destination = self.ends[direction], self.ends[1 - direction]
        acknowledged = self.first[1 - direction] + self.sent[1 - direction]
        tcp = struct.pack("!HHIIBBHHH", self.ports[direction], self.ports[1 - direction],
                          self.first[direction] + place, acknowledged if flags & ACK else 0, 0x50,
                          flags, 65_535, 0, 0) + data
        return ip_packet(source, destination, 6,
                         with_checksum(source, destination, 6, tcp, 16))

    def opened(self):
        """The window scales are not negotiated: 64 KiB is what a receiver lets be sent."""
        return [self.segment(0, SYN, at=0), self.segment(1, SYN | ACK, at=0),
                self.segment(0, ACK)]

    def reset(self):
        """So that the next lap begins it anew."""
        return self.segment(0, RST | ACK)

    def pieces(self, direction, data, size=SEGMENT):
        """Segments, each acknowledged at once."""
        frames = []
        for at in range(0, len(data), size):
            frames.append(self.segment(direction, PSH | ACK, data[at:at + size]))
            frames.append(self.segment(1 - direction, ACK))
        return frames


def mixed(connections, chance):
    """Frames of many connections in random turns, each one's in their order."""
    turns = [number for number, frames in enumerate(connections) for _ in frames]
    chance.shuffle(turns)
    rest = [iter(frames) for frames in connections]
    return [next(rest[number]) for number in turns]


def one_byte(chance, connections=48):
    """Requests whose every byte is a segment."""
    text = (b"GET /a/page HTTP/1.1\r\nHost: host.test\r\nX-Letters: " + b"ab" * 60
            + b"\r\n\r\n")
    return mixed([one.opened() + one.pieces(0, text, 1) + [one.reset()]
                  for one in map(Connection, range(connections))], chance)


def holes(chance, connections=12, stride=31):
    """Single bytes with holes between them, in random order, as far ahead as the window is open:
    each needs a place in a list, and a block to keep it."""
    flows = []
    for one in map(Connection, range(connections)):
        places = list(range(1 + stride, 65_000, stride))
        chance.shuffle(places)
        flows.append(one.opened() + [one.segment(0, ACK, b"x", at) for at in places])
    return mixed(flows, chance)


def far_ahead(chance, connections=64):
    """Whole segments at the end of the window and behind it; what is in front never comes."""
    flows = []
    for one in map(Connection, range(connections)):
        places = [1 + at for at in (63_000, 60_000, 1 << 19, WINDOW, WINDOW * 2, 1 << 30)]
        flows.append(one.opened() + [one.segment(0, ACK, b"y" * SEGMENT, at) for at in places])
    return mixed(flows, chance)


def bomb(chance, connections=8, bodies=4):
    """Responses of a few kilobytes that inflate to megabytes of zeros, one behind the other."""
    body = gzip.compress(bytes(ZEROS), 9)
    answer = (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
              + body)
    ask = b"GET /zeros HTTP/1.1\r\nHost: host.test\r\n\r\n"
    flows = []
    for one in map(Connection, range(connections)):
        frames = one.opened()
        for _ in range(bodies):
            frames += one.pieces(0, ask) + one.pieces(1, answer)
        flows.append(frames + [one.reset()])
    return mixed(flows, chance)


def costly(chance, connections=8):
    """Texts of letters for COSTLY_RULES: datagrams, a stream by small segments, a body."""
    letters = b"a" * 8_000
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(letters) + letters
    flows = []
    for number in range(connections):
        raw, web = Connection(2 * number, 7000), Connection(2 * number + 1)
        flows.append(raw.opened() + raw.pieces(0, letters, 200) + [raw.reset()])
        flows.append(web.opened() + web.pieces(0, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                     + web.pieces(1, answer) + [web.reset()])
        flows.append([datagram(*raw.ends, (4000 + number, 9000), b"a" * SEGMENT)] * 40)
    return mixed(flows, chance)


def held(chance, connections=10_000):
    """Connections that each leave one byte out, so that what they have sent is kept."""
    flows = []
    for one in map(Connection, range(connections)):
        flows.append([one.segment(0, SYN, at=0), one.segment(1, SYN | ACK, at=0),
                      one.segment(0, ACK, b"held data", 2)])
    chance.shuffle(flows)
    return [frame for flow in flows for frame in flow]


def fragments(chance, count=20_000):
    """Beginnings of datagrams, whose other fragments never come, of many sources and identities."""
    frames = []
    for number in range(count):
        source = struct.pack("!I", 0xC6120000 + chance.randrange(1 << 17))
        server = socket.inet_aton(f"203.0.113.{number % 250 + 1}")
        front = struct.pack("!HHHH", 1000 + number % 5000, 53, 3000, 0)
        frames.append(ip_packet(source, server, 17, front + b"z" * 64, number & 0xFFFF, 0x2000))
    return frames


ATTACKS = {"one byte": one_byte, "holes": holes, "far ahead": far_ahead, "bomb": bomb,
           "costly pcre": costly, "held data": held, "fragments": fragments}
