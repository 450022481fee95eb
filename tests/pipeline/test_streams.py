# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`streams` between a sender that splits, reorders, overlaps and repeats its segments, and a socket
of Linux: its files have what the application there has read, byte for byte. `make soak` has
more seeds."""

import contextlib
import json
import os
import pathlib
import random

import pytest

import odd_sender
from processes import PATIENCE, wait_until
from routed import RIGHT, lay_left, lay_right
from topology import Topology
from wire import Wire

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

COUNT = int(os.environ.get("MILLRACE_STREAM_SEEDS", "20"))
SENDER = "10.1.0.66"  # no kernel's
GATEWAY = "02:00:00:00:00:0a"
FIRST_PORT = 10_000
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
# What each connection brings into a file of its port; then says the number of bytes, and ends.
SERVER = """
import pathlib, socket, sys, threading
server = socket.create_server((sys.argv[1], 7000), backlog=64)
def take(connection, port):
    count = 0
    with open(pathlib.Path(sys.argv[2]) / f"got-{port}", "wb", buffering=0) as file:
        while data := connection.recv(65536):
            file.write(data)
            count += len(data)
    connection.sendall(b"%d bytes\\n" % count)
    connection.close()
while True:
    connection, peer = server.accept()
    threading.Thread(target=take, args=(connection, peer[1]), daemon=True).start()
"""


@contextlib.contextmanager
def streamed(folder, run):
    (folder / "words.rules").write_text('drop "no sender says this, whatever its seed"\n')
    (folder / "empty.routes").write_text("10.66.0.0/16 drop\n")
    with Wire(addresses=("10.1.0.5/24", "192.0.2.1/30")) as wire:
        lay_left(wire.a)
        lay_right(wire.b)
        text = TOPOLOGY.format(a=wire.port_a, b=wire.port_b, run=run)
        if "inspect" not in run:
            text = "".join(line for line in text.splitlines(True) if "inspect:" not in line)
        with Topology(folder, text, prefix=wire.prefix) as running:
            wire.running = running
            wire.a.wait_for(RIGHT["ipv4"])
            wire.b.start("python3", "-c", SERVER, wire.b.ip, folder)
            wait_until(lambda: wire.b.run("ss", "-Hltn", "sport = :7000").stdout, PATIENCE,
                       "a server")
            yield wire


def send(wire, port, seed, mode):
    count = random.Random(seed).choice((1, 100, 3000, 20_000, 60_000))
    wire.a.run("python3", pathlib.Path(odd_sender.__file__), "eth", SENDER, wire.b.ip, GATEWAY,
               port, seed, count, mode)


def content(path):
    return path.read_bytes() if path.exists() else b""


@pytest.mark.parametrize("run, mode", (("flow, inspect, streams, route", "unlike"),
                                       ("flow, streams, route", "alike")))
def test_files_are_what_the_receiver_has_read(run, mode, tmp_path, seed):
    with streamed(tmp_path, run) as wire:
        for number in range(COUNT):
            port, one = FIRST_PORT + number, seed + number
            print(f"MILLRACE_SEED={one}")
            send(wire, port, one, mode)
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
