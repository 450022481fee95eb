# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A bump in the wire that knows connections, and lets no packet pass that fits none."""

import contextlib
import itertools
import os

import pytest

import topology
from behind import child, inside
from wire import Wire

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

# A connection that is met in its middle is none: one that its worker forgot would end.
PORTS = """
ports:
  a: {{ device: afpacket, interface: {wire.port_a} }}
  b: {{ device: afpacket, interface: {wire.port_b} }}
workers:
  front: {{ kind: classifier, count: 2, max: 3, dispatch: flow }}
functions:
  flow: {{ type: flow, on: front, max: 10000, pickup: false, invalid: drop }}
paths:
  both: {{ from: [a, b], run: [flow], lanes: 4 }}
"""
SERVER = """
import socketserver
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line)
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 64
server = Server(("", 7000), Echo)
print("ready", flush=True)
server.serve_forever()
"""
# Holds connections open, and sends a line through each whenever it is told to.
CLIENT = """
import socket, sys
ways = [socket.create_connection((sys.argv[1], 7000), 60).makefile("rw") for _ in range(20)]
print("open", flush=True)
for number, line in enumerate(sys.stdin):
    for way in ways:
        way.write(f"{number}\\n")
        way.flush()
    assert all(way.readline() == f"{number}\\n" for way in ways)
    print(number, flush=True)
"""


def test_connections_outlive_their_workers(tmp_path):
    with Wire() as wire, contextlib.ExitStack() as ends:
        running = ends.enter_context(wire.between(tmp_path, PORTS.format(wire=wire)))
        wire.a.wait_for(wire.b.ip)
        server = ends.enter_context(child(inside(wire.b), SERVER))
        assert server.stdout.readline() == "ready\n"
        client = ends.enter_context(child(inside(wire.a), CLIENT, wire.b.ip))
        assert client.stdout.readline() == "open\n"
        rounds = itertools.count()

        def all_answer():
            print("more", file=client.stdin, flush=True)
            assert client.stdout.readline() == f"{next(rounds)}\n"

        all_answer()
        for victim in ("front.0", "front.1", "front.0", "ingress.a.0", "egress.0"):
            running.kill(victim)
            all_answer()
        for workers in (3, 1, 2):
            running.scale("front", workers)
            all_answer()
        audit = running.settle()
        topology.assert_nothing_left(audit)
        assert audit["dropped"].get("flow_invalid", 0) == 0
