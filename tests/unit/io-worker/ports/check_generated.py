# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Holds a capture of generated packets against Scapy: check_generated.py CAPTURE COUNT."""

import sys

from scapy.all import Ether, IP, UDP, rdpcap


def rebuilt(packet):
    """The packet as Scapy makes it when it fills lengths and the IPv4 checksum itself."""
    fresh = Ether(bytes(packet))
    del fresh[IP].chksum
    del fresh[IP].len
    del fresh[UDP].len
    return bytes(fresh)


def check(packet):
    assert packet[Ether].dst == "02:00:00:00:00:01", packet[Ether].dst
    assert packet[IP].ttl == 64 and packet[IP].version == 4 and packet[IP].ihl == 5
    assert packet[IP].src.startswith(("198.18.", "198.19.")), packet[IP].src
    assert packet[UDP].chksum == 0
    assert bytes(packet[UDP].payload)[:8] == b"MILLRACE"
    assert packet[IP].len == len(packet) - 14, (packet[IP].len, len(packet))
    assert rebuilt(packet) == bytes(packet), packet.show(dump=True)


packets = rdpcap(sys.argv[1])
assert len(packets) == int(sys.argv[2]), len(packets)
assert len({len(packet) for packet in packets}) == 5
for packet in packets:
    check(packet)
