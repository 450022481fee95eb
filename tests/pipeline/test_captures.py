# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Every shared Ethernet capture, merged, through real processes, equal to the oracles."""

import collections
import random

import frames
import route_oracle
from capture_records import packets_of
from captures import unpack
from test_match_captures import expected_end, expected_words, write_rules
from topology import Topology

import pytest

PORTS = {"lan": {"mac": "02:00:00:00:00:0a", "addresses": ["10.0.0.1/24", "192.168.1.1/24"]},
         "wan": {"mac": "02:00:00:00:00:0b", "addresses": ["172.16.0.1/30"]},
         "dmz": {"mac": "02:00:00:00:00:0c", "addresses": []}}
ROUTES = """
0.0.0.0/0        wan 02:00:00:00:01:01
10.0.0.0/8       lan 02:00:00:00:01:02
10.0.0.0/24      dmz 02:00:00:00:01:03
192.168.0.0/16   lan 02:00:00:00:01:05
172.16.0.0/12    drop
8.8.8.0/24       wan 02:00:00:00:01:08
"""
RULES = (  # action, literal, nocase, protocol number, port; by strength
    ("drop", b"/secret", True, 0, 0),
    ("drop", b"\x7fELF", False, 6, 0),
    ("drop", b"password", True, 0, 0),
    ("drop", b"HTTP/1.0", False, 6, 80),
    ("alert", b"google", True, 0, 0),
    ("alert", b"\x00\x00", False, 17, 0),
)


@pytest.fixture(scope="session")
def merged(tmp_path_factory):
    """(bytes, length on the wire) of all packets of all Ethernet captures, the captures' packets in
    random turns, and the file that holds them."""
    folder = tmp_path_factory.mktemp("captures")
    queues = []
    for path in sorted(unpack("pcap").rglob("*")):
        link_type, packets = packets_of(path) if path.is_file() else (None, [])
        if link_type == 1:
            queues.append(collections.deque((data, wire) for data, wire, _ in packets))
    assert len(queues) == 864
    order = [number for number, queue in enumerate(queues) for _ in queue]
    random.Random(1).shuffle(order)
    packets = [queues[number].popleft() for number in order]
    assert len(packets) > 48000
    return packets, frames.write_capture(folder / "merged.pcap", packets)


def topology(folder, capture, function, on):
    ports = "".join(
        f"  {name}: {{ device: pcap, out: {folder}/{name}.pcap, mac: \"{port['mac']}\", "
        f"addresses: {port['addresses']} }}\n" for name, port in PORTS.items())
    return f"""
ports:
{ports}
  in: {{ device: pcap, in: {capture} }}
workers:
  front: {{ kind: classifier, count: 3, dispatch: any }}
  gpu:   {{ kind: gpu, device: software, seed: 7, delay_us: 300, reorder: true, late: 100 }}
functions:
  work: {{ {function}, on: {on} }}
paths:
  main: {{ from: in, to: wan, run: [work] }}
"""


def run(folder, capture, function, on, packets):
    """The final audit, after no process had to be started twice."""
    with Topology(folder, topology(folder, capture, function, on)) as running:
        audit = running.settle(received=len(packets))
        assert all(restarts == 0 for _, _, restarts in running.lives().values())
    return audit


@pytest.mark.parametrize("on", ["front", "gpu"])
def test_route_equals_its_oracle(tmp_path, merged, on):
    packets, capture = merged
    (tmp_path / "all.routes").write_text(ROUTES)
    audit = run(tmp_path, capture, "type: route, table: all.routes, answers: false", on, packets)
    routes = route_oracle.Routes(ROUTES, PORTS)
    expected = [route_oracle.route(data, wire, routes) for data, wire in packets]
    reasons = collections.Counter(reason for reason, _, _ in expected)
    assert audit["transmitted"] == reasons.pop("none")
    assert audit["dropped"] == dict(reasons) and reasons["oversize"] > 0 and len(reasons) > 6
    for name in PORTS:
        sent = [out for _, out, port in expected if port == name]
        assert frames.read_capture(tmp_path / f"{name}.pcap") == sent
        assert len(sent) > 100


@pytest.mark.parametrize("on", ["front", "gpu"])
def test_match_equals_its_oracle(tmp_path, merged, on):
    packets, capture = merged
    write_rules(tmp_path / "all.rules", RULES)
    audit = run(tmp_path, capture, "type: match, rules: all.rules", on, packets)
    frames_in = [data for data, _ in packets]
    words = expected_words(frames_in, RULES)
    ends = [expected_end(word, data, RULES)[1] for data, word in zip(frames_in, words)]
    reasons = collections.Counter(ends)
    assert audit["transmitted"] == reasons.pop("none")
    assert audit["dropped"] == dict(reasons) and reasons["rule"] > 100
    passed = [data for data, end in zip(frames_in, ends) if end == "none"]
    assert frames.read_capture(tmp_path / "wan.pcap") == passed
