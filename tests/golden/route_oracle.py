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
            ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32",
             "::/128", "::1/128", "::ffff:0:0/96", "fe80::/10", "ff00::/8")]


class Routes:
    """A route table: dictionaries of prefixes by family and length, looked through from long to
    short."""

    def __init__(self, text, ports):
        self.ports = ports
        self.by_length = {4: {}, 6: {}}
        for line in text.splitlines():
            fields = line.split("#")[0].split()
            if not fields:
                continue
            network = ipaddress.ip_network(fields[0])
            hop = None if fields[1] == "drop" else next_hops(line.split("#")[0], ports)
            prefixes = self.by_length[network.version].setdefault(network.prefixlen, {})
            prefixes.setdefault(int(network.network_address), hop)
        self.has_ipv6 = bool(self.by_length[6])
        interfaces = [ipaddress.ip_interface(address)
                      for port in ports.values() for address in port["addresses"]]
        self.own = {interface.ip for interface in interfaces}
        self.broadcasts = {interface.network.broadcast_address for interface in interfaces
                           if interface.version == 4 and interface.network.prefixlen < 31}
        self.anycasts = {interface.network.network_address for interface in interfaces
                         if interface.version == 6 and interface.network.prefixlen < 127}

    def look_up(self, address):
        prefixes = self.by_length[address.version]
        for length in sorted(prefixes, reverse=True):
            bits = address.max_prefixlen - length
            prefix = int(address) >> bits << bits
            if prefix in prefixes[length]:
                return prefixes[length][prefix]
        return None


def next_hops(line, ports):
    """(port, mac) for each unit of weight of the next hops of a line, and the router's seed."""
    slots = []
    for hop in line.split(None, 1)[1].split(","):
        port, mac, *weight = hop.split()
        slots += [(port, mac)] * (int(weight[1]) if weight else 1)
    return slots, seed_of(ports)


# Which of several next hops a packet takes: shared/base/packet.hpp and route_group.hpp.

def seed_of(ports):
    """FNV-1a over MAC and IP addresses, each with a zero behind it."""
    seed = 0xCBF29CE484222325
    for port in ports.values():
        for byte in b"".join(text.encode() + b"\0" for text in (port["mac"], *port["addresses"])):
            seed = (seed ^ byte) * 0x100000001B3 % 2**64
    return seed


def crc32c(crc, word):
    for _ in range(64):
        crc, word = crc >> 1 ^ (0x82F63B78 if (crc ^ word) & 1 else 0), word >> 1
    return crc


def little(raw):
    return int.from_bytes(raw, "little")


def transport_of(frame):
    """(protocol, its bytes) of an IP packet; without the bytes where there is no such header, as in
    fragments."""
    packet = frame[14:]
    if packet[0] >> 4 == 4:
        length, at = struct.unpack_from("!H", packet, 2)[0], (packet[0] & 15) * 4
        fragment = struct.unpack_from("!H", packet, 6)[0] & 0x3FFF
        return packet[9], b"" if fragment else packet[at:length]
    packet = packet[:40 + struct.unpack_from("!H", packet, 4)[0]]
    protocol, at, walked = packet[6], 40, 0
    while protocol in (0, 43, 44, 51, 60, 135, 139, 140):
        if at + 8 > len(packet) or walked == 8:
            return protocol, b""
        if protocol == 44 and struct.unpack_from("!H", packet, at + 2)[0] & 0xFFF9:
            return 44, b""
        size = {44: 8, 51: (packet[at + 1] + 2) * 4}.get(protocol, (packet[at + 1] + 1) * 8)
        protocol, at, walked = packet[at], at + size, walked + 1
    return protocol, packet[at:]


def flow_hash(frame, seed):
    protocol, segment = transport_of(frame)
    ports = protocol in (6, 17) and len(segment) >= 4
    ends = []
    for number, address in enumerate(addresses(frame)):
        raw = address.packed
        fold = little(raw) if len(raw) == 4 else \
            crc32c(crc32c(0, little(raw[:8])), little(raw[8:]))
        ends.append(fold << 16 | (little(segment[2 * number:2 * number + 2]) if ports else 0))
    flow = crc32c(crc32c(0xFFFFFFFF, min(ends)), max(ends) | protocol << 48)
    if frame[14] >> 4 == 6 and protocol not in (6, 17):
        flow |= (struct.unpack_from("!I", frame, 14)[0] & 0xFFFFF) << 32
    flow ^= seed
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        flow = (flow ^ flow >> 33) * factor % 2**64
    return (flow ^ flow >> 33) >> 32


def checksum(header):
    """RFC 1071 over big-endian words, the checksum field taken as it is."""
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def is_martian(address):
    return any(address in network for network in MARTIANS if network.version == address.version)


def header_reason(frame, wire_length, routes):
    """The first reason to drop that frame and IP header give, or None."""
    early = "truncated" if wire_length > len(frame) else "malformed"
    if len(frame) > BUFFER_ROOM:
        return "oversize"
    if len(frame) < 14:
        return early
    ether_type = struct.unpack_from("!H", frame, 12)[0]
    if ether_type in NOT_FORWARDED:
        return "not_forwarded"
    packet = frame[14:]
    if ether_type == 0x86DD and routes.has_ipv6:
        return ipv6_header_reason(packet, early)
    if ether_type != 0x0800:
        return "not_ipv4"
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


def ipv6_header_reason(packet, early):
    if len(packet) < 40:
        return early
    first_word, length, next_header = struct.unpack_from("!IHB", packet)
    if first_word >> 28 != 6:
        return "malformed"
    if length > len(packet) - 40:
        return "truncated"
    return "malformed" if length == 0 and next_header == 0 else None


def addresses(frame):
    """(source, destination) of a frame whose header is right."""
    if frame[14] >> 4 == 4:
        return [ipaddress.IPv4Address(frame[at:at + 4]) for at in (26, 30)]
    return [ipaddress.IPv6Address(frame[at:at + 16]) for at in (22, 38)]


def address_reason(frame, routes):
    source, destination = addresses(frame)
    if frame[0] & 1 or is_martian(source) or is_martian(destination) or source in routes.own:
        return "not_unicast"
    if destination in routes.own or destination in routes.anycasts:
        return "own_address"
    return "not_unicast" if destination in routes.broadcasts else None


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def route(frame, wire_length, routes):
    """(reason, None, None) for a packet to drop, else ("none", its new bytes, its port)."""
    reason = header_reason(frame, wire_length, routes) or address_reason(frame, routes)
    if reason:
        return reason, None, None
    hop = routes.look_up(addresses(frame)[1])
    if hop is None:
        return "no_route", None, None
    is_ipv4 = frame[14] >> 4 == 4
    if frame[22 if is_ipv4 else 21] <= 1:
        return "ttl_expired", None, None
    slots, seed = hop
    port, mac = slots[flow_hash(frame, seed) * len(slots) >> 32 if len(slots) > 1 else 0]
    packet = bytearray(frame[14:])
    if is_ipv4:
        header_length = (packet[0] & 0x0F) * 4
        packet[8] -= 1
        packet[10:12] = b"\0\0"
        packet[10:12] = struct.pack("!H", checksum(bytes(packet[:header_length])))
    else:
        packet[7] -= 1
    out = mac_bytes(mac) + mac_bytes(routes.ports[port]["mac"]) + frame[12:14] + bytes(packet)
    return "none", out, port
