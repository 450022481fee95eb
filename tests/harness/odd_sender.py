# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A TCP client that no kernel would be: it cuts what it has to say as its seed says, sends it out
of order, twice, in segments that overlap, and with other bytes than before. Run it in a host's
namespace: INTERFACE ADDRESS SERVER GATEWAY-MAC PORT SEED BYTES MODE [WORD]. Mode `unlike`: also
other bytes for a place. It ends when the server has acknowledged all, and the server's own bytes
and FIN have come. WORD stands somewhere in what it says; in mode `unlike` perhaps only in the other
bytes. With a word it gives up when it gets no further: exit status 3."""

import dataclasses
import ipaddress
import random
import socket
import struct
import sys
import time

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
MAC = bytes.fromhex("02000000aa01")
PATIENCE_S = 120
REFUSED = 3  # exit status
ROUNDS = 15  # without an answer, until a word counts as refused
SEGMENT_MAX = 1400


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclasses.dataclass
class Peer:
    """What the server has said."""

    acknowledged: int = 0  # bytes of ours; -1: not even the SYN
    next: int = 0  # sequence number of its next byte
    ended: bool = False


class Line:
    """The cable: frames of this address, and answers to questions for it."""

    def __init__(self, interface, address, server, gateway):
        self.raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.raw.bind((interface, 0))
        self.address = ipaddress.ip_address(address).packed
        self.server = ipaddress.ip_address(server).packed
        self.gateway = bytes.fromhex(gateway.replace(":", ""))

    def send(self, segment):
        pseudo = self.address + self.server + struct.pack("!BBH", 0, 6, len(segment))
        tcp = segment[:16] + struct.pack("!H", checksum(pseudo + segment)) + segment[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0)
        ip += self.address + self.server
        ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
        self.raw.send(self.gateway + MAC + b"\x08\x00" + ip + tcp)

    def answer(self, frame):
        """A question of ARP for this address."""
        if frame[12:14] != b"\x08\x06" or frame[20:22] != b"\0\1" or frame[38:42] != self.address:
            return
        self.raw.send(frame[6:12] + MAC + frame[12:20] + b"\0\2" + MAC + self.address +
                      frame[22:32])

    def receive(self, seconds):
        """TCP of the next segment for this address; None: none came."""
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0:
            self.raw.settimeout(rest)
            try:
                frame = self.raw.recv(65536)
            except TimeoutError:
                return None
            self.answer(frame)
            if frame[12:14] == b"\x08\x00" and frame[23] == 6 and frame[30:34] == self.address:
                packet = frame[14:14 + int.from_bytes(frame[16:18])]
                return packet[(packet[0] & 15) * 4:]
        return None


class Client:
    def __init__(self, line, port, seed, count, unlike, word):
        self.line, self.port, self.unlike, self.word = line, port, unlike, word
        self.random = random.Random(seed)
        self.text = self.random.randbytes(count)
        self.second = bytes(byte ^ 0x55 for byte in self.text)  # for the same places
        if word:
            self.say_word()
        # Often close to the end of the numbers.
        self.first = (2**32 - self.random.randrange(2 * count)) % 2**32 \
            if self.random.random() < 0.5 else self.random.randrange(2**32)
        self.peer = Peer(acknowledged=-1)

    def say_word(self):
        """At a random place of one version; one byte of the other version's is unlike."""
        at = self.random.randrange(len(self.text) - len(self.word) + 1)
        miss = self.random.randrange(len(self.word))
        near = self.word[:miss] + b"-" + self.word[miss + 1:]
        said = [self.word, near]
        if self.unlike:
            self.random.shuffle(said)
        self.text, self.second = (
            whole[:at] + part + whole[at + len(part):]
            for whole, part in zip((self.text, self.second), said))

    def send(self, at, data=b"", flags=ACK):
        """`at`: place of the first byte; -1: the SYN's."""
        header = struct.pack("!HHIIBBHHH", self.port, 7000, (self.first + 1 + at) % 2**32,
                             self.peer.next, 0x50, flags, 65535, 0, 0)
        self.line.send(header + data)

    def hear(self, seconds):
        """True: a segment of the connection has come."""
        tcp = self.line.receive(seconds)
        if tcp is None or int.from_bytes(tcp[2:4]) != self.port:
            return False
        sequence, acknowledged = struct.unpack("!II", tcp[4:12])
        flags, data = tcp[13], tcp[(tcp[12] >> 4) * 4:]
        if flags & RST and self.is_done() and self.peer.ended:
            return True  # of a piece that was sent behind the end of the connection
        if flags & RST:
            print("the server has reset the connection", file=sys.stderr)
            sys.exit(REFUSED if self.word else 1)
        if flags & SYN:
            self.peer.next = (sequence + 1) % 2**32
        elif sequence == self.peer.next:
            self.peer.next = (sequence + len(data) + (flags & FIN)) % 2**32
            self.peer.ended = self.peer.ended or bool(flags & FIN)
        if flags & ACK:
            behind = (acknowledged - self.first - 1) % 2**32
            if behind < 2**31:
                self.peer.acknowledged = max(self.peer.acknowledged, behind)
        if (data or flags & FIN) and self.peer.acknowledged >= 0:
            self.send(len(self.text) + 1 if self.is_done() else self.peer.acknowledged)
        return True

    def is_done(self):
        """All is acknowledged, with the FIN."""
        return self.peer.acknowledged > len(self.text)

    def until(self, condition, again):
        """Hears until it holds; calls `again` when the server is silent."""
        end, silent = time.monotonic() + PATIENCE_S, 0
        while not condition():
            if self.word and silent == ROUNDS:
                sys.exit(REFUSED)
            if time.monotonic() > end:
                sys.exit(f"no progress behind byte {self.peer.acknowledged}")
            if self.hear(0.02):
                silent = 0
            else:
                again()
                silent += self.peer.acknowledged >= 0

    def pieces(self):
        """(place, bytes) of a first round: all of the text, and more."""
        cuts = sorted({0, len(self.text), *(self.random.randrange(len(self.text))
                                            for _ in range(self.random.randrange(1, 40)))})
        spans = [(at, min(end, at + SEGMENT_MAX)) for begin, end in zip(cuts, cuts[1:])
                 for at in range(begin, end, SEGMENT_MAX)]
        for _ in range(self.random.randrange(30)):
            at = self.random.randrange(len(self.text))
            spans.append((at, min(len(self.text), at + self.random.randrange(1, SEGMENT_MAX))))
        how = self.random.choice(("shuffled", "reversed", "near"))
        if how == "shuffled":
            self.random.shuffle(spans)
        elif how == "reversed":
            spans.reverse()
        else:
            spans.sort(key=lambda span: span[0] + self.random.randrange(4000))
        for at, end in spans:
            data = self.text[at:end]
            if self.unlike and self.random.random() < 0.3:
                data = self.other(at, data)
            yield at, data

    def other(self, at, data):
        """Other bytes in a part of it."""
        begin = self.random.randrange(len(data))
        end = self.random.randrange(begin, len(data)) + 1
        return data[:begin] + self.second[at + begin:at + end] + data[end:]

    def repeat(self):
        """What the server waits for, in steps: a longer one may be refused for what is in it."""
        at = max(self.peer.acknowledged, 0)
        if at >= len(self.text):
            return self.send(len(self.text), flags=FIN | ACK)
        for count in (1, 16, 200, SEGMENT_MAX):
            self.send(at, self.text[at:at + count])

    def talk(self):
        self.until(lambda: self.peer.acknowledged >= 0, lambda: self.send(-1, flags=SYN))
        self.send(0)
        if self.random.random() < 0.3:
            self.send(len(self.text), flags=FIN | ACK)  # out of order
        for at, data in self.pieces():
            flags = ACK | (PSH if self.random.random() < 0.5 else 0)
            self.send(at, data, flags)
            if self.random.random() < 0.3:
                self.hear(0.001)
            if self.random.random() < 0.1:
                self.send(self.peer.acknowledged - 1, b"k")  # a keep-alive
        self.until(self.is_done, self.repeat)
        self.until(lambda: self.peer.ended, lambda: self.send(len(self.text) + 1))
        self.send(len(self.text) + 1)


def main():
    interface, address, server, gateway, port, seed, count, mode, *word = sys.argv[1:]
    client = Client(Line(interface, address, server, gateway), int(port), int(seed), int(count),
                    mode == "unlike", word[0].encode() if word else b"")
    client.talk()


if __name__ == "__main__":
    main()
