# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Packets before and after NAT64, each side built by Scapy from RFC 7915: nat64.golden.

A host has 2001:db8:1::5 and port 40000, outside 203.0.113.1 and port 1024. A server has 192.0.2.9
and port 80, for the host 64:ff9b::c000:209. Run this file to write the table anew.
"""

import pathlib

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import (ICMPv6DestUnreach, ICMPv6EchoReply, ICMPv6EchoRequest,
                                ICMPv6MLReport, ICMPv6ND_NS, ICMPv6PacketTooBig,
                                ICMPv6ParamProblem, ICMPv6TimeExceeded, ICMPv6Unknown, IPv6,
                                IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                                IPv6ExtHdrRouting, fragment6)
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

TABLE = pathlib.Path(__file__).with_name("nat64.golden")
HEAD = """\
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Packets before and after NAT64, made by nat64_table.py with Scapy. Lines of a case: `in HEX`, then
# `out HEX`, once for each fragment that leaves, or why it is not translated: `unknown` (the other
# version has no such packet), `malformed`.
"""
HOST6, HOST4, SERVER6, SERVER4 = "2001:db8:1::5", "203.0.113.1", "64:ff9b::c000:209", "192.0.2.9"
ROUTER4, ROUTER4_AS_6, ROUTER6 = "198.51.100.7", "64:ff9b::c633:6407", "2001:db8:1::1"
HOST_PORT, OUTSIDE_PORT = 40000, 1024
NEW_ID = 0x1234  # of a packet of IPv4 that had none
DF, MF = "DF", "MF"
# RFC 7915 4.2: codes of "destination unreachable" that are not looked at one by one below.
CODES_TO_IPV6 = {0: 0, 5: 0, 6: 0, 7: 0, 8: 0, 9: 1, 10: 1, 11: 0, 12: 0, 15: 1}
# Figures 3 and 6: first and last byte of each field.
POINTERS_TO_IPV6 = ((0, 0), (1, 1), (2, 4), (3, 4), (9, 6), (12, 8), (15, 8), (16, 24), (19, 24))
POINTERS_TO_IPV4 = ((0, 0), (1, 1), (4, 2), (5, 2), (6, 9), (8, 12), (23, 12), (24, 16), (39, 16))


def link(packet, tag=False):
    ether = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    return bytes((ether / Dot1Q(vlan=7) if tag else ether) / packet)


def out6(payload, **fields):
    return IPv6(src=HOST6, dst=SERVER6, hlim=61, **fields) / payload


def out4(payload, flags=0, identification=NEW_ID, **fields):
    return IP(src=HOST4, dst=SERVER4, ttl=61, flags=flags, id=identification, **fields) / payload


def in4(payload, flags=0, identification=77, **fields):
    return IP(src=SERVER4, dst=HOST4, ttl=50, flags=flags, id=identification, **fields) / payload


def in6(payload, **fields):
    return IPv6(src=SERVER6, dst=HOST6, hlim=50, **fields) / payload


def udp(source, target, size=11, **fields):
    return UDP(sport=source, dport=target, **fields) / Raw((bytes(range(256)) * 12)[:size])


def tcp(source, target, size=5):
    return (TCP(sport=source, dport=target, seq=7, ack=9, flags="PA", options=[("MSS", 1460)]) /
            Raw(b"x" * size))


def behind(packet, layer):
    """The bytes behind the IP headers, with the checksum that they have in the packet."""
    return bytes(packet.__class__(bytes(packet))[layer])


def with_sum_ffff(side, source, target, other, other_source, other_target):
    """A datagram, and it on the other side, where its checksum is 0xffff: RFC 768, RFC 8200 8.1."""
    def both(filling):
        data = Raw(filling.to_bytes(2, "big"))
        return (side(UDP(sport=source, dport=target) / data),
                other(UDP(sport=other_source, dport=other_target) / data))
    missing = int.from_bytes(behind(both(0)[1], UDP)[6:8], "big")  # ffff less the sum of the rest
    packets = both(missing)
    assert behind(packets[1], UDP)[6:8] == b"\xff\xff"
    return packets


def whole_packets():
    yield "TCP to the server", out6(tcp(HOST_PORT, 80)), out4(tcp(OUTSIDE_PORT, 80))
    yield "TCP to the host", in4(tcp(80, OUTSIDE_PORT), DF), in6(tcp(80, HOST_PORT))
    yield "UDP to the server", out6(udp(HOST_PORT, 80)), out4(udp(OUTSIDE_PORT, 80))
    yield "UDP to the host", in4(udp(80, OUTSIDE_PORT)), in6(udp(80, HOST_PORT))
    yield "UDP without data", in4(udp(80, OUTSIDE_PORT, 0)), in6(udp(80, HOST_PORT, 0))
    yield ("UDP without a checksum gets one", in4(udp(80, OUTSIDE_PORT, chksum=0)),
           in6(udp(80, HOST_PORT)))
    yield ("the traffic class is the TOS", out6(udp(HOST_PORT, 80), tc=0xb9, fl=0x12345),
           out4(udp(OUTSIDE_PORT, 80), tos=0xb9))
    yield ("the TOS is the traffic class", in4(udp(80, OUTSIDE_PORT), tos=0x2e),
           in6(udp(80, HOST_PORT), tc=0x2e))
    yield ("1,260 bytes have no DF", out6(udp(HOST_PORT, 80, 1232)),
           out4(udp(OUTSIDE_PORT, 80, 1232)))
    yield ("longer ones have DF and no identification", out6(udp(HOST_PORT, 80, 1233)),
           out4(udp(OUTSIDE_PORT, 80, 1233), DF, 0))
    yield ("an echo request to the server",
           out6(ICMPv6EchoRequest(id=HOST_PORT, seq=3, data=b"abcde")),
           out4(ICMP(type=8, id=OUTSIDE_PORT, seq=3) / b"abcde"))
    yield ("its reply", in4(ICMP(type=0, id=OUTSIDE_PORT, seq=3) / b"abcde"),
           in6(ICMPv6EchoReply(id=HOST_PORT, seq=3, data=b"abcde")))
    yield ("hop-by-hop and destination options go",
           out6(IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / udp(HOST_PORT, 80)),
           out4(udp(OUTSIDE_PORT, 80)))
    yield ("a routing header that is used up goes",
           out6(IPv6ExtHdrRouting(addresses=["2001:db8::9"], segleft=0) / udp(HOST_PORT, 80)),
           out4(udp(OUTSIDE_PORT, 80)))
    yield ("a fragment header of a whole packet says its identification",
           out6(IPv6ExtHdrFragment(id=0xabcd4321) / udp(HOST_PORT, 80)),
           out4(udp(OUTSIDE_PORT, 80), 0, 0x4321))
    yield ("options of IPv4 go", in4(udp(80, OUTSIDE_PORT), options=b"\x01\x01\x01\x00"),
           in6(udp(80, HOST_PORT)))
    yield ("a checksum of UDP that comes out as 0 is ffff",
           *with_sum_ffff(out6, HOST_PORT, 80, out4, OUTSIDE_PORT, 80))
    yield ("and likewise to the host", *with_sum_ffff(in4, 80, OUTSIDE_PORT, in6, 80, HOST_PORT))


def fragments():
    """Parts of a datagram of UDP, whose checksum is in the first one and covers all."""
    there6 = behind(out6(udp(HOST_PORT, 80, 100)), UDP)
    there4 = behind(out4(udp(OUTSIDE_PORT, 80, 100)), UDP)
    back4 = behind(in4(udp(80, OUTSIDE_PORT, 100)), UDP)
    back6 = behind(in6(udp(80, HOST_PORT, 100)), UDP)
    yield ("a first fragment to the server",
           out6(IPv6ExtHdrFragment(nh=17, m=1, id=0x10077) / Raw(there6[:64])),
           out4(Raw(there4[:64]), MF, 0x77, proto=17))
    yield ("the last one", out6(IPv6ExtHdrFragment(nh=17, offset=8, id=0x10077) / Raw(there6[64:])),
           out4(Raw(there4[64:]), 0, 0x77, frag=8, proto=17))
    yield ("a first fragment to the host", in4(Raw(back4[:64]), MF, proto=17),
           in6(IPv6ExtHdrFragment(nh=17, m=1, id=77) / Raw(back6[:64])))
    yield ("one in the middle", in4(Raw(back4[64:80]), MF, frag=8, proto=17),
           in6(IPv6ExtHdrFragment(nh=17, m=1, offset=8, id=77) / Raw(back6[64:80])))
    yield ("one in the middle to the server",
           out6(IPv6ExtHdrFragment(nh=17, m=1, offset=8, id=0x10077) / Raw(there6[64:80])),
           out4(Raw(there4[64:80]), MF, 0x77, frag=8, proto=17))
    yield ("the last one to the host", in4(Raw(back4[80:]), 0, frag=10, proto=17),
           in6(IPv6ExtHdrFragment(nh=17, offset=10, id=77) / Raw(back6[80:])))


def split():
    """Without DF, and longer than 1,280 bytes as a packet of IPv6 (RFC 7915 4, 4.1): name, packet,
    packets that leave."""
    def pieces(whole, layer, identification=77, **fields):
        header = IPv6ExtHdrFragment(nh=whole.nh, id=identification, **fields)
        return fragment6(in6(header / Raw(behind(whole, layer))), 1280)
    for size in (1233, 1224 + 1232, 1224 + 1233):
        yield (f"{size} bytes of UDP without DF leave in fragments",
               in4(udp(80, OUTSIDE_PORT, size)), pieces(in6(udp(80, HOST_PORT, size)), UDP))
    yield ("1,280 bytes without DF need no fragment header", in4(udp(80, OUTSIDE_PORT, 1232)),
           [in6(udp(80, HOST_PORT, 1232))])
    yield ("with DF they are not cut", in4(udp(80, OUTSIDE_PORT, 1400), DF),
           [in6(udp(80, HOST_PORT, 1400))])
    yield ("TCP without DF leaves in fragments", in4(tcp(80, OUTSIDE_PORT, 1400)),
           pieces(in6(tcp(80, HOST_PORT, 1400)), TCP))
    yield ("an echo reply without DF leaves in fragments",
           in4(ICMP(type=0, id=OUTSIDE_PORT, seq=3) / bytes(1400)),
           pieces(in6(ICMPv6EchoReply(id=HOST_PORT, seq=3, data=bytes(1400))), ICMPv6EchoReply))
    yield ("UDP without a checksum gets one in front of its fragments",
           in4(udp(80, OUTSIDE_PORT, 1300, chksum=0)), pieces(in6(udp(80, HOST_PORT, 1300)), UDP))
    yield ("options of IPv4 count no byte of them",
           in4(udp(80, OUTSIDE_PORT, 1232), options=b"\x01\x01\x01\x00"),
           [in6(udp(80, HOST_PORT, 1232))])
    # A fragment is cut once more, and the parts keep its place.
    there4 = behind(in4(udp(80, OUTSIDE_PORT, 3000)), UDP)
    there6 = behind(in6(udp(80, HOST_PORT, 3000)), UDP)

    def part(begin, end, more):
        bytes6 = there6[begin:end]
        cuts = [bytes6[at:at + 1232] for at in range(0, len(bytes6), 1232)]
        return [in6(IPv6ExtHdrFragment(nh=17, offset=(begin + 1232 * i) // 8, id=77,
                                       m=int(more or i + 1 < len(cuts))) / Raw(cut))
                for i, cut in enumerate(cuts)]
    yield ("a long first fragment is cut once more", in4(Raw(there4[:1480]), MF, proto=17),
           part(0, 1480, True))
    yield ("a long one in the middle", in4(Raw(there4[1480:2960]), MF, frag=185, proto=17),
           part(1480, 2960, True))
    yield ("a long last one", in4(Raw(there4[1480:]), 0, frag=185, proto=17),
           part(1480, 3008, False))


def errors_to_host():
    """Of routers of IPv4, about what the server was sent."""
    sent4, sent6 = bytes(out4(udp(OUTSIDE_PORT, 80, 40))), bytes(out6(udp(HOST_PORT, 80, 40)))

    def pair(name, icmp, icmp6, quoted4=sent4, quoted6=sent6):
        return (name, IP(src=ROUTER4, dst=HOST4, ttl=60, tos=0xc0) / icmp / Raw(quoted4),
                IPv6(src=ROUTER4_AS_6, dst=HOST6, hlim=60, tc=0xc0) / icmp6 / Raw(quoted6))
    yield pair("host unreachable", ICMP(type=3, code=1), ICMPv6DestUnreach(code=0))
    yield pair("protocol unreachable", ICMP(type=3, code=2), ICMPv6ParamProblem(code=1, ptr=6))
    yield pair("port unreachable", ICMP(type=3, code=3), ICMPv6DestUnreach(code=4))
    yield pair("fragmentation needed", ICMP(type=3, code=4, nexthopmtu=1400),
               ICMPv6PacketTooBig(mtu=1420))
    yield pair("fragmentation needed below 1,280", ICMP(type=3, code=4, nexthopmtu=600),
               ICMPv6PacketTooBig(mtu=1280))
    yield pair("fragmentation needed without an MTU", ICMP(type=3, code=4, nexthopmtu=0),
               ICMPv6PacketTooBig(mtu=1280))
    yield pair("prohibited", ICMP(type=3, code=13), ICMPv6DestUnreach(code=1))
    for code, code6 in CODES_TO_IPV6.items():
        yield pair(f"unreachable for reason {code}", ICMP(type=3, code=code),
                   ICMPv6DestUnreach(code=code6))
    yield pair("time exceeded", ICMP(type=11, code=0), ICMPv6TimeExceeded(code=0))
    yield pair("reassembly time exceeded", ICMP(type=11, code=1), ICMPv6TimeExceeded(code=1))
    for pointer, pointer6 in POINTERS_TO_IPV6:
        yield pair(f"parameter problem at byte {pointer}", ICMP(type=12, code=0, ptr=pointer),
                   ICMPv6ParamProblem(code=0, ptr=pointer6))
    yield pair("a bad length", ICMP(type=12, code=2, ptr=2), ICMPv6ParamProblem(code=0, ptr=4))
    for size, plateau in ((1500, 1492), (1492, 1006), (2003, 2002), (2002, 1492)):
        yield pair(f"an MTU is guessed of {size} bytes", ICMP(type=3, code=4, nexthopmtu=0),
                   ICMPv6PacketTooBig(mtu=max(plateau + 20, 1280)),
                   bytes(out4(udp(OUTSIDE_PORT, 80, size - 28), DF, 0))[:28 + 40],
                   bytes(out6(udp(HOST_PORT, 80, size - 28)))[:48 + 40])
    yield pair("parameter problem", ICMP(type=12, code=0, ptr=8), ICMPv6ParamProblem(code=0, ptr=7))
    yield pair("only eight bytes are quoted", ICMP(type=11, code=0), ICMPv6TimeExceeded(code=0),
               sent4[:28], sent6[:48])
    ping4 = bytes(out4(ICMP(type=8, id=OUTSIDE_PORT, seq=1) / b"abcd"))
    ping6 = bytes(out6(ICMPv6EchoRequest(id=HOST_PORT, seq=1, data=b"abcd")))
    yield pair("time exceeded of an echo", ICMP(type=11, code=0), ICMPv6TimeExceeded(code=0),
               ping4, ping6)
    sent4, sent6 = bytes(out4(tcp(OUTSIDE_PORT, 80))), bytes(out6(tcp(HOST_PORT, 80)))
    yield pair("time exceeded of TCP", ICMP(type=11, code=0), ICMPv6TimeExceeded(code=0),
               sent4, sent6)
    first4 = behind(out4(udp(OUTSIDE_PORT, 80, 100)), UDP)[:64]
    part4 = bytes(out4(Raw(first4), MF, 0x77, proto=17))
    part6 = bytes(out6(IPv6ExtHdrFragment(nh=17, m=1, id=0x77) /
                       Raw(behind(out6(udp(HOST_PORT, 80, 100)), UDP)[:64])))
    yield pair("about a fragment", ICMP(type=3, code=1), ICMPv6DestUnreach(code=0), part4, part6)


def errors_to_server():
    """Of routers of IPv6, about what the host was sent. They have the address of the host."""
    sent6, sent4 = bytes(in6(udp(80, HOST_PORT, 40))), bytes(in4(udp(80, OUTSIDE_PORT, 40), 0, 0))

    def pair(name, icmp6, icmp, quoted6=sent6, quoted4=sent4):
        return (name, IPv6(src=ROUTER6, dst=SERVER6, hlim=60, tc=0xc0) / icmp6 / Raw(quoted6),
                IP(src=HOST4, dst=SERVER4, ttl=60, tos=0xc0, id=NEW_ID) / icmp / Raw(quoted4))
    yield pair("no route", ICMPv6DestUnreach(code=0), ICMP(type=3, code=1))
    yield pair("prohibited to the server", ICMPv6DestUnreach(code=1), ICMP(type=3, code=10))
    yield pair("port unreachable to the server", ICMPv6DestUnreach(code=4), ICMP(type=3, code=3))
    yield pair("packet too big", ICMPv6PacketTooBig(mtu=1400),
               ICMP(type=3, code=4, nexthopmtu=1380))
    yield pair("time exceeded to the server", ICMPv6TimeExceeded(code=0), ICMP(type=11, code=0))
    yield pair("unknown next header", ICMPv6ParamProblem(code=1, ptr=6), ICMP(type=3, code=2))
    yield pair("erroneous field", ICMPv6ParamProblem(code=0, ptr=7), ICMP(type=12, code=0, ptr=8))
    for code, code4 in ((2, 1), (3, 1)):
        yield pair(f"unreachable for reason {code} of IPv6", ICMPv6DestUnreach(code=code),
                   ICMP(type=3, code=code4))
    yield pair("reassembly time exceeded at the host", ICMPv6TimeExceeded(code=1),
               ICMP(type=11, code=1))
    yield pair("packet too big of the least MTU", ICMPv6PacketTooBig(mtu=1280),
               ICMP(type=3, code=4, nexthopmtu=1260))
    for pointer, pointer4 in POINTERS_TO_IPV4:
        yield pair(f"erroneous field at byte {pointer}", ICMPv6ParamProblem(code=0, ptr=pointer),
                   ICMP(type=12, code=0, ptr=pointer4))
    long6 = bytes(in6(udp(80, HOST_PORT, 1100)))
    long4 = bytes(in4(udp(80, OUTSIDE_PORT, 1100), 0, 0))
    yield pair("a long quote is cut", ICMPv6DestUnreach(code=4), ICMP(type=3, code=3), long6[:1232],
               long4[:548])


def refused():
    """Name, packet, why."""
    yield "echo in fragments", in4(ICMP(type=0, id=OUTSIDE_PORT) / bytes(64), MF), "unknown"
    first = bytes(UDP(sport=80, dport=OUTSIDE_PORT, len=200, chksum=0)) + bytes(56)
    yield "a fragment without a UDP checksum", in4(Raw(first), MF, proto=17), "unknown"
    yield "UDP over IPv6 without a checksum", out6(udp(HOST_PORT, 80, chksum=0)), "malformed"
    yield ("segments are left", out6(IPv6ExtHdrRouting(addresses=["2001:db8::9"], segleft=1) /
                                     udp(HOST_PORT, 80)), "unknown")
    route = b"\x83\x07\x04\x0a\x00\x00\x01\x00"
    yield "a source route", in4(udp(80, OUTSIDE_PORT), options=route), "unknown"
    yield "a wrong checksum of IPv4", in4(udp(80, OUTSIDE_PORT), chksum=1), "malformed"
    yield "a packet that is cut", Raw(bytes(in4(udp(80, OUTSIDE_PORT)))[:30]), "malformed"
    quote = Raw(bytes(out4(udp(OUTSIDE_PORT, 80))))
    for name, icmp, why in (
            ("an error with a wrong checksum", ICMP(type=11, chksum=1), "malformed"),
            ("source quench", ICMP(type=4), "unknown"),
            ("a precedence violation", ICMP(type=3, code=14), "unknown"),
            ("an unreachable with an unknown code", ICMP(type=3, code=16), "unknown"),
            ("a redirect", ICMP(type=5, code=1, gw=SERVER4), "unknown"),
            ("an option that is missing", ICMP(type=12, code=1), "unknown"),
            *((f"a problem at byte {at}, which IPv6 has not", ICMP(type=12, ptr=at), "unknown")
              for at in (4, 5, 6, 7, 10, 11, 20))):
        yield name, IP(src=ROUTER4, dst=HOST4) / icmp / quote, why
    for name, kind in (("a question for the time", 13), ("one for information", 15),
                       ("one for the mask", 17), ("an advertisement of a router", 9)):
        times = {"ts_ori": 1, "ts_rx": 2, "ts_tx": 3} if kind == 13 else {}
        yield name, in4(ICMP(type=kind, id=OUTSIDE_PORT, **times) / bytes(16)), "unknown"
    quote6 = Raw(bytes(in6(udp(80, HOST_PORT))))
    for name, icmp6 in (
            ("a source address that fails a policy", ICMPv6DestUnreach(code=5)),
            ("a route that rejects", ICMPv6DestUnreach(code=6)),
            ("an unknown option", ICMPv6ParamProblem(code=2, ptr=40)),
            *((f"an erroneous field at byte {at}, which IPv4 has not",
               ICMPv6ParamProblem(code=0, ptr=at)) for at in (2, 3, 40))):
        yield name, IPv6(src=ROUTER6, dst=SERVER6) / icmp6 / quote6, "unknown"
    for name, icmp6 in (("a report of a listener", ICMPv6MLReport()),
                        ("a solicitation of a neighbour", ICMPv6ND_NS(tgt=SERVER6)),
                        ("an unknown information", ICMPv6Unknown(type=200, msgbody=bytes(8)))):
        yield name, out6(icmp6), "unknown"


def table():
    lines = [HEAD.rstrip("\n")]
    for part in (whole_packets(), fragments(), errors_to_host(), errors_to_server()):
        for name, before, after in part:
            lines += ["", f"case {name}", f"  in {link(before).hex()}",
                      f"  out {link(after).hex()}"]
    for name, before, after in split():
        lines += ["", f"case {name}", f"  in {link(before).hex()}",
                  *(f"  out {link(packet).hex()}" for packet in after)]
    tagged = link(out6(udp(HOST_PORT, 80)), True), link(out4(udp(OUTSIDE_PORT, 80)), True)
    lines += ["", "case the tag of a VLAN stays", f"  in {tagged[0].hex()}",
              f"  out {tagged[1].hex()}"]
    for name, packet, why in refused():
        before = link(packet)
        if isinstance(packet, Raw):
            before = before[:12] + b"\x08\x00" + before[14:]
        lines += ["", f"case {name}", f"  in {before.hex()}", f"  {why}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table())
