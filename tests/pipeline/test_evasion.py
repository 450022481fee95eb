# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A forbidden word that is cut, reordered, repeated, overlapped and hidden behind other bytes of
the same places: a socket of Linux behind `inspect` or `ids` never reads it, and reads all that has
no such word."""

import os

import pytest

from odd_peers import FIRST_PORT, facing_odd_sender, send_oddly
from odd_sender import REFUSED
from processes import PATIENCE, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

COUNT = int(os.environ.get("MILLRACE_STREAM_SEEDS", "10"))
WORD = "forbidden-word"
TOPOLOGY = """
batch: {{ capacity: 32 }}
ports:
  lan: {{ device: afpacket, interface: {a}, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  wan: {{ device: afpacket, interface: {b}, mac: "02:00:00:00:00:0b", addresses: [192.0.2.2/30] }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  flow: {{ type: flow, max: 65536, pickup: false }}
  look: {{ type: {look}, rules: words.rules, streams: 4096, memory_mb: 32 }}
  route: {{ type: route, table: empty.routes }}
paths:
  main: {{ from: [lan, wan], to: wan, run: [flow, look, route], lanes: 4 }}
"""
LOOKS = {"inspect": f'drop "{WORD}"\n',
         "ids": f'drop tcp any any -> any any (msg:"the word"; content:"{WORD}"; sid:1;)\n'}


def read_all(wire):
    """The server has read what its kernel has."""
    lines = wire.b.run("ss", "-Htn", "sport = :7000").stdout.splitlines()
    return all(line.split()[1] == "0" for line in lines)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("mode", ("alike", "unlike"))
def test_a_word_does_not_arrive_however_it_is_sent(look, mode, tmp_path, seed):
    (tmp_path / "words.rules").write_text(LOOKS[look])
    with facing_odd_sender(tmp_path, TOPOLOGY, look=look) as wire:
        for number in range(COUNT):
            word = (WORD,) if (seed + number) % 4 else ()
            print(f"MILLRACE_SEED={seed + number}")
            status = send_oddly(wire, FIRST_PORT + number, seed + number, mode, *word)
            assert not (word and mode == "alike") or status == REFUSED, seed + number
            assert word or status == 0
        wire.running.settle()
        wait_until(lambda: read_all(wire), PATIENCE, "all that has arrived is read")
        for number in range(COUNT):
            got = (tmp_path / f"got-{FIRST_PORT + number}").read_bytes()
            assert WORD.encode() not in got, f"seed {seed + number}"
