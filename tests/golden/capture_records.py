# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Packets of capture files with their length on the wire. Shares no code with the path."""

import pathlib
import struct

PCAP_MAGICS = {b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\xa1\xb2\xc3\xd4": (">", 1000),
               b"\x4d\x3c\xb2\xa1": ("<", 1), b"\xa1\xb2\x3c\x4d": (">", 1)}
ETHERNET = 1


def pcap_packets(data):
    """(link type, [(bytes, wire length, time in ns)]); stops where the file breaks off."""
    order, tick = PCAP_MAGICS[data[:4]]
    snap_length, link_type = struct.unpack_from(order + "II", data, 16)
    link_type &= 0x0FFFFFFF
    packets, at = [], 24
    while at + 16 <= len(data):
        seconds, fraction, captured, wire = struct.unpack_from(order + "IIII", data, at)
        if at + 16 + captured > len(data):
            break
        # As libpcap: nothing behind the snap length, whatever the record says.
        bytes_ = data[at + 16:at + 16 + min(captured, snap_length or captured)]
        packets.append((bytes_, max(wire, captured), seconds * 10**9 + fraction * tick))
        at += 16 + captured
    return link_type, packets


def pcapng_blocks(data):
    """(byte order, type, body) of each whole block."""
    at, order = 0, "<"
    while at + 12 <= len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
        kind, length = struct.unpack_from(order + "II", data, at)
        if length < 12 or at + length > len(data):
            return
        yield order, kind, data[at + 8:at + length - 4]
        at += length


def pcapng_packets(data):
    """As pcap_packets(); the link type is -1 when interfaces differ. Times are left 0."""
    link_types, packets = [], []
    for order, kind, body in pcapng_blocks(data):
        if kind == 1:
            link_types.append(struct.unpack_from(order + "H", body)[0])
        elif kind == 6:
            captured, wire = struct.unpack_from(order + "II", body, 12)
            packets.append((body[20:20 + captured], max(wire, captured), 0))
        elif kind == 3:
            wire = struct.unpack_from(order + "I", body)[0]
            packets.append((body[4:4 + min(wire, len(body) - 4)], wire, 0))
    same = len(set(link_types)) == 1
    return (link_types[0] if same else -1), packets


def packets_of(path):
    """As pcap_packets(), for both formats; (None, []) for a file that is no capture."""
    data = pathlib.Path(path).read_bytes()
    if data[:4] in PCAP_MAGICS and len(data) >= 24:
        return pcap_packets(data)
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return pcapng_packets(data)
    return None, []


def ethernet_captures(folder):
    """Every capture of Ethernet frames only below the folder, sorted."""
    found = []
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and packets_of(path)[0] == ETHERNET:
            found.append(path)
    return found
