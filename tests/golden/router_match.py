# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What has to come out of a router, and how much freedom RFCs leave it: each function here gives a
Match. `match.check(frame, sent)` says what is wrong, or nothing."""

import dataclasses
import ipaddress
import typing

from scapy.layers.inet import ICMP, IP, TCP, fragment
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.utils import checksum


@dataclasses.dataclass
class Sent:
    """What the router was given in this step, and what is at the port of the output."""
    frames: list  # bytes
    before: list  # those of the steps before
    port: object  # router_world.Port
    mac: str  # of the usual host there


@dataclasses.dataclass
class Match:
    """`check(frame, sent)`; of a group, frames of a whole packet are given together."""
    name: str
    check: typing.Callable
    group: bool = False


def packet_of(frame):
    """The bytes behind the Ethernet header, without padding; of other protocols whole."""
    if frame[12:14] == b"\x08\x00":
        return frame[14:14 + int.from_bytes(frame[16:18], "big")]
    if frame[12:14] == b"\x86\xdd":
        return frame[14:54 + int.from_bytes(frame[18:20], "big")]
    return frame[14:42] if frame[12:14] == b"\x08\x06" else frame[14:]


def differences(found, expected):
    """By name, of two packets of one kind; empty when they are the same bytes."""
    if found == expected:
        return ""
    left, right = Ether(found), Ether(expected)
    return f"is {left.summary()} {found.hex()}\n     not {right.summary()} {expected.hex()}"


def macs_wrong(frame, source, destination):
    wrong = []
    for what, at, mac in (("to", 0, destination), ("from", 6, source)):
        if mac and frame[at:at + 6].hex(":") != mac:
            wrong.append(f"{what} MAC {frame[at:at + 6].hex(':')}, not {mac}")
    return ", ".join(wrong)


def exactly(packet):
    """This frame; Ethernet padding does not count."""
    expected = bytes(packet)

    def check(frame, _):
        return differences(frame[:14] + packet_of(frame), expected[:14] + packet_of(expected))
    return Match("exactly", check)


def without_bytes(data, *ranges):
    data = bytearray(data)
    for first, end in ranges:
        data[first:end] = bytes(end - first)
    return bytes(data)


def forwarded(of=0, mac=None, options=None):
    """The frame that came in, one hop on: RFC 1812 5.2.1.1, 5.3.1. `options`: of IPv4, as changed
    on the way (hex; ".." is any byte)."""
    def check(frame, sent):
        packet = bytearray(packet_of(sent.frames[of]))
        if packet[0] >> 4 == 4:
            for at in range(0, len(options or ""), 2):
                here = 20 + at // 2
                packet[here] = (packet_of(frame)[here:here + 1] or b"\0")[0] \
                    if options[at:at + 2] == ".." else int(options[at:at + 2], 16)
            packet[8] -= 1
            size = 4 * (packet[0] & 15)
            packet[10:12] = b"\0\0"
            packet[10:12] = checksum(bytes(packet[:size])).to_bytes(2, "big")
        else:
            packet[7] -= 1
        expected = (bytes.fromhex((mac or sent.mac).replace(":", ""))
                    + bytes.fromhex(sent.port.mac.replace(":", ""))
                    + sent.frames[of][12:14] + bytes(packet))
        return differences(frame[:14] + packet_of(frame), expected)
    return Match("forwarded", check)


def header_wrong(frame, sent, source, destination, protocol):
    """What is wrong with the header of an IPv4 packet that the router itself made."""
    packet = packet_of(frame)
    size = 4 * (packet[0] & 15)
    if frame[12:14] != b"\x08\x00" or packet[0] >> 4 != 4 or size < 20:
        return f"no IPv4: {Ether(frame).summary()}"
    if checksum(packet[:size]):
        return "header checksum"
    header = IP(packet[:size])
    wants = {"src": source or sent.port.ip, "dst": destination, "proto": protocol, "frag": 0}
    wrong = [f"{name} {getattr(header, name)}, not {value}" for name, value in wants.items()
             if getattr(header, name) != value]
    if header.ttl < 30:  # RFC 1812 4.2.2.9: enough to get anywhere, and configurable
        wrong.append(f"ttl {header.ttl}")
    return ", ".join(wrong)


def quote_wrong(quoted, original, least):
    """RFC 1812 4.3.2.3: as received, but for what forwarding has changed already."""
    size = 4 * (original[0] & 15)
    fields = ((8, 9), (10, 12), (20, size))  # TTL, checksum, options that were filled in
    if len(quoted) < min(len(original), size + least):
        return f"quotes {len(quoted)} bytes"
    length = min(len(quoted), len(original))
    if without_bytes(quoted, *fields)[:length] != without_bytes(original, *fields)[:length]:
        return f"quotes {quoted.hex()}, not {original.hex()}"
    return ""


def error(kind, code=0, of=0, source=None, to=None, mac=None, mtu=None, pointer=None,
          gateway=None):
    """An ICMP error message about a frame that came in: RFC 792, 1812 4.3.2. `code`: one, or
    several that are right."""
    codes = code if isinstance(code, tuple) else (code,)

    def check(frame, sent):
        original = packet_of(sent.frames[of])
        wrong = header_wrong(frame, sent, source, to or IP(original).src, 1)
        wrong = wrong or macs_wrong(frame, sent.port.mac, mac or sent.mac)
        if wrong:
            return wrong
        packet = packet_of(frame)
        message = packet[4 * (packet[0] & 15):]
        if len(packet) > 576:
            return f"{len(packet)} bytes, more than 576"
        if checksum(message):
            return "ICMP checksum"
        if message[0] != kind or message[1] not in codes:
            return f"type {message[0]} code {message[1]}"
        for name, found, wanted in (("mtu", int.from_bytes(message[6:8], "big"), mtu),
                                    ("pointer", message[4], pointer),
                                    ("gateway", str(ipaddress.ip_address(message[4:8])), gateway)):
            if wanted is not None and found not in (
                    wanted if isinstance(wanted, tuple) else (wanted,)):
                return f"{name} {found}, not {wanted}"
        return quote_wrong(message[8:], original, 8)
    return Match(f"error {kind}/{code}", check)


def pseudo_checksum(packet, protocol):
    body = packet[40:]
    return checksum(packet[8:40] + len(body).to_bytes(4, "big") + bytes([0, 0, 0, protocol]) + body)


def header6_wrong(frame, sources, destination, next_header=58):
    packet = packet_of(frame)
    if frame[12:14] != b"\x86\xdd" or packet[0] >> 4 != 6:
        return f"no IPv6: {Ether(frame).summary()}"
    header = IPv6(packet)
    wrong = []
    if header.src not in sources:
        wrong.append(f"src {header.src}, not {sources}")
    if header.dst != destination:
        wrong.append(f"dst {header.dst}, not {destination}")
    if header.nh != next_header:
        wrong.append(f"next header {header.nh}")
    if header.hlim < 30:
        wrong.append(f"hop limit {header.hlim}")
    return ", ".join(wrong)


def error6(kind, code=0, of=0, to=None, mac=None, value=None, sources=()):
    """An ICMPv6 error message: RFC 4443. `value`: MTU or pointer; `sources`: one of these, if not
    of the port. It quotes as much as fits into
    1280 bytes, unchanged (2.4 c)."""
    codes = code if isinstance(code, tuple) else (code,)

    def check(frame, sent):
        original = packet_of(sent.frames[of])
        own = sources or (sent.port.ip6, sent.port.local)
        wrong = header6_wrong(frame, own, to or IPv6(original).src)
        wrong = wrong or macs_wrong(frame, sent.port.mac, mac or sent.mac)
        packet = packet_of(frame)
        if wrong or pseudo_checksum(packet, 58):
            return wrong or "ICMPv6 checksum"
        message = packet[40:]
        if message[0] != kind or message[1] not in codes:
            return f"type {message[0]} code {message[1]}"
        if value is not None and int.from_bytes(message[4:8], "big") != value:
            return f"value {int.from_bytes(message[4:8], 'big')}, not {value}"
        whole = without_bytes(original[:1232], (7, 8))
        if without_bytes(message[8:], (7, 8)) != whole:
            return f"quotes {message[8:].hex()}"
        return ""
    return Match(f"error6 {kind}/{code}", check)


def echo_reply(of=0, source=None, mac=None, data=None, options=""):
    """RFC 1122 3.2.2.6, 1812 4.3.3.6; `data`: of a request that came in fragments; `options`: hex,
    without padding. Frames of a reply in fragments are given together."""
    def check(frames, sent):
        original = Ether(sent.frames[of])[IP]
        for frame in frames:
            wrong = macs_wrong(frame, sent.port.mac, mac or sent.mac)
            if wrong or len(packet_of(frame)) > sent.port.mtu:
                return wrong or f"longer than the MTU: {len(packet_of(frame))}"
        packet, wrong = joined([packet_of(frame) for frame in frames])
        if wrong:
            return wrong
        wrong = header_wrong(frames[0][:14] + packet, sent, source or original.dst, original.src,
                             1)
        if wrong:
            return wrong
        message = packet[4 * (packet[0] & 15):]
        found = packet[20:4 * (packet[0] & 15)].rstrip(b"\0")
        if found != bytes.fromhex(options).rstrip(b"\0"):
            return f"options {found.hex()}"
        asked = data if data is not None else bytes(original.payload)
        if checksum(message) or message[:2] != b"\0\0" or message[4:] != asked[4:]:
            return f"message {message.hex()}, asked {asked.hex()}"
        return ""
    return Match("echo reply", check, group=True)


def joined(packets):
    """(packet, what is wrong) of the fragments of one; a slow obvious way."""
    if len(packets) == 1 and not IP(packets[0]).flags.MF:
        return packets[0], ""
    parts, head = {}, b""
    for packet in packets:
        size = 4 * (packet[0] & 15)
        header = IP(packet[:size])
        if checksum(packet[:size]):
            return b"", "header checksum of a fragment"
        if header.frag in parts:
            return b"", "a fragment twice"
        parts[header.frag] = (bool(header.flags.MF), packet[size:])
        head = packet[:size] if header.frag == 0 else head
    if len({packet[4:6] for packet in packets}) != 1:
        return b"", "several identifications"
    data = b""
    for at in sorted(parts):
        more, part = parts[at]
        if 8 * at != len(data) or more == (at == max(parts)) or more and len(part) % 8:
            return b"", f"fragments {sorted((key, len(parts[key][1])) for key in parts)}"
        data += part
    head = bytearray(head)
    head[2:4] = (len(head) + len(data)).to_bytes(2, "big")
    head[6:8] = bytes([head[6] & 0x40, 0])
    head[10:12] = b"\0\0"
    head[10:12] = checksum(bytes(head)).to_bytes(2, "big")
    return bytes(head) + data, ""


def fragments(mtu, of=0, count=None, mac=None, later_options="", more=False):
    """The packet that came in, forwarded in pieces: RFC 791 3.2, 1812 4.2.2.7. `later_options`:
    of the second fragment and after, hex, without "no operation"; `more`: it was a fragment itself,
    not the last one."""
    def check(frames, sent):
        original = packet_of(sent.frames[of])
        first = IP(original).frag
        rebased = []
        for frame in frames:
            wrong = macs_wrong(frame, sent.port.mac, mac or sent.mac)
            packet = bytearray(packet_of(frame))
            size = 4 * (packet[0] & 15)
            if wrong or len(packet) > mtu or checksum(bytes(packet[:size])):
                return wrong or f"{len(packet)} bytes, or its checksum"
            header = IP(bytes(packet[:size]))
            if header.frag > first and packet[20:size].strip(b"\0\1").hex() != later_options:
                return f"options {packet[20:size].hex()}"
            last = header.frag == max(IP(packet_of(one)).frag for one in frames)
            if more and not header.flags.MF:
                return "says that it is the last"
            flags = 0 if more and last else packet[6] & 0xE0
            packet[6:8] = (flags << 8 | header.frag - first).to_bytes(2, "big")
            packet[10:12] = b"\0\0"
            packet[10:12] = checksum(bytes(packet[:size])).to_bytes(2, "big")
            rebased.append(bytes(packet))
        if count is not None and len(frames) != count:
            return f"{len(frames)} fragments"
        packet, wrong = joined(rebased)
        if wrong:
            return wrong
        wanted = bytearray(original)
        wanted[6:8] = bytes([wanted[6] & 0x40, 0])
        wanted[8] -= 1
        wanted[10:12] = b"\0\0"
        wanted[10:12] = checksum(bytes(wanted[:4 * (wanted[0] & 15)])).to_bytes(2, "big")
        return differences(frames[0][:14] + packet, frames[0][:14] + bytes(wanted))
    return Match("fragments", check, group=True)


def pieces(frame, size):
    """Frames of a packet in fragments of so many bytes, as Scapy makes them."""
    return [bytes(part) for part in fragment(frame, fragsize=size)]


def next_sequence(segment):
    return (segment.seq + len(segment.payload) + ("S" in segment.flags)) & 0xFFFFFFFF


def tcp_reset(of=0, mac=None):
    """RFC 9293 3.10.7.1: to a segment for a port without a listener."""
    def check(frame, sent):
        asked = Ether(sent.frames[of])
        wrong = macs_wrong(frame, sent.port.mac, mac or sent.mac)
        found = Ether(frame)
        if wrong or TCP not in found:
            return wrong or f"no TCP: {found.summary()}"
        tcp, was = found[TCP], asked[TCP]
        if "R" not in tcp.flags or (tcp.sport, tcp.dport) != (was.dport, was.sport):
            return f"is {found.summary()}"
        if "A" not in was.flags and tcp.ack != next_sequence(was):
            return f"acknowledges {tcp.ack}"
        if "A" in was.flags and tcp.seq != was.ack:
            return f"sequence number {tcp.seq}"
        again = found.copy()
        del again[TCP].chksum
        return "" if bytes(again) == frame else "TCP checksum"
    return Match("reset", check)


def arp_request(target, source=None, mac=None):
    """RFC 826; what stands for the address that is asked for is free."""
    def check(frame, sent):
        wrong = macs_wrong(frame, sent.port.mac, mac or "ff:ff:ff:ff:ff:ff")
        arp = Ether(frame).getlayer(ARP)
        if wrong or arp is None:
            return wrong or f"no ARP: {Ether(frame).summary()}"
        expected = bytes(ARP(op=1, hwsrc=sent.port.mac, psrc=source or sent.port.ip,
                             hwdst=arp.hwdst, pdst=target))
        return "" if bytes(arp)[:28] == expected else f"is {arp.summary()} from {arp.psrc}"
    return Match("ARP request", check)


def waited(match):
    """It is about what came in before this step, and waited in the router."""
    def check(frame, sent):
        return match.check(frame, dataclasses.replace(sent, frames=sent.before))
    return Match(match.name, check, match.group)


def either(*matches):
    """One of these."""
    def check(frame, sent):
        wrong = [match.check(frame, sent) for match in matches]
        return "" if "" in wrong else " / ".join(wrong)
    return Match(" or ".join(match.name for match in matches), check, matches[0].group)
