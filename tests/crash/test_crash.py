# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Processes die under load: what may be lost, what goes on, who comes back.

Numbered packets go from a generator through classifiers and a GPU worker into a capture, so every
packet that is missing can be named.
"""

import frames
from ordeal import Ordeal
from processes import wait_until
from topology import Topology

import pytest

CAPACITY = 32
COUNT = 1000000
RATE_MPPS = 0.06


def path_under_load(folder, seed):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  in:  {{ device: generate, numbered: true, flows: 64, seed: {seed}, count: {COUNT},
          rate_mpps: {RATE_MPPS} }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 3, max: 3, dispatch: any }}
  gpu:   {{ kind: gpu, device: software, seed: {seed}, delay_us: 500, reorder: true, late: 100 }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
  scan: {{ type: match, rules: all.rules, on: gpu }}
paths:
  main: {{ from: in, to: out, run: [look, scan] }}
"""


def finish(running, folder, lost_max):
    """(audit, numbers in the output): all was received; what is missing in the output was dropped,
    for one of the reasons in `lost_max` and at most as many; the rest came once and in order."""
    audit = running.settle(received=COUNT)
    arrived = frames.numbers_in(folder / "out.pcap")
    assert all(first < second for first, second in zip(arrived, arrived[1:]))
    lost = {reason: audit["dropped"].get(reason, 0) for reason in lost_max}
    assert all(lost[reason] <= most for reason, most in lost_max.items()), lost
    assert sum(lost.values()) == sum(audit["dropped"].values())
    # What the egress was sending when it died counts as lost and may have left all the same.
    missing = COUNT - len(arrived)
    assert missing <= sum(lost.values()) and audit["transmitted"] <= len(arrived)
    assert missing >= sum(lost.values()) - lost.get("egress_lost", 0)
    return audit


@pytest.mark.parametrize("ending", ["kill", "crash", "hang"])
def test_a_classifier_costs_at_most_the_batch_in_its_hands(tmp_path, seed, ending):
    times = 3 if ending == "hang" else 6
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        for _ in range(times):
            ordeal.strike([f"front.{ordeal.chance.randrange(3)}"], ending)
        finish(running, tmp_path, {"worker_lost": times * CAPACITY})


@pytest.mark.parametrize("ending", ["kill", "hang"])
def test_a_gpu_worker_costs_nothing(tmp_path, seed, ending):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        for _ in range(3 if ending == "hang" else 5):
            ordeal.strike(["gpu.0.a"], ending)
        assert set(ordeal.struck) == {"gpu.0.a", "gpu.0.b"}
        audit = finish(running, tmp_path, {})
        redone = running.metrics().total("millrace_recovery_batches_redone_total")
    assert audit["transmitted"] == COUNT and redone > 0


@pytest.mark.parametrize("ending", ["kill", "hang"])
def test_an_ingress_of_a_numbered_source_costs_nothing(tmp_path, seed, ending):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        for _ in range(3 if ending == "hang" else 6):
            ordeal.strike(["ingress.in.0"], ending)
        assert finish(running, tmp_path, {})["transmitted"] == COUNT


@pytest.mark.parametrize("ending", ["kill", "crash"])
def test_an_egress_costs_at_most_the_burst_that_it_sends(tmp_path, seed, ending):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        for _ in range(6):
            ordeal.strike(["egress.0"], ending)
        finish(running, tmp_path, {"egress_lost": 6 * CAPACITY})


def test_without_hub_traffic_goes_on_and_the_standby_recovers(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        assert running.audit()["by"] == "hub" and running.status()["phase"] == "running"
        ordeal.strike(["hub"], back=False)
        wait_until(lambda: running.status()["phase"] == "degraded", 5, "degraded")
        assert running.audit()["by"] == "standby"
        ordeal.strike(["front.1"])
        ordeal.strike(["gpu.0.a"])
        ordeal.strike(["ingress.in.0", "front.0"])
        assert running.status()["phase"] == "degraded" and "hub" not in running.lives()
        finish(running, tmp_path, {"worker_lost": 2 * CAPACITY})


def test_hub_and_classifier_die_at_once(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        lives = running.lives()
        ordeal.strike(["hub", "front.1"], back=False)
        ordeal.wait_back("front.1", lives)
        assert running.audit()["by"] == "standby"
        finish(running, tmp_path, {"worker_lost": CAPACITY})


@pytest.mark.parametrize("number", [1, 2])
def test_several_die_at_once(tmp_path, seed, number):
    parts = ["ingress.in.0", "egress.0", "front.0", "front.1", "front.2", "gpu.0.a"]
    with Topology(tmp_path, path_under_load(tmp_path, seed + number)) as running:
        ordeal = Ordeal(running, seed + number, COUNT)
        for _ in range(5):
            ordeal.strike(ordeal.chance.sample(parts, ordeal.chance.randrange(2, 7)))
        fronts = sum(name.startswith("front.") for name in ordeal.struck)
        finish(running, tmp_path, {"worker_lost": fronts * CAPACITY,
                                   "egress_lost": ordeal.struck.count("egress.0") * CAPACITY})


def test_the_supervisor_dies_and_another_one_takes_over(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        lives = running.lives()
        running.adopt_after_kill()
        assert {name: life[:2] for name, life in running.lives().items()} == {
            name: life[:2] for name, life in lives.items()}
        ordeal.strike(["front.0"])
        finish(running, tmp_path, {"worker_lost": CAPACITY})


def test_a_capture_replayed_survives_kills_of_all_kinds(tmp_path, seed):
    packets = frames.flow_frames(seed, 500, 20)
    frames.write_capture(tmp_path / "in.pcap", packets)
    (tmp_path / "all.rules").write_text('alert "x" name "any x"\n')
    text = f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  in:  {{ device: replay, file: {tmp_path}/in.pcap, count: {COUNT}, rate_mpps: {RATE_MPPS} }}
  out: {{ device: pcap, out: {tmp_path}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: any }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
paths:
  main: {{ from: in, to: out, run: [look] }}
"""
    with Topology(tmp_path, text) as running:
        ordeal = Ordeal(running, seed, COUNT)
        for part in ("front.0", "ingress.in.0", "front.1", "ingress.in.0"):
            ordeal.strike([part])
        audit = running.settle(received=COUNT)
    arrived = frames.read_capture(tmp_path / "out.pcap")
    lost = audit["dropped"].pop("worker_lost", 0)
    assert lost <= 2 * CAPACITY and not audit["dropped"] and len(arrived) == COUNT - lost
    at = 0  # what arrived is the capture again and again, with at most the lost ones left out
    for data in arrived:
        while data != packets[at % 500]:
            at += 1
        at += 1
    assert at <= COUNT
