# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What has to come out of a router of IPv6: neighbour discovery, echo, resets."""

import ipaddress

from scapy.layers.inet6 import (ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA, ICMPv6ND_Redirect,
                                ICMPv6NDOptDstLLAddr, ICMPv6NDOptMTU, ICMPv6NDOptPrefixInfo,
                                ICMPv6NDOptSrcLLAddr, IPv6, IPv6ExtHdrFragment)
from scapy.layers.l2 import Ether

from router_match import (Match, header6_wrong, macs_wrong, packet_of, pseudo_checksum)


def discovery_wrong(frame, layer):
    """RFC 4861 7.1: what everything of neighbour discovery has in common."""
    packet = packet_of(frame)
    if layer not in Ether(frame):
        return f"not asked for: {Ether(frame).summary()}"
    if packet[7] != 255 or pseudo_checksum(packet, 58):
        return f"hop limit {packet[7]}, or its checksum"
    return ""


def neighbour_advertisement(target, to=None, mac=None, solicited=1, override=1, of=0):
    """RFC 4861 7.2.4: from the target, as a router; the MAC address is said, but perhaps not to a
    host that has asked us alone."""
    def check(frame, sent):
        asked = Ether(sent.frames[of])
        wrong = (discovery_wrong(frame, ICMPv6ND_NA)
                 or macs_wrong(frame, sent.port.mac, mac or asked.src)
                 or header6_wrong(frame, (target, sent.port.ip6, sent.port.local),
                                  to or asked[IPv6].src))
        if wrong:
            return wrong
        said = Ether(frame)[ICMPv6ND_NA]
        option = said.getlayer(ICMPv6NDOptDstLLAddr)
        if (not option and not ipaddress.ip_address(asked[IPv6].dst).is_multicast
                and (said.tgt, said.S, said.R, said.O) == (target, solicited, 1, 0)):
            return ""
        if (said.tgt, said.S, said.R, said.O) != (target, solicited, 1, override):
            return f"says {said.tgt}, S {said.S}, R {said.R}, O {said.O}"
        return "" if option and option.lladdr == sent.port.mac else "no MAC address"
    return Match("neighbour advertisement", check)


def neighbour_solicitation(target):
    """RFC 4861 7.2.2: to the solicited-node address, with the MAC address of the port."""
    group = ipaddress.IPv6Address(target).packed[-3:]
    to = ipaddress.IPv6Address(bytes.fromhex("ff0200000000000000000001ff") + group)

    def check(frame, sent):
        wrong = (discovery_wrong(frame, ICMPv6ND_NS)
                 or macs_wrong(frame, sent.port.mac, "33:33:ff:" + group.hex(":"))
                 or header6_wrong(frame, (sent.port.ip6, sent.port.local), str(to)))
        if wrong:
            return wrong
        said = Ether(frame)[ICMPv6ND_NS]
        option = said.getlayer(ICMPv6NDOptSrcLLAddr)
        if said.tgt != target or not option or option.lladdr != sent.port.mac:
            return f"asks for {said.tgt}, {option}"
        return ""
    return Match("neighbour solicitation", check)


def router_advertisement(prefixes, to, mac, mtu=1500):
    """RFC 4861 6.2.3: from the link-local address, as a default router, with the networks of the
    port (text -> whether hosts choose addresses there), its MAC address and its MTU."""
    def check(frame, sent):
        wrong = (discovery_wrong(frame, ICMPv6ND_RA)
                 or macs_wrong(frame, sent.port.mac, mac)
                 or header6_wrong(frame, (sent.port.local,), to))
        if wrong:
            return wrong
        said = Ether(frame)[ICMPv6ND_RA]
        found, option = {}, said.payload
        while isinstance(option, ICMPv6NDOptPrefixInfo | ICMPv6NDOptMTU | ICMPv6NDOptSrcLLAddr):
            if isinstance(option, ICMPv6NDOptPrefixInfo):
                found[f"{option.prefix}/{option.prefixlen}"] = bool(option.A)
                if not option.L or not 0 < option.preferredlifetime <= option.validlifetime:
                    return f"says of {option.prefix}: L {option.L}, {option.validlifetime} s"
            elif isinstance(option, ICMPv6NDOptMTU) and option.mtu != mtu:
                return f"MTU {option.mtu}"
            elif isinstance(option, ICMPv6NDOptSrcLLAddr) and option.lladdr != sent.port.mac:
                return f"MAC address {option.lladdr}"
            option = option.payload
        if (said.routerlifetime, said.M, said.O, said.chlim) != (65535, 0, 0, 64):
            return f"says lifetime {said.routerlifetime}, M {said.M}, O {said.O}, {said.chlim}"
        return "" if found == prefixes else f"networks {found}"
    return Match("router advertisement", check)


def redirect6(target, destination, of=0, mac=None):
    """RFC 4861 8.2: from the link-local address, with as much of the packet as fits."""
    def check(frame, sent):
        original = packet_of(sent.frames[of])
        wrong = (discovery_wrong(frame, ICMPv6ND_Redirect)
                 or macs_wrong(frame, sent.port.mac, mac or sent.mac)
                 or header6_wrong(frame, (sent.port.local,), IPv6(original).src))
        if wrong:
            return wrong
        said = Ether(frame)[ICMPv6ND_Redirect]
        if (said.tgt, said.dst) != (target, destination):
            return f"says {said.dst} by {said.tgt}"
        return "" if original[8:48] in frame and len(packet_of(frame)) <= 1280 else "quotes else"
    return Match("redirect", check)


def echo_reply6(of=0, source=None, mac=None, data=None):
    """RFC 4443 4.2. Frames of a reply in fragments are given together."""
    def check(frames, sent):
        original = Ether(sent.frames[of])[IPv6]
        asked = data if data is not None else bytes(original.payload)
        for frame in frames:
            wrong = (macs_wrong(frame, sent.port.mac, mac or sent.mac)
                     or header6_wrong(frame, (source or original.dst,), original.src,
                                      58 if len(frames) == 1 else 44))
            if wrong or len(packet_of(frame)) > sent.port.mtu:
                return wrong or f"longer than the MTU: {len(packet_of(frame))}"
        packet = packet_of(frames[0])
        if len(frames) > 1:
            body = b""
            for frame in sorted(frames, key=lambda one: Ether(one)[IPv6ExtHdrFragment].offset):
                part = packet_of(frame)
                if 8 * Ether(frame)[IPv6ExtHdrFragment].offset != len(body):
                    return "a hole between fragments"
                body += part[48:]
            packet = packet[:40] + body
        message = packet[40:]
        if pseudo_checksum(packet, 58) or message[:2] != b"\x81\0" or message[4:] != asked[4:]:
            return f"message {message.hex()}, asked {asked.hex()}"
        return ""
    return Match("echo reply", check, group=True)
