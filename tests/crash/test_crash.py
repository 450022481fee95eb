# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Processes die under load: what may be lost, what goes on, who comes back.

Numbered packets go from a generator through classifiers and a GPU worker into a capture, so every
packet that is missing can be named.
"""

import frames
import topology
from ordeal import Ordeal
from processes import wait_until
from topology import Topology

import pytest

CAPACITY = 32
COUNT = 300000
RATE_MPPS = 0.03  # ten seconds
BLOWS = {"kill": 5, "crash": 5, "hang": 3}  # short lives make the supervisor slow to start another


@pytest.fixture
def put_in_place(tmp_path, monkeypatch):
    """put_in_place("slow-x", "millrace-x"): the topology has that one instead."""
    def put(slow, real):
        monkeypatch.setattr(topology, "BIN", topology.with_program(tmp_path / "bin", slow, real))
    return put


def hung_after(ending):
    """Short where somebody is to be found hung; else nobody is, however busy this host may be."""
    return "2s" if ending == "hang" else "20s"


def path_under_load(folder, seed, ending="", count=COUNT, rate_mpps=RATE_MPPS):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
batch: {{ capacity: {CAPACITY} }}
heartbeat_limit: {hung_after(ending)}
ports:
  in:  {{ device: generate, numbered: true, flows: 64, seed: {seed}, count: {count},
          rate_mpps: {rate_mpps} }}
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


def most_lost(struck):
    """What may be lost at most when these have been struck: the table of ARCHITECTURE.md. Who takes
    a GPU's results has a batch in its hands too, while it finishes the stage."""
    egress = CAPACITY * struck.count("egress.0")
    front = CAPACITY * sum(name.startswith("front.") for name in struck)
    lost_max = {"worker_lost": front + egress, "egress_lost": egress}
    return {reason: most for reason, most in lost_max.items() if most}


def finish(running, folder, ordeal):
    """(audit, packets missing in the output): all was received; what is missing was dropped, for a
    reason that those who were struck explain and at most as much; the rest came once, in order."""
    audit = running.settle(received=ordeal.count)
    arrived = frames.numbers_in(folder / "out.pcap")
    assert all(first < second for first, second in zip(arrived, arrived[1:]))
    assert arrived[0] >= 0 and arrived[-1] < ordeal.count
    lost = audit["dropped"]
    lost_max = most_lost(ordeal.struck)
    assert all(count <= lost_max.get(reason, 0) for reason, count in lost.items()), lost
    assert sum(lost.values()) <= CAPACITY * len(ordeal.struck)
    # What the egress was sending when it died counts as lost and may have left all the same.
    missing = ordeal.count - len(arrived)
    assert missing <= sum(lost.values()) and audit["transmitted"] <= len(arrived)
    assert missing >= sum(lost.values()) - lost.get("egress_lost", 0)
    print(f"struck {ordeal.struck}, missing {missing}, dropped {lost}")
    return audit, missing


