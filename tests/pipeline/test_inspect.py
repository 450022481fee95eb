# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Connections that `inspect` reads: no word that it drops arrives, however it is cut, and all else
does, also while workers die."""

import contextlib
import os

import pytest

from processes import PATIENCE, wait_until
from routed import functions_between, kill_workers_under
from wire import SINK, received

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

WORD = "forbidden-word"
TOPOLOGY = """
batch: {{ capacity: 32 }}
ports:
  lan: {{ device: afpacket, interface: {a}, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  wan: {{ device: afpacket, interface: {b}, mac: "02:00:00:00:00:0b", addresses: [192.0.2.2/30] }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  flow: {{ type: flow, max: 4096, pickup: false }}
  inspect: {{ type: inspect, rules: words.rules, streams: 4096, memory_mb: 32 }}
  route: {{ type: route, table: empty.routes }}
paths:
  main: {{ from: [lan, wan], to: wan, run: [flow, inspect, route], lanes: 4 }}
"""
# Sends each piece in a segment of its own, when the one before has arrived: ADDRESS PIECE...
SEND = """
import socket, sys, time
client = socket.create_connection((sys.argv[1], 7000))
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
def unacknowledged():
    return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 28)[24:28] != bytes(4)
for piece in sys.argv[2:]:
    client.sendall(piece.encode())
    while unacknowledged():
        time.sleep(0.001)
"""


@contextlib.contextmanager
def inspected(folder):
    """`wire.a` sends, `wire.b` is the server."""
    (folder / "words.rules").write_text(f'drop "{WORD}" nocase\n')
    with functions_between(folder, TOPOLOGY) as wire:
        wire.b.listen(7000, "python3", "-c", SINK, wire.b.ip, folder)
        yield wire


def dropped(wire):
    return wire.running.audit()["dropped"].get("rule", 0)


def pieces_of(word):
    """The word in two pieces, at each place, and in letters."""
    return [(word[:at], word[at:]) for at in range(1, len(word), 4)] + [tuple(word)]


def test_a_word_that_is_split_does_not_arrive(tmp_path):
    with inspected(tmp_path) as wire:
        for number, pieces in enumerate(pieces_of(WORD), 1):
            before = dropped(wire)
            wire.a.start("python3", "-c", SEND, wire.b.ip, f"begins-{number} ", *pieces, " ends")
            wait_until(lambda before=before: dropped(wire) > before, PATIENCE, "a drop")
            begin = f"begins-{number} ".encode() + "".join(pieces[:-1]).encode()
            wait_until(lambda begin=begin: begin in received(tmp_path), PATIENCE, "its front")
        wire.a.run("python3", "-c", SEND, wire.b.ip, WORD[:5], "-other-", WORD[5:])
        wait_until(lambda: f"{WORD[:5]}-other-{WORD[5:]}".encode() in received(tmp_path), PATIENCE,
                   "what is harmless")
        assert WORD.encode() not in received(tmp_path) and b"ends" not in received(tmp_path)
        wire.running.settle()


def test_a_worker_that_dies_lets_no_word_through_and_breaks_no_connection(tmp_path):
    with inspected(tmp_path) as wire:
        def transfer():
            before = dropped(wire)
            wire.a.start("python3", "-c", SEND, wire.b.ip, *WORD)
            wire.fetch(tmp_path, 20)
            wait_until(lambda: dropped(wire) > before, PATIENCE, "a drop")
            assert WORD.encode() not in received(tmp_path)
        kill_workers_under(wire, transfer)
        assert WORD.encode() not in received(tmp_path)
        wire.running.settle()
