# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`streams` between a sender that splits, reorders, overlaps and repeats its segments, and a socket
of Linux: its files have what the application there has read, byte for byte. `make soak` has
more seeds."""

import json
import os

import pytest

from odd_peers import FIRST_PORT, SENDER, facing_odd_sender, send_oddly
from processes import PATIENCE, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

COUNT = int(os.environ.get("MILLRACE_STREAM_SEEDS", "20"))
TOPOLOGY = """
batch: {{ capacity: 32 }}
events: {{}}
ports:
  lan: {{ device: afpacket, interface: {a}, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  wan: {{ device: afpacket, interface: {b}, mac: "02:00:00:00:00:0b", addresses: [192.0.2.2/30] }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  flow: {{ type: flow, max: 65536, pickup: false }}
  inspect: {{ type: inspect, rules: words.rules, streams: 4096, memory_mb: 32 }}
  streams: {{ type: streams, folder: streams }}
  route: {{ type: route, table: empty.routes }}
paths:
  main: {{ from: [lan, wan], to: wan, run: [{run}], lanes: 4 }}
"""


def streamed(folder, run):
    (folder / "words.rules").write_text('drop "no sender says this, whatever its seed"\n')
    lines = TOPOLOGY.splitlines(True)
    text = "".join(line for line in lines if "inspect" in run or "inspect:" not in line)
    return facing_odd_sender(folder, text, run=run)


def content(path):
    return path.read_bytes() if path.exists() else b""


@pytest.mark.parametrize("run, mode", (("flow, inspect, streams, route", "unlike"),
                                       ("flow, streams, route", "alike")))
def test_files_are_what_the_receiver_has_read(run, mode, tmp_path, seed):
    with streamed(tmp_path, run) as wire:
        for number in range(COUNT):
            port, one = FIRST_PORT + number, seed + number
            print(f"MILLRACE_SEED={one}")
            assert send_oddly(wire, port, one, mode) == 0
            got = content(tmp_path / f"got-{port}")
            name = f"{SENDER}.{port}-{wire.b.ip}.7000"
            wait_until(lambda name=name, got=got: content(tmp_path / "streams" / name) == got,
                       PATIENCE, f"all of {name}, seed {one}")
            back = tmp_path / "streams" / f"{wire.b.ip}.7000-{SENDER}.{port}"
            wait_until(lambda back=back, got=got: content(back) == b"%d bytes\n" % len(got),
                       PATIENCE, f"the answer in {back}")
        wire.running.settle()
    lines = [json.loads(line) for line in
             (tmp_path / "streams/connections.jsonl").read_text().splitlines()]
    assert all(file["missing_bytes"] == 0 for line in lines for file in line["streams"])
    assert sum(line["src_ip"] == SENDER for line in lines) == COUNT
