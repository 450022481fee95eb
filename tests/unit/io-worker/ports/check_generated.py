# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Holds a capture of generated packets against Scapy: check_generated.py CAPTURE COUNT KIND, where
KIND is udp (numbered) or syn."""

import sys

from scapy.all import Ether, IP, TCP, UDP, rdpcap


def rebuilt(packet, layer):
    """The packet as Scapy makes it when it fills lengths and checksums itself; UDP has none."""
    fresh = Ether(bytes(packet))
    del fresh[IP].chksum
    del fresh[IP].len
    if layer is UDP:
        del fresh[UDP].len
    else:
        del fresh[TCP].chksum
    return bytes(fresh)


def check(packet, layer):
    assert packet[Ether].dst == "02:00:00:00:00:01", packet[Ether].dst
    assert packet[IP].ttl == 64 and packet[IP].version == 4 and packet[IP].ihl == 5
    assert packet[IP].src.startswith(("198.18.", "198.19.")), packet[IP].src
    assert rebuilt(packet, layer) == bytes(packet), packet.show(dump=True)
    if layer is UDP:
        assert packet[UDP].chksum == 0
        assert bytes(packet[UDP].payload)[:8] == b"MILLRACE"
        assert packet[IP].len == len(packet) - 14, (packet[IP].len, len(packet))
    else:
        assert packet[TCP].flags == "S" and packet[TCP].dataofs == 5
        assert packet[IP].len == (40 if len(packet) == 60 else len(packet) - 14), packet[IP].len


packets = rdpcap(sys.argv[1])
assert len(packets) == int(sys.argv[2]), len(packets)
assert len({len(packet) for packet in packets}) == 5
for packet in packets:
    check(packet, {"udp": UDP, "syn": TCP}[sys.argv[3]])
