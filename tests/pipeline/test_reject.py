# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Clients of the kernel behind a bump in the wire whose acl rejects: they are refused at once."""

import json

import pytest

from processes import PATIENCE, wait_until
from wire import Wire

RULES = """
reject tcp any -> any port 23
reject udp any -> any port 53
"""

PORTS = """
ports:
  a: {{ device: afpacket, interface: {wire.port_a} }}
  b: {{ device: afpacket, interface: {wire.port_b} }}
functions:
  wall: {{ type: acl, rules: wall.rules }}
paths:
  both: {{ from: [a, b], run: [wall] }}
"""

# Prints what the kernel says of a connection, and of a datagram once it has been answered.
CLIENT = """
import errno, json, socket, sys
def said(kind, port):
    with socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, kind) as client:
        client.settimeout(float(sys.argv[2]))
        try:
            client.connect((sys.argv[1], port))
            if kind == socket.SOCK_DGRAM:
                client.send(b"who is it")
                client.recv(100)
            return "open"
        except OSError as error:
            return errno.errorcode.get(error.errno, str(error))
print(json.dumps({"tcp": said(socket.SOCK_STREAM, 23), "udp": said(socket.SOCK_DGRAM, 53)}))
"""


@pytest.mark.parametrize("family", [4, 6])
def test_clients_are_refused_at_once(tmp_path, family):
    (tmp_path / "wall.rules").write_text(RULES)
    with Wire() as wire:
        server = wire.b.ip
        if family == 6:
            server = "2001:db8::b"
            wire.a.run("ip", "address", "add", "2001:db8::a/64", "dev", "eth", "nodad")
            wire.b.run("ip", "address", "add", f"{server}/64", "dev", "eth", "nodad")
        with wire.between(tmp_path, PORTS.format(wire=wire)) as running:
            wire.a.wait_for(wire.b.ip)
            counts = []

            def one_answer_each():
                """On a host without time a client asks again, and is answered again."""
                before = running.settle()
                said = json.loads(wire.a.run("python3", "-c", CLIENT, server, PATIENCE,
                                             timeout=3 * PATIENCE).stdout)
                assert said == {"tcp": "ECONNREFUSED", "udp": "ECONNREFUSED"}
                audit = running.settle()
                counts[:] = [audit[what].get(reason, 0) - before[what].get(reason, 0)
                             for what, reason in (("dropped", "rule"), ("generated", "reply"),
                                                  ("generated", "report"))]
                assert counts[0] == counts[1] + counts[2] >= 2 and min(counts) > 0, counts
                return counts == [2, 1, 1]
            wait_until(one_answer_each, PATIENCE, lambda: f"one answer each: {counts}")