@pytest.mark.parametrize("ending", ["kill", "crash", "hang"])
def test_a_classifier_costs_at_most_the_batch_in_its_hands(tmp_path, seed, ending):
    with Topology(tmp_path, path_under_load(tmp_path, seed, ending)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        for _ in ordeal.blows(BLOWS[ending]):
            ordeal.strike([f"front.{ordeal.chance.randrange(3)}"], ending)
        finish(running, tmp_path, ordeal)


@pytest.mark.parametrize("ending", ["kill", "hang"])
def test_a_gpu_worker_costs_nothing(tmp_path, seed, ending):
    with Topology(tmp_path, path_under_load(tmp_path, seed, ending)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        for _ in ordeal.blows(BLOWS[ending], least=2):
            ordeal.strike(["gpu.0.a"], ending)
        assert set(ordeal.struck) == {"gpu.0.a", "gpu.0.b"}
        audit, _ = finish(running, tmp_path, ordeal)
        redone = running.metrics().total("millrace_recovery_batches_redone_total")
    assert audit["transmitted"] == COUNT and redone > 0


@pytest.mark.parametrize("ending", ["kill", "hang"])
def test_an_ingress_of_a_numbered_source_costs_nothing(tmp_path, seed, ending):
    with Topology(tmp_path, path_under_load(tmp_path, seed, ending)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        for _ in ordeal.blows(BLOWS[ending]):
            ordeal.strike(["ingress.in.0"], ending)
        assert finish(running, tmp_path, ordeal)[0]["transmitted"] == COUNT


@pytest.mark.parametrize("ending", ["kill", "crash"])
def test_an_egress_costs_at_most_the_burst_that_it_sends(tmp_path, seed, ending):
    with Topology(tmp_path, path_under_load(tmp_path, seed, ending)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        for _ in ordeal.blows(BLOWS[ending]):
            ordeal.strike(["egress.0"], ending)
        finish(running, tmp_path, ordeal)


def strike_slow(folder, seed, part):
    """(packets dropped by reason, packets missing) after blows at a part that never idles: the
    source is faster than it."""
    count, rate_mpps = 60000, 0.012
    with Topology(folder, path_under_load(folder, seed, "kill", count, rate_mpps)) as running:
        ordeal = Ordeal(running, seed, count)
        for _ in ordeal.blows(4):
            ordeal.strike([part])
        audit, missing = finish(running, folder, ordeal)
    return audit["dropped"], missing


def test_a_classifier_killed_with_a_batch_in_its_hands_loses_it(tmp_path, seed, put_in_place):
    put_in_place("slow-classifier", "millrace-classifier")
    dropped, missing = strike_slow(tmp_path, seed, "front.1")
    assert dropped == {"worker_lost": missing} and missing > 0


def test_an_egress_killed_in_a_burst_has_sent_a_part_of_it(tmp_path, seed, put_in_place):
    put_in_place("slow-io-worker", "millrace-io-worker")
    dropped, missing = strike_slow(tmp_path, seed, "egress.0")
    assert list(dropped) == ["egress_lost"] and 0 < missing < dropped["egress_lost"]


def test_without_hub_traffic_goes_on_and_the_standby_recovers(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        assert running.audit()["by"] == "hub" and running.status()["phase"] == "running"
        ordeal.strike(["hub"], back=False)
        wait_until(lambda: running.status()["phase"] == "degraded", 15, "degraded")
        assert running.audit()["by"] == "standby"
        for number in ordeal.blows(3):
            ordeal.strike((["front.1"], ["gpu.0.a"], ["ingress.in.0", "front.0"])[number])
        assert running.status()["phase"] == "degraded" and "hub" not in running.lives()
        finish(running, tmp_path, ordeal)
    count = 20000
    text = path_under_load(tmp_path, seed, count=count)
    with Topology(tmp_path, text, name=running.name) as again:
        assert again.audit()["by"] == "hub" and again.status()["phase"] == "running"
        again.settle(received=count)


def test_a_hub_that_hangs_is_ended_by_the_standby(tmp_path, seed):
    count = 2 * COUNT  # it has five times the heartbeat's limit
    with Topology(tmp_path, path_under_load(tmp_path, seed, "hang", count)) as running:
        ordeal = Ordeal(running, seed, count)
        ordeal.hit(["hub"], "hang", running.lives())
        wait_until(lambda: running.status()["phase"] == "degraded", 100, "degraded")
        assert running.audit()["by"] == "standby"
        ordeal.strike(["front.1"])
        finish(running, tmp_path, ordeal)


def test_hub_and_standby_that_hang_together_are_ended_by_the_supervisor(tmp_path, seed):
    count = 3 * COUNT  # they have eight times the heartbeat's limit
    with Topology(tmp_path, path_under_load(tmp_path, seed, "hang", count)) as running:
        ordeal = Ordeal(running, seed, count)
        lives = running.lives()
        ordeal.hit(["hub", "standby"], "hang", lives)
        wait_until(lambda: running.status()["phase"] == "degraded", 160, "degraded")
        wait_until(lambda: running.lives().get("standby", lives["standby"]) != lives["standby"],
                   30, "another standby leads")
        assert running.audit()["by"] == "standby"
        ordeal.strike(["front.1"])
        finish(running, tmp_path, ordeal)


def test_hub_and_classifier_die_at_once(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        lives = running.lives()
        ordeal.strike(["hub", "front.1"], back=False)
        ordeal.wait_back("front.1", lives)
        assert running.audit()["by"] == "standby"
        finish(running, tmp_path, ordeal)


@pytest.mark.parametrize("number", [1, 2])
def test_several_die_at_once(tmp_path, seed, number):
    parts = ["ingress.in.0", "egress.0", "front.0", "front.1", "front.2", "gpu.0.a"]
    with Topology(tmp_path, path_under_load(tmp_path, seed + number)) as running:
        ordeal = Ordeal(running, seed + number, COUNT)
        for _ in ordeal.blows(5):
            ordeal.strike(ordeal.chance.sample(parts, ordeal.chance.randrange(2, 7)))
        finish(running, tmp_path, ordeal)


def test_the_supervisor_dies_and_another_one_takes_over(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed, COUNT)
        lives = running.lives()
        running.adopt_after_kill()
        assert {name: life[:2] for name, life in running.lives().items()} == {
            name: life[:2] for name, life in lives.items()}
        ordeal.strike(["front.0"])
        finish(running, tmp_path, ordeal)


def test_a_capture_replayed_survives_kills_of_all_kinds(tmp_path, seed):
    packets = frames.flow_frames(seed, 500, 20)
    frames.write_capture(tmp_path / "in.pcap", packets)
    (tmp_path / "all.rules").write_text('alert "x" name "any x"\n')
    text = f"""
batch: {{ capacity: {CAPACITY} }}
heartbeat_limit: {hung_after("kill")}
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
        for number in ordeal.blows(4):
            ordeal.strike([("front.0", "ingress.in.0", "front.1", "ingress.in.0")[number % 4]])
        audit = running.settle(received=COUNT)
    arrived = frames.read_capture(tmp_path / "out.pcap")
    lost = audit["dropped"].pop("worker_lost", 0)
    assert lost <= most_lost(ordeal.struck)["worker_lost"] and not audit["dropped"]
    assert len(arrived) == COUNT - lost
    at = 0  # what arrived is the capture again and again, with at most the lost ones left out
    for data in arrived:
        while data != packets[at % 500]:
            at += 1
        at += 1
    assert at <= COUNT
