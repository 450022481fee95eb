# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Processes die while packets go round in a loop, where ticks are born: what is lost is counted,
nothing comes twice, and each flow stays in order."""

import frames
import topology
from ordeal import SEEDS, Ordeal
from topology import Topology

import pytest

CAPACITY = 16
ROUNDS = 3  # of round-classifier
FLOWS = 64
STRUCK = ("ingress.again.0", "ingress.again.1", "egress.0", "front.0", "ingress.in.0")
BLOWS = 12


@pytest.fixture(autouse=True)
def rounds(tmp_path, monkeypatch):
    """The topology has classifiers that send packets round."""
    folder = topology.with_program(tmp_path / "bin", "round-classifier", "millrace-classifier")
    monkeypatch.setattr(topology, "BIN", folder)


def under_load(folder, seed, queues):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  in:    {{ device: generate, numbered: true, flows: {FLOWS}, seed: {seed}, rate_mpps: 0.004 }}
  out:   {{ device: pcap, out: {folder}/out.pcap }}
  again: {{ device: loop, queues: {queues}, depth: 65536, tick: 100ms }}
workers:
  front: {{ kind: classifier, count: 2, max: 2, dispatch: any }}
functions:
  look: {{ type: match, rules: all.rules }}
paths:
  first: {{ from: in, to: out, run: look, lanes: 4 }}
  round: {{ from: again, to: out, run: look, lanes: 4 }}
"""


def assert_once_and_in_order(numbers):
    assert len(numbers) == len(set(numbers))
    for flow in range(FLOWS):
        of_flow = [number for number in numbers if number % FLOWS == flow]
        assert of_flow == sorted(of_flow)


@pytest.mark.parametrize("number", SEEDS)
def test_kills_lose_what_is_counted_and_double_nothing(tmp_path, seed, number):
    seed += number
    with Topology(tmp_path, under_load(tmp_path, seed, queues=2)) as running:
        ordeal = Ordeal(running, seed)
        for _ in range(BLOWS):
            ordeal.strike([ordeal.chance.choice(STRUCK)])
        audit = ordeal.drain()
    lost = audit["dropped"]
    print(f"struck {ordeal.struck}, dropped {lost}")
    assert set(lost) <= {"egress_lost", "worker_lost"}
    assert lost.get("egress_lost", 0) <= CAPACITY * ordeal.struck.count("egress.0")
    assert lost.get("worker_lost", 0) <= CAPACITY * ordeal.struck.count("front.0")
    numbers = frames.numbers_in(tmp_path / "out.pcap")
    assert_once_and_in_order(numbers)
    missing = max(numbers) + 1 - len(numbers)
    # What the egress was sending when it died counts as lost, and may have left all the same.
    assert missing <= sum(lost.values())


def test_an_ingress_of_the_loop_costs_nothing(tmp_path, seed):
    with Topology(tmp_path, under_load(tmp_path, seed, queues=1)) as running:
        ordeal = Ordeal(running, seed)
        for _ in range(6):
            ordeal.strike(["ingress.again.0"])
        audit = ordeal.drain()
    assert not audit["dropped"]
    ticks = audit["consumed"]["control"]
    assert ticks > 0
    count, rest = divmod(audit["received"] - ticks, 1 + ROUNDS)
    assert rest == 0
    numbers = frames.numbers_in(tmp_path / "out.pcap")
    assert_once_and_in_order(numbers)
    assert set(numbers) == set(range(count))
