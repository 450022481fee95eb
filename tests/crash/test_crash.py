# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Processes die under load: what may be lost, what goes on, what comes back.

Numbered packets go from a generator through classifiers and a GPU worker into a capture, so every
packet that is missing can be named.
"""

import frames
import topology
from ordeal import SEEDS, Ordeal
from processes import PATIENCE, wait_until
from topology import Topology

import pytest

CAPACITY = 32
RATE_MPPS = 0.01  # more of it only keeps a busy host from other things
BLOWS = {"kill": 5, "hang": 3}  # short lives make the supervisor slow to start another


@pytest.fixture
def put_in_place(tmp_path, monkeypatch):
    """put_in_place("slow-x", "millrace-x"): the topology has that one instead."""
    def put(slow, real):
        monkeypatch.setattr(topology, "BIN", topology.with_program(tmp_path / "bin", slow, real))
    return put


def hung_after(ending):
    """Short where an actor is to be found hung, but longer than a processor that this host takes
    away for a while stands still; else none is found."""
    return "6s" if ending == "hang" else "60s"


def path_under_load(folder, seed, ending="", rate_mpps=RATE_MPPS, order="kept"):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
batch: {{ capacity: {CAPACITY} }}
heartbeat_limit: {hung_after(ending)}
ports:
  in:  {{ device: generate, numbered: true, flows: 64, seed: {seed}, rate_mpps: {rate_mpps} }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 3, max: 3, dispatch: any }}
  gpu:   {{ kind: gpu, device: software, seed: {seed}, delay_us: 500, reorder: true, late: 100 }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
  scan: {{ type: match, rules: all.rules, on: gpu }}
paths:
  main: {{ from: in, to: out, run: [look, scan], order: {order} }}
"""


def most_lost(struck):
    """What may be lost at most when these have been struck: the table of ARCHITECTURE.md. What
    takes a GPU's results has a batch in its hands too, while it finishes the stage."""
    egress = CAPACITY * struck.count("egress.0")
    front = CAPACITY * sum(name.startswith("front.") for name in struck)
    lost_max = {"worker_lost": front + egress, "egress_lost": egress}
    return {reason: most for reason, most in lost_max.items() if most}


def finish(folder, ordeal, ordered=True):
    """(audit, packets missing in the output) at the end of the load: what is missing was dropped,
    for a reason that the kills explain and at most as much; the rest came once, in
    order."""
    audit = ordeal.drain()
    count = audit["received"]
    arrived = frames.numbers_in(folder / "out.pcap")
    if not ordered:
        assert arrived != sorted(arrived), "nothing has overtaken anything"
        arrived.sort()
    assert all(first < second for first, second in zip(arrived, arrived[1:]))
    assert arrived[0] >= 0 and arrived[-1] < count
    lost = audit["dropped"]
    lost_max = most_lost(ordeal.struck)
    assert all(packets <= lost_max.get(reason, 0) for reason, packets in lost.items()), lost
    assert sum(lost.values()) <= CAPACITY * len(ordeal.struck)
    # What the egress was sending when it died counts as lost and may have left all the same.
    missing = count - len(arrived)
    assert missing <= sum(lost.values()) and audit["transmitted"] <= len(arrived)
    assert missing >= sum(lost.values()) - lost.get("egress_lost", 0)
    print(f"struck {ordeal.struck}, missing {missing}, dropped {lost}")
    return audit, missing


@pytest.mark.parametrize("ending", ["kill", "hang"])
def test_a_classifier_costs_at_most_the_batch_in_its_hands(tmp_path, seed, ending):
    with Topology(tmp_path, path_under_load(tmp_path, seed, ending)) as running:
        ordeal = Ordeal(running, seed)
        for _ in range(BLOWS[ending]):
            ordeal.strike([f"front.{ordeal.chance.randrange(3)}"], ending)
        finish(tmp_path, ordeal)


@pytest.mark.parametrize("ending", ["kill", "hang"])
def test_a_gpu_worker_costs_nothing(tmp_path, seed, ending):
    with Topology(tmp_path, path_under_load(tmp_path, seed, ending)) as running:
        ordeal = Ordeal(running, seed)
        for _ in range(BLOWS[ending]):
            ordeal.strike(["gpu.0.a"], ending)
        assert set(ordeal.struck) == {"gpu.0.a", "gpu.0.b"}
        audit, _ = finish(tmp_path, ordeal)
        redone = running.metrics().total("millrace_recovery_batches_redone_total")
    assert audit["transmitted"] == audit["received"] and redone > 0


@pytest.mark.parametrize("ending", ["kill", "hang"])
def test_an_ingress_of_a_numbered_source_costs_nothing(tmp_path, seed, ending):
    with Topology(tmp_path, path_under_load(tmp_path, seed, ending)) as running:
        ordeal = Ordeal(running, seed)
        for _ in range(BLOWS[ending]):
            ordeal.strike(["ingress.in.0"], ending)
        audit, _ = finish(tmp_path, ordeal)
        assert audit["transmitted"] == audit["received"]


def test_an_egress_costs_at_most_the_burst_that_it_sends(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed)
        for _ in range(BLOWS["kill"]):
            ordeal.strike(["egress.0"])
        finish(tmp_path, ordeal)


@pytest.mark.parametrize("part", ["front.1", "gpu.0.a", "ingress.in.0", "egress.0"])
def test_without_order_a_death_costs_no_more_and_nothing_comes_twice(tmp_path, seed, part):
    with Topology(tmp_path, path_under_load(tmp_path, seed, order="none")) as running:
        ordeal = Ordeal(running, seed)
        for _ in range(3):
            ordeal.strike([part])
        finish(tmp_path, ordeal, ordered=False)


