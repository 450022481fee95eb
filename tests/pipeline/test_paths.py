# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Several paths of one port, by `match`, through real processes."""

import collections
import struct

import frames
from topology import Topology

FRAME_COUNT = 20000
FLOW_COUNT = 60
EDGE = 512  # of the ports that path `low` takes


def topology(folder, capture):
    return f"""
batch: {{ capacity: 32 }}
ports:
  in:  {{ device: pcap, in: {capture} }}
  udp: {{ device: pcap, out: {folder}/udp.pcap }}
  low: {{ device: pcap, out: {folder}/low.pcap }}
workers:
  front: {{ kind: classifier, count: 2 }}
  state: {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  look:  {{ type: match, rules: none.rules, on: front }}
  order: {{ type: record, on: state }}
paths:
  voice: {{ from: in, to: udp, match: udp, run: [look] }}
  low:   {{ from: in, to: low, match: "tcp and portrange 1-{EDGE}", run: [look, order] }}
"""


def way_of(data):
    """Which path a packet should take: the name of its port, or None."""
    if data[23] == 17:
        return "udp"
    ports = struct.unpack("!HH", data[34:38])
    return "low" if min(ports) <= EDGE else None


def test_each_packet_takes_the_first_path_that_matches(tmp_path):
    (tmp_path / "none.rules").write_text('alert "nothing of the kind"\n')
    packets = frames.flow_frames(5, FRAME_COUNT, FLOW_COUNT)
    capture = frames.write_capture(tmp_path / "in.pcap", [(data, len(data)) for data in packets])
    expected = collections.defaultdict(list)
    for data in packets:
        expected[way_of(data)].append(data)
    assert all(len(expected[name]) > FRAME_COUNT / 10 for name in ("udp", "low", None))
    with Topology(tmp_path, topology(tmp_path, capture)) as running:
        audit = running.settle(received=FRAME_COUNT)
        plan = running.plan()
        drops = running.metrics().by("path", "millrace_drops_total", reason="no_path")
    assert audit["dropped"] == {"no_path": len(expected[None])}
    assert frames.read_capture(tmp_path / "udp.pcap") == expected["udp"]
    low = frames.read_capture(tmp_path / "low.pcap")
    assert frames.by_flow(low) == frames.by_flow(expected["low"])
    assert [path["path"] for path in plan["streams"][0]["paths"]] == ["voice", "low"]
    assert len({lane["lane"] for lane in audit["lanes"]}) == 9
    assert drops == {"voice": len(expected[None]), "low": 0}
