# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What route has to do with a packet, told a second time.

Written from services/functions/route/README.md and the RFCs that it names, with the struct and
ipaddress modules; shares no code with the path. test_route_captures.py holds it against Scapy too.
"""

import ipaddress
import struct

NOT_FORWARDED = (0x0806, 0x8035, 0x8100, 0x88A8, 0x9100)
BUFFER_ROOM = 2176 - 128
MARTIANS = [ipaddress.ip_network(text) for text in
            ("0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/4", "255.255.255.255/32")]


class Routes:
    """A route table: dictionaries of prefixes by length, looked through from long to short."""

    def __init__(self, text, ports):
        self.ports = ports
        self.by_length = {}
        for line in text.splitlines():
            fields = line.split("#")[0].split()
            if not fields:
                continue
            network = ipaddress.ip_network(fields[0])
            hop = None if fields[1] == "drop" else (fields[1], fields[2])
            prefixes = self.by_length.setdefault(network.prefixlen, {})
            prefixes.setdefault(int(network.network_address), hop)
        self.interfaces = [ipaddress.ip_interface(address)
                           for port in ports.values() for address in port["addresses"]]
        self.own = {int(interface.ip) for interface in self.interfaces}
        self.broadcasts = {int(interface.network.broadcast_address)
                           for interface in self.interfaces if interface.network.prefixlen < 31}

    def look_up(self, address):
        for length in sorted(self.by_length, reverse=True):
            prefix = address >> (32 - length) << (32 - length)
            if prefix in self.by_length[length]:
                return self.by_length[length][prefix]
        return None


def checksum(header):
    """RFC 1071 over big-endian words, the checksum field taken as it is."""
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def is_martian(address):
    return any(ipaddress.ip_address(address) in network for network in MARTIANS)


def header_reason(frame, wire_length):
    """The first reason to drop that frame and IPv4 header give, or None."""
    early = "truncated" if wire_length > len(frame) else "malformed"
    if len(frame) > BUFFER_ROOM:
        return "oversize"
    if len(frame) < 14:
        return early
    ether_type = struct.unpack_from("!H", frame, 12)[0]
    if ether_type in NOT_FORWARDED:
        return "not_forwarded"
    if ether_type != 0x0800:
        return "not_ipv4"
    packet = frame[14:]
    if len(packet) < 20:
        return early
    header_length = (packet[0] & 0x0F) * 4
    if packet[0] >> 4 != 4 or header_length < 20:
        return "malformed"
    if len(packet) < header_length:
        return early
    if checksum(packet[:header_length]) != 0:
        return "bad_checksum"
    total_length = struct.unpack_from("!H", packet, 2)[0]
    if total_length > len(packet):
        return "truncated"
    return "malformed" if total_length < header_length else None


def address_reason(frame, routes):
    source, destination = struct.unpack_from("!II", frame, 26)
    if frame[0] & 1 or is_martian(source) or is_martian(destination) or source in routes.own:
        return "not_unicast"
    if destination in routes.own:
        return "own_address"
    return "not_unicast" if destination in routes.broadcasts else None


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def route(frame, wire_length, routes):
    """(reason, None, None) for a packet to drop, else ("none", its new bytes, its port)."""
    reason = header_reason(frame, wire_length) or address_reason(frame, routes)
    if reason:
        return reason, None, None
    hop = routes.look_up(struct.unpack_from("!I", frame, 30)[0])
    if hop is None:
        return "no_route", None, None
    if frame[22] <= 1:
        return "ttl_expired", None, None
    port, mac = hop
    header = bytearray(frame[14:14 + (frame[14] & 0x0F) * 4])
    header[8] -= 1
    header[10:12] = b"\0\0"
    header[10:12] = struct.pack("!H", checksum(bytes(header)))
    macs = mac_bytes(mac) + mac_bytes(routes.ports[port]["mac"])
    out = macs + frame[12:14] + bytes(header) + frame[14 + len(header):]
    return "none", out, port
