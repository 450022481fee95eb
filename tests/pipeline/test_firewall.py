# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""acl in front of route: the example firewall.yaml with captures for interfaces, on both kinds of
workers."""

import collections
import random
import socket
import struct

import frames
import pytest
from topology import ROOT, Topology

TOPOLOGIES = ROOT / "orchestration/topologies"
FRAME_COUNT = 20000
LAN, WAN = "10.1.0.2", "192.0.2.77"


def passes(protocol, outside):
    """What firewall.rules says of a packet by the port of its outer end."""
    if protocol == 6:
        return outside in (80, 443)  # frames.frame() sets ACK
    return outside in (53, 5060, 5061)


def packets_of(seed):
    """(frame, port it should leave by or None) of packets in both directions."""
    chance = random.Random(seed)
    number_of = {name: struct.unpack("!I", socket.inet_aton(name))[0] for name in (LAN, WAN)}
    made = []
    for number in range(FRAME_COUNT):
        protocol = chance.choice((6, 17))
        inside = chance.randrange(1024, 65536)
        outside = chance.choice((53, 80, 443, 5061, 23, 8080))
        outwards = chance.random() < 0.5
        ends = [(number_of[LAN], inside), (number_of[WAN], outside)]
        (source, port), (to, to_port) = ends if outwards else reversed(ends)
        flow = (protocol, source, port, to, to_port)
        data = frames.frame(flow, number, struct.pack("!Q", number))
        way = "wan" if outwards else "lan"
        made.append((data, way if passes(protocol, outside) else None))
    return made


def topology(folder, capture, on):
    text = (TOPOLOGIES / "firewall.yaml").read_text(encoding="utf-8")
    functions = text[text.index("functions:"):].replace("on: front", f"on: {on}")
    functions = functions.replace("firewall.rules", str(TOPOLOGIES / "firewall.rules"))
    # Neighbours that nothing has to ask for: those of a capture do not answer.
    (folder / "router.routes").write_text("10.1.0.0/24 lan 02:00:00:00:01:02\n"
                                          "192.0.2.0/24 wan 02:00:00:00:02:02\n"
                                          "0.0.0.0/0 wan 02:00:00:00:02:02\n")
    return f"""
ports:
  lan: {{ device: pcap, in: {capture}, out: {folder}/lan.pcap, addresses: [10.1.0.1/24] }}
  wan: {{ device: pcap, out: {folder}/wan.pcap, addresses: [192.0.2.1/24] }}
workers:
  front: {{ kind: classifier, count: 2 }}
  gpu:   {{ kind: gpu, device: software, seed: 3, delay_us: 100, reorder: true }}
{functions.replace("[lan, wan]", "lan")}"""


@pytest.mark.parametrize("on", ["front", "gpu"])
def test_the_example_passes_what_its_rules_say(tmp_path, on):
    made = packets_of(11)
    capture = frames.write_capture(tmp_path / "in.pcap", [data for data, _ in made])
    with Topology(tmp_path, topology(tmp_path, capture, on)) as running:
        audit = running.settle(received=FRAME_COUNT)
    expected = collections.defaultdict(list)
    for data, way in made:
        expected[way].append(data[42 if data[23] == 17 else 54:])
    assert audit["dropped"] == {"rule": len(expected[None])}
    for port in ("lan", "wan"):
        found = [data[42 if data[23] == 17 else 54:]
                 for data in frames.read_capture(tmp_path / f"{port}.pcap")]
        assert found == expected[port], port
        assert len(found) > FRAME_COUNT / 10
