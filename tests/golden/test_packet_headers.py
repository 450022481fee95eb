# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""parse_headers against Scapy's dissectors on the shared captures."""

import struct
import subprocess
from collections import Counter

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, _IPv6ExtHdr
from scapy.layers.ipsec import AH
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether

from captures import BUILD, captured_frames

OK, TRUNCATED, MALFORMED = 0, 1, 2
TCP_NUMBER, UDP_NUMBER, MOBILITY_NUMBER = 6, 17, 135
EXTENSIONS = (_IPv6ExtHdr, AH)


def dump(frames):
    """What parse_headers says of each frame, as lists of numbers."""
    data = b"".join(struct.pack("=I", len(frame)) + frame for frame in frames)
    out = subprocess.run([BUILD / "test/packet_headers_dump"], input=data, capture_output=True,
                         check=True).stdout
    return [[int(word) for word in line.split()] for line in out.splitlines()]


def walk(frame):
    """(layer, offset) of Scapy's layers."""
    layer, offset = Ether(frame), 0
    while layer:
        yield layer, offset
        offset += len(layer.raw_packet_cache or b"")
        layer = layer.payload


def scapy_view(frame):
    """Network, transport and payload offset and end as Scapy sees them; 0 where there is none."""
    network = transport = payload = end = tags = 0
    fragment = False
    protocol = None
    for layer, offset in walk(frame):
        size = len(layer.raw_packet_cache or b"")
        if network == 0:
            if isinstance(layer, (Dot1Q, Dot1AD)):
                tags += 1
            if isinstance(layer, IP):
                network, protocol = offset, layer.proto
                fragment = layer.frag > 0
                end = min(len(frame), offset + layer.len)
                transport = 0 if fragment else offset + size
            elif isinstance(layer, IPv6):
                network, protocol = offset, layer.nh
                end = min(len(frame), offset + 40 + layer.plen)
                transport = offset + size
            elif not isinstance(layer, (Ether, Dot1Q, Dot1AD)):
                break
        elif isinstance(layer, EXTENSIONS) and frame[network] >> 4 == 6:
            protocol, transport = layer.nh, offset + size
            if isinstance(layer, IPv6ExtHdrFragment) and layer.offset > 0:
                fragment, transport = True, 0
        else:
            if isinstance(layer, (TCP, UDP)) and offset == transport:
                payload = offset + size
            break
    return {"tags": tags, "network": network, "transport": transport, "payload": payload,
            "end": end, "protocol": protocol, "fragment": fragment}


def compare(found, frame, seen):
    """Holds one packet's fields against Scapy's; counts what was compared."""
    status, tags, _, version, protocol, _, _, network, transport, payload, end, _ = found
    try:
        view = scapy_view(frame)
    except struct.error:  # Scapy's own, on an authentication header that is cut
        seen["Scapy gave up"] += 1
        return
    if status == MALFORMED or view["tags"] > 2:
        seen["malformed"] += 1
        return
    if version == 0:
        seen["no IP"] += 1
        assert status == TRUNCATED or view["network"] == 0
        return
    seen[f"IPv{version}"] += 1
    assert network == view["network"] and tags == view["tags"]
    assert end == view["end"] or view["end"] == 0
    if status == TRUNCATED and transport == 0:
        seen["headers cut"] += 1
        return
    if view["protocol"] == MOBILITY_NUMBER:  # no extension header to Scapy
        seen["mobility"] += 1
        return
    assert transport == view["transport"]
    if transport != 0 and payload != 0 and protocol in (TCP_NUMBER, UDP_NUMBER):
        assert protocol == view["protocol"] and payload == view["payload"]
        seen["payload"] += 1


def test_offsets_equal_scapys_on_every_ethernet_capture():
    seen = Counter()
    captured = captured_frames()
    lines = dump([frame for _, _, frame in captured])
    assert len(lines) == len(captured)
    for line, (name, number, frame) in zip(lines, captured):
        try:
            compare(line, frame, seen)
        except AssertionError as error:
            raise AssertionError(f"{name} packet {number}: {line} {scapy_view(frame)}") from error
    print(dict(seen))
    assert seen["IPv4"] > 30000 and seen["IPv6"] > 1500 and seen["payload"] > 30000
    assert 0 < seen["malformed"] < 500 and seen["Scapy gave up"] < 50
