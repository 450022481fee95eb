# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Copies that `tee` asks for leave by its port once each and whole, by what becomes of packets."""

import collections
import random

import frames
import pytest
import topology
from test_changes import fused
from topology import Topology

COUNT = 20000
DROPPED = "13579"  # kinds of packets that a rule behind the tee drops
FEW = "12"  # kinds that have a class


def text(folder, packets="all", when="", on="front", source=""):
    (folder / "drop.rules").write_text("".join(f'drop "kind {kind}"\n' for kind in DROPPED))
    (folder / "mark.rules").write_text("".join(f'class few "kind {kind}"\n' for kind in FEW))
    source = source or f"device: pcap, in: {folder}/in.pcap"
    made = f"""
batch: {{ capacity: 32 }}
ports:
  in:  {{ {source} }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
  spy: {{ device: pcap, out: {folder}/spy.pcap }}
workers:
  front: {{ kind: classifier, count: 2, max: 2, dispatch: any }}
functions:
  mark: {{ type: match, rules: mark.rules, classes: [few] }}
  tee:  {{ type: tee, port: spy, packets: {packets}{when} }}
  drop: {{ type: match, rules: drop.rules }}
paths:
  main: {{ from: in, to: out, run: [mark, tee, drop] }}
"""
    return fused(made) if on == "fused" else made


def make_packets(folder):
    """kind -> packets of it, each with a number of its own, as they are in the capture."""
    chance, made, kinds = random.Random(3), [], collections.defaultdict(list)
    for number in range(COUNT):
        kind = str(chance.randrange(10))
        flow = (17, 0x0A000001 + chance.randrange(40), 5000, 0xC0000202, 53)
        payload = f"kind {kind} {number} ".encode() + b"x" * chance.randrange(900)
        made.append(frames.frame(flow, number, payload))
        kinds[kind].append(made[-1])
    frames.write_capture(folder / "in.pcap", made)
    return kinds


def of_kinds(kinds, wanted):
    return sorted(data for kind in wanted for data in kinds[kind])


PASSED = "02468"
CASES = {"all": ("all", "", "0123456789"), "passed": ("passed", "", PASSED),
         "dropped": ("dropped", "", DROPPED), "class": ("all", ", when: class few", FEW),
         "class dropped": ("dropped", ", when: class few", "1")}


@pytest.mark.parametrize("on", ["front", "fused"])
@pytest.mark.parametrize("case", CASES)
def test_copies_are_of_the_packets_that_were_asked_for(tmp_path, case, on):
    packets, when, wanted = CASES[case]
    kinds = make_packets(tmp_path)
    copied = of_kinds(kinds, wanted)
    with Topology(tmp_path, text(tmp_path, packets, when, on)) as running:
        audit = running.settle(received=COUNT)
        topology.assert_nothing_left(audit)
        hits = running.metrics().by("number", "millrace_function_number_hits_total",
                                    function="tee")
    lost = audit["dropped"].get("no_buffer", 0)  # an egress has so many for copies
    assert audit["generated"] == {"copy": len(copied)}
    assert audit["dropped"].get("rule", 0) == len(of_kinds(kinds, DROPPED))
    seen = COUNT if not when else len(of_kinds(kinds, FEW))
    assert (hits["0"], hits["1"]) == (seen, 0)
    assert sorted(frames.read_capture(tmp_path / "out.pcap")) == of_kinds(kinds, PASSED)
    spied = sorted(frames.read_capture(tmp_path / "spy.pcap"))
    assert len(spied) == len(copied) - lost
    assert spied == copied if not lost else not collections.Counter(spied) - collections.Counter(
        copied)


def test_workers_die_and_no_copy_leaves_twice(tmp_path, seed):
    chance = random.Random(seed)
    source = "device: generate, numbered: true, flows: 64, count: 0, rate_mpps: 0.01"
    with Topology(tmp_path, text(tmp_path, source=source),
                  words=topology.QUICK_RESTARTS) as running:
        for _ in range(6):
            running.wait_received(running.audit()["received"] + 500)
            name = chance.choice(["front.0", "front.1"])
            running.kill(name)
            running.wait_alive(name)
        audit = running.drain()
        topology.assert_nothing_left(audit)
        lost = audit["dropped"].get("worker_lost", 0)
        assert set(audit["dropped"]) <= {"worker_lost", "no_buffer"}
        assert audit["generated"]["copy"] == audit["received"] - lost
    spied = frames.numbers_in(tmp_path / "spy.pcap")
    assert len(spied) == len(set(spied))
    assert set(spied) <= set(frames.numbers_in(tmp_path / "out.pcap"))
