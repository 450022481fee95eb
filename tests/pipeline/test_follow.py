# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`millrace follow` shows the bytes of a connection that is there, as they come."""

import base64
import json
import os
import subprocess

import pytest

from processes import PATIENCE, wait_until
from routed import functions_between
from topology import BIN, millrace
from wire import SINK, received

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
TOPOLOGY = """
ports:
  lan: {{ device: afpacket, interface: {a}, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  wan: {{ device: afpacket, interface: {b}, mac: "02:00:00:00:00:0b", addresses: [192.0.2.2/30] }}
functions:
  flow: {{ type: flow }}
  route: {{ type: route, table: empty.routes }}
paths:
  main: {{ from: [lan, wan], to: wan, run: [flow, route] }}
"""
# Sends what it is given, line by line: ADDRESS PORT.
SAY = """
import socket, sys
client = socket.create_connection((sys.argv[1], int(sys.argv[2])))
for line in sys.stdin:
    client.sendall(line.encode())
"""


@pytest.fixture(name="wire")
def talking(tmp_path):
    """`wire.say(text)` sends a line over a connection that has been there before."""
    with functions_between(tmp_path, TOPOLOGY) as wire:
        wire.b.listen(7000, "python3", "-c", SINK, wire.b.ip, tmp_path)
        words = ["ip", "netns", "exec", wire.a.namespace, "python3", "-c", SAY, wire.b.ip]
        with subprocess.Popen([*words, "7000"], stdin=subprocess.PIPE, text=True) as client:
            def say(text):
                client.stdin.write(text + "\n")
                client.stdin.flush()
            wire.say = say
            say("before")
            wait_until(lambda: b"before" in received(tmp_path), PATIENCE, "a connection")
            yield wire


def followed(wire, *words):
    """What it prints of lines that are said again and again until it ends."""
    with subprocess.Popen([*map(str, wire.prefix), str(BIN / "millrace"), "follow",
                           wire.running.name, *words], stdout=subprocess.PIPE) as child:
        def has_ended():
            wire.say("a \x01 line")
            return child.poll() is not None
        wait_until(has_ended, PATIENCE, "the end of `follow`")
        assert child.returncode == 0
        return child.stdout.read()


def test_shows_what_is_said_from_now_on(wire):
    text = followed(wire, "dport=7000", "--bytes", "30").decode()
    assert "> a \\x01 line" in text and "before" not in text
    line = next(line for line in millrace("flows", wire.running.name, prefix=wire.prefix)
                .stdout.splitlines() if line.startswith("TCP"))
    ends = line.split("  ")[1].strip()
    raw = followed(wire, ends, "--raw", "--bytes", "30")
    assert b"a \x01 line\n" in raw
    pieces = [json.loads(line) for line in
              followed(wire, "src=10.1.0.5", "--json", "--bytes", "30").splitlines()]
    assert {piece["direction"] for piece in pieces} == {"to_server"}
    assert b"a \x01 line\n" in b"".join(base64.b64decode(piece["data"]) for piece in pieces)


def test_says_which_connections_there_are_where_not_one_is_meant(wire):
    done = millrace("follow", wire.running.name, "dport=7001", prefix=wire.prefix, check=False)
    assert done.returncode != 0 and "7001" in done.stdout + done.stderr
    wire.say("still there")
