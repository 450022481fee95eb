# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Attacks on what `flow` and `ids` keep and look at, replayed lap by lap beside two hosts: every
packet is accounted for, no process grows with the laps, and what others ask for arrives whole."""

import os
import random

import attacks
import pytest

from frames import write_capture
from processes import PATIENCE, status_megabytes, wait_until
from routed import functions_between
from wire import PAGES

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

LAPS = 3
FETCHES = 3
PAGE = bytes(range(256)) * (2 << 10)
# Between the first lap and the last one a process may fill what it has bounds for: pages of the
# allocator, texts of parsers. Data that were kept of each lap would be more.
GROWTH_MB = 16
KEPT = {"connections": 3000}
OF_ATTACK = {"held data": KEPT, "fragments": {"count": 5000}, "one byte": {"connections": 12},
             "holes": {"connections": 3}, "bomb": {"connections": 2, "bodies": 2},
             "costly pcre": {"connections": 1}}
# What becomes of an attack; hosts tell each other of IPv6.
REASONS = {"stream_conflict", "stream_full", "no_route", "not_ipv4"}
TOPOLOGY = """
batch: {{ capacity: 32 }}
events: {{ file: {folder}/eve.json }}
ports:
  lan:  {{ device: afpacket, interface: {a}, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  wan:  {{ device: afpacket, interface: {b}, mac: "02:00:00:00:00:0b", addresses: [192.0.2.2/30] }}
  evil: {{ device: replay, file: {folder}/evil.pcap, count: {count}, rate_mpps: 0.01 }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  flow:  {{ type: flow, max: 16384 }}
  ids:   {{ type: ids, rules: own.rules, events: true, streams: 8192, memory_mb: 32 }}
  route: {{ type: route, table: own.routes }}
paths:
  main: {{ from: [lan, wan, evil], to: wan, run: [flow, ids, route], lanes: 4, buffers: 16384 }}
"""


def own_megabytes(running):
    """name of each actor -> what it has for itself."""
    return {name: status_megabytes(pid, "RssAnon")
            for name, (pid, _, _) in running.lives().items()}


def fetch(wire):
    """The page, through the functions that are attacked."""
    target = wire.folder / "got"
    wire.a.run("curl", "-s", "--max-time", PATIENCE, "-o", target,
               f"http://{wire.b.ip}:8080/page", timeout=2 * PATIENCE)
    return target.read_bytes()


def of_attack(wire):
    return wire.metrics_of(wire.running).total("millrace_port_received_packets_total",
                                               port="evil")


@pytest.mark.parametrize("attack", attacks.ATTACKS)
def test_others_get_all_their_bytes_and_nothing_grows(tmp_path, attack, seed):
    frames = attacks.ATTACKS[attack](random.Random(seed), **OF_ATTACK.get(attack, {}))
    write_capture(tmp_path / "evil.pcap", frames)
    (tmp_path / "own.rules").write_text(attacks.COSTLY_RULES)
    (tmp_path / "own.routes").write_text(f"{attacks.SOURCES} drop\n{attacks.SERVERS} drop\n")
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "page").write_bytes(PAGE)
    laps = LAPS * len(frames)
    with functions_between(tmp_path, TOPOLOGY, count=laps) as wire:
        wire.folder = tmp_path
        wire.b.listen(8080, "python3", "-c", PAGES, wire.b.ip, tmp_path / "public")
        wait_until(lambda: of_attack(wire) >= len(frames), PATIENCE, "a lap")
        before = own_megabytes(wire.running)
        for _ in range(FETCHES):
            assert fetch(wire) == PAGE
        wait_until(lambda: of_attack(wire) == laps, PATIENCE, "all laps")
        assert fetch(wire) == PAGE
        audit = wire.running.drain()
        after = own_megabytes(wire.running)
        assert wire.running.lives() == wire.lives
    assert set(audit["dropped"]) <= REASONS, audit["dropped"]
    assert sum(audit["dropped"].values()) >= laps
    grown = {name: (before[name], after[name]) for name in before
             if after[name] > before[name] + GROWTH_MB}
    assert not grown, grown


def total_of(wire, metric, **labels):
    return wire.metrics_of(wire.running).total(metric, **labels)


@pytest.mark.parametrize("mode", ["ips", "ids"])
@pytest.mark.parametrize("attack", ["costly pcre", "bomb"])
def test_what_costs_too_much_loses_its_claim(tmp_path, attack, mode, seed):
    """Where rules may drop, it does not pass unread; where they do not, they give it up. In both
    others get what they ask for, without a limit of laps: until units of work are used up."""
    frames = attacks.ATTACKS[attack](random.Random(seed), **OF_ATTACK[attack])
    write_capture(tmp_path / "evil.pcap", frames)
    (tmp_path / "own.rules").write_text(attacks.COSTLY_RULES.replace("alert ", "drop "))
    (tmp_path / "own.routes").write_text(f"{attacks.SOURCES} drop\n{attacks.SERVERS} drop\n")
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "page").write_bytes(PAGE)
    topology = TOPOLOGY.replace("type: ids,", f"type: ids, mode: {mode},").replace(
        ", count: {count}", "")
    with functions_between(tmp_path, topology) as wire:
        wire.folder = tmp_path
        wire.running.endless = True
        wire.b.listen(8080, "python3", "-c", PAGES, wire.b.ip, tmp_path / "public")
        wait_until(lambda: total_of(wire, "millrace_function_named_hits_total", function="ids",
                                    counter="given_up") > 0, PATIENCE, "work that is given up")
        if mode == "ips":
            wait_until(lambda: total_of(wire, "millrace_function_drops_total", function="ids",
                                        reason="too_costly") > 0, PATIENCE, "a drop for it")
        assert fetch(wire) == PAGE
        wire.running.endless = False
        audit = wire.running.drain()
        assert wire.running.lives() == wire.lives
    assert ("too_costly" in audit["dropped"]) == (mode == "ips"), audit["dropped"]
    assert set(audit["dropped"]) <= REASONS | {"too_costly", "rule"}, audit["dropped"]