def strike_slow(folder, seed, part):
    """(packets dropped by reason, packets missing) after blows at a part that never idles: the
    source is faster than it."""
    with Topology(folder, path_under_load(folder, seed, "kill", rate_mpps=0.012)) as running:
        ordeal = Ordeal(running, seed)
        for _ in range(4):
            ordeal.strike([part])
        audit, missing = finish(folder, ordeal)
    return audit["dropped"], missing


def test_a_classifier_killed_with_a_batch_in_its_hands_loses_it(tmp_path, seed, put_in_place):
    put_in_place("slow-classifier", "millrace-classifier")
    dropped, missing = strike_slow(tmp_path, seed, "front.1")
    assert dropped == {"worker_lost": missing} and missing > 0


def test_an_egress_killed_in_a_burst_has_sent_a_part_of_it(tmp_path, seed, put_in_place):
    put_in_place("slow-io-worker", "millrace-io-worker")
    dropped, missing = strike_slow(tmp_path, seed, "egress.0")
    missing -= dropped.pop("worker_lost", 0)  # a blow may also fall into its finish behind the GPU
    assert list(dropped) == ["egress_lost"] and 0 < missing < dropped["egress_lost"]


def test_without_hub_traffic_goes_on_and_the_standby_recovers(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed)
        assert running.audit()["by"] == "hub" and running.status()["phase"] == "running"
        ordeal.strike(["hub"], back=False)
        wait_until(lambda: running.status()["phase"] == "degraded", PATIENCE, "degraded")
        assert running.audit()["by"] == "standby"
        for number in range(3):
            ordeal.strike((["front.1"], ["gpu.0.a"], ["ingress.in.0", "front.0"])[number])
        assert running.status()["phase"] == "degraded" and "hub" not in running.lives()
        finish(tmp_path, ordeal)
    with Topology(tmp_path, path_under_load(tmp_path, seed), name=running.name) as again:
        assert again.audit()["by"] == "hub" and again.status()["phase"] == "running"
        again.wait_received(2000)
        audit = again.drain()
        assert audit["by"] == "hub" and audit["transmitted"] == audit["received"]


def test_a_hub_that_hangs_is_ended_by_the_standby(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed, "hang")) as running:
        ordeal = Ordeal(running, seed)
        ordeal.hit(["hub"], "hang", running.lives())
        wait_until(lambda: running.status()["phase"] == "degraded", PATIENCE, "degraded")
        assert running.audit()["by"] == "standby"
        ordeal.strike(["front.1"])
        finish(tmp_path, ordeal)


def test_hub_and_standby_that_hang_together_are_ended_by_the_supervisor(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed, "hang")) as running:
        ordeal = Ordeal(running, seed)
        lives = running.lives()
        ordeal.hit(["hub", "standby"], "hang", lives)
        wait_until(lambda: running.status()["phase"] == "degraded", PATIENCE, "degraded")
        wait_until(lambda: running.lives().get("standby", lives["standby"]) != lives["standby"],
                   PATIENCE, "another standby leads")
        assert running.audit()["by"] == "standby"
        ordeal.strike(["front.1"])
        finish(tmp_path, ordeal)


def test_hub_and_classifier_die_at_once(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed)
        lives = running.lives()
        ordeal.strike(["hub", "front.1"], back=False)
        ordeal.wait_back("front.1", lives)
        assert running.audit()["by"] == "standby"
        finish(tmp_path, ordeal)


@pytest.mark.parametrize("number", SEEDS)
def test_several_die_at_once(tmp_path, seed, number):
    parts = ["ingress.in.0", "egress.0", "front.0", "front.1", "front.2", "gpu.0.a"]
    with Topology(tmp_path, path_under_load(tmp_path, seed + number)) as running:
        ordeal = Ordeal(running, seed + number)
        for _ in range(5):
            ordeal.strike(ordeal.chance.sample(parts, ordeal.chance.randrange(2, 7)))
        finish(tmp_path, ordeal)


def test_the_supervisor_dies_and_another_one_takes_over(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed)
        lives = running.lives()
        running.adopt_after_kill()
        assert {name: life[:2] for name, life in running.lives().items()} == {
            name: life[:2] for name, life in lives.items()}
        ordeal.strike(["front.0"])
        finish(tmp_path, ordeal)


def test_a_capture_replayed_survives_kills_of_all_kinds(tmp_path, seed):
    packets = frames.flow_frames(seed, 500, 20)
    frames.write_capture(tmp_path / "in.pcap", packets)
    (tmp_path / "all.rules").write_text('alert "x" name "any x"\n')
    text = f"""
batch: {{ capacity: {CAPACITY} }}
heartbeat_limit: {hung_after("kill")}
ports:
  in:  {{ device: replay, file: {tmp_path}/in.pcap, rate_mpps: {RATE_MPPS} }}
  out: {{ device: pcap, out: {tmp_path}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: any }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
paths:
  main: {{ from: in, to: out, run: [look] }}
"""
    with Topology(tmp_path, text) as running:
        ordeal = Ordeal(running, seed)
        for number in range(4):
            ordeal.strike([("front.0", "ingress.in.0", "front.1", "ingress.in.0")[number % 4]])
        audit = ordeal.drain()
    arrived = frames.read_capture(tmp_path / "out.pcap")
    lost = audit["dropped"].pop("worker_lost", 0)
    assert lost <= most_lost(ordeal.struck)["worker_lost"] and not audit["dropped"]
    assert len(arrived) == audit["received"] - lost
    at = 0  # what arrived is the capture again and again, with at most the lost ones left out
    for data in arrived:
        while data != packets[at % 500]:
            at += 1
        at += 1
    assert at <= audit["received"]
