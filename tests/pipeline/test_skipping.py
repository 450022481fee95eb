# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`unavailable` and `overload` through real processes: what goes past a function is counted, the
audit is exact and order is kept, also behind a function with state."""

import frames
import topology
from ordeal import AGAIN
from processes import PATIENCE, wait_until
from topology import QUICK_RESTARTS, Topology

import pytest

CAPACITY = 16
SLOTS = 40
SHARE = 8
FATES = ("pass", "drop")


def look_topology(folder, rate, choice):
    """A stateless function with `choice`, then a witness of order on a group of its own."""
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  in:  {{ device: generate, numbered: true, size: 82, rate_mpps: {rate} }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, max: 1 }}
  deep:  {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  look:    {{ type: match, rules: all.rules, on: front, {choice} }}
  witness: {{ type: record, on: deep }}
paths:
  main: {{ from: in, to: out, run: [look, witness], lanes: 1, slots: {SLOTS} }}
"""


def state_topology(folder, rate, choice):
    """A function with state and `choice`."""
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  in:  {{ device: generate, numbered: true, size: 82, rate_mpps: {rate}, flows: 64 }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  deep: {{ kind: classifier, count: 2, max: 2, dispatch: flow }}
functions:
  witness: {{ type: record, on: deep, {choice} }}
paths:
  main: {{ from: in, to: out, run: [witness], lanes: 2, slots: {SLOTS} }}
"""


def witnessed(running):
    """(packets, inversions) that the recorder counted."""
    metrics = running.metrics()
    return tuple(metrics.total("millrace_function_number_hits_total", function="witness",
                               number=number) for number in ("0", "1"))


def wait_skipped(running, name, why, count):
    """So many packets have gone past the function, or were refused as it has no room."""
    def gone_past():
        status = running.status()
        return status["skipped"][f"{name} {why}"] + sum(status["refused"].values())
    wait_until(lambda: gone_past() >= count, PATIENCE, lambda: f"{count}: {gone_past()}")


def check_account(running, name, why, fate, deaths=0):
    """Everything is accounted for, and what was skipped is what the fate says. Returns
    (received, skipped, gone): packets in all, that went past the function, that did not come
    out."""
    audit = running.drain()
    status = running.status()
    skipped = status["skipped"][f"{name} {why}"]
    refused = sum(status["refused"].values())
    gone = sum(audit["dropped"].values())
    lost = audit["dropped"].pop("worker_lost", 0)
    assert lost <= deaths * CAPACITY
    assert refused == 0 or (fate, why) == ("drop", "overload")
    assert sum(audit["dropped"].values()) == (skipped + refused if fate == "drop" else 0)
    assert set(audit["dropped"]) <= {why}
    metrics = running.metrics()
    assert metrics.by("fate", "millrace_function_skipped_packets_total", function=name,
                      why=why) == {fate: skipped}
    dropped = skipped if fate == "drop" else 0
    assert metrics.total("millrace_function_drops_total", function=name, reason=why) == dropped
    assert metrics.total("millrace_drops_total", by="function") == dropped
    assert metrics.total("millrace_drops_total", by="ingress") == refused
    assert metrics.total("millrace_refused_packets_total") == refused
    return audit["received"], skipped, gone


def in_order(path, count):
    """The numbers that came out are `count` and ascend."""
    numbers = frames.numbers_in(path)
    assert len(numbers) == count
    assert all(first < second for first, second in zip(numbers, numbers[1:]))


@pytest.mark.parametrize("fate", FATES)
def test_a_group_that_stays_dead_is_gone_past(tmp_path, fate):
    text = look_topology(tmp_path, 0.005, f"unavailable: {fate}")
    with Topology(tmp_path, text, words=("--restarts", "0")) as running:
        running.wait_received(2000)
        assert running.status()["skipped"] == {"look unavailable": 0}
        running.kill("front.0")
        wait_skipped(running, "look", "unavailable", 2000)
        count, _, gone = check_account(running, "look", "unavailable", fate, deaths=1)
        packets, inversions = witnessed(running)
    assert (packets, inversions) == (count - gone, 0)
    in_order(tmp_path / "out.pcap", count - gone)


@pytest.mark.parametrize("fate", FATES)
def test_a_function_with_state_goes_on_behind_what_was_skipped(tmp_path, fate):
    text = state_topology(tmp_path, 0.005, f"unavailable: {fate}")
    kills = 0
    with Topology(tmp_path, text) as running:
        # A worker that is back before a packet came was not missed.
        while kills < 4 or running.status()["skipped"]["witness unavailable"] == 0:
            before = witnessed(running)[0]
            wait_until(lambda: witnessed(running)[0] > before + 1000, PATIENCE,
                       "it is visited, again when a worker is back")
            running.kill("deep.0", "deep.1")
            running.wait_alive("deep.0", "deep.1")
            kills += 1
        before = witnessed(running)[0]
        wait_until(lambda: witnessed(running)[0] > before + 1000, PATIENCE, "it is visited again")
        count, skipped, gone = check_account(running, "witness", "unavailable", fate,
                                             deaths=2 * kills)
        packets, inversions = witnessed(running)
    assert skipped > 0 and inversions == 0
    assert count - skipped - 2 * kills * CAPACITY <= packets <= count - skipped
    assert len(frames.numbers_in(tmp_path / "out.pcap")) == count - gone


@pytest.fixture
def slow_classifier(tmp_path, monkeypatch):
    """Every classifier takes 10 ms for a batch."""
    monkeypatch.setattr(topology, "BIN", topology.with_program(tmp_path / "bin", "slow-classifier",
                                                               "millrace-classifier"))


@pytest.mark.usefixtures("slow_classifier")
@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize("name, make", [("look", look_topology), ("witness", state_topology)])
def test_what_a_slow_function_has_no_share_for_goes_past_it(tmp_path, fate, name, make):
    text = make(tmp_path, 0.02, f"overload: {fate}, share: {SHARE}")
    if name == "look":  # the witness is as slow, and nothing goes past it
        text = text.replace("run: [look, witness]", "run: [look]").replace(
            "  witness: { type: record, on: deep }\n", "")
    with Topology(tmp_path, text) as running:
        stage = running.plan()["paths"][0]["stages"][0]
        wait_skipped(running, name, "overload", 3000)
        count, skipped, gone = check_account(running, name, "overload", fate)
        packets, inversions = witnessed(running)
        refused = sum(running.status()["refused"].values())
    assert stage["share"] == SHARE and skipped > 0
    if name == "witness":
        assert (packets, inversions) == (count - skipped - refused, 0)
        assert len(frames.numbers_in(tmp_path / "out.pcap")) == count - gone
    else:
        in_order(tmp_path / "out.pcap", count - gone)


@pytest.mark.usefixtures("slow_classifier")
@pytest.mark.parametrize("fate", FATES)
def test_deaths_in_the_middle_of_overload_cost_no_more_than_elsewhere(tmp_path, fate):
    parts = ("front.0", "ingress.in.0") * 3
    text = look_topology(tmp_path, 0.01, f"overload: {fate}").replace(
        "run: [look, witness]", "run: [look]").replace(
        "  witness: { type: record, on: deep }\n", "")
    with Topology(tmp_path, text, words=QUICK_RESTARTS) as running:
        for number, part in enumerate(parts):
            wait_skipped(running, "look", "overload", 200 * (number + 1))
            running.kill(part)
            running.wait_alive(part)
        running.wait_received(running.audit()["received"] + AGAIN)
        audit = running.drain()
        status = running.status()
    assert status["skipped"]["look overload"] > 0
    assert audit["dropped"].pop("worker_lost", 0) <= parts.count("front.0") * CAPACITY
    assert set(audit["dropped"]) <= {"overload"}
    if fate == "pass":
        assert not audit["dropped"]
    in_order(tmp_path / "out.pcap", audit["transmitted"])


def gpu_topology(folder, rate, choice, delay_us):
    """A function on a device that takes its time; on the same port a path that runs none."""
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  in:
    {{ device: generate, numbered: true, size: 82, rate_mpps: {rate}, flows: 64,
      destinations: [10.0.0.0/8, 172.16.0.0/12] }}
  slow:  {{ device: pcap, out: {folder}/slow.pcap }}
  quick: {{ device: pcap, out: {folder}/quick.pcap }}
workers:
  gpu: {{ kind: gpu, device: software, delay_us: {delay_us} }}
functions:
  look: {{ type: match, rules: all.rules, on: gpu, {choice} }}
paths:
  quick: {{ from: in, to: quick, match: "dst net 172.16.0.0/12", run: [] }}
  slow:  {{ from: in, to: slow, run: [look] }}
"""


@pytest.mark.parametrize("fate", FATES)
def test_a_device_with_three_times_its_load_lets_go_past_what_it_has_no_room_for(tmp_path, fate):
    # 16 batches of 16 are at it for up to 40 ms: about 8 packets a millisecond; half are its.
    text = gpu_topology(tmp_path, 0.05, f"overload: {fate}", 40000)
    with Topology(tmp_path, text) as running:
        wait_until(lambda: running.status()["skipped"]["look overload"] > 1000, PATIENCE,
                   "packets go past it")
        wait_until(lambda: running.audit()["lanes"][1]["transmitted"] > 1000, PATIENCE,
                   "the slow path goes on")
        audit = running.drain()
        status = running.status()
        lanes = {lane["lane"]: lane for lane in audit["lanes"]}
    skipped, refused = status["skipped"]["look overload"], status["refused"]["slow"]
    assert skipped > 0
    assert sum(audit["dropped"].values()) == refused + (skipped if fate == "drop" else 0)
    assert lanes[0]["dropped"] == 0  # of the quick path
    assert lanes[0]["received"] + lanes[1]["received"] == audit["received"]
    in_order(tmp_path / "slow.pcap", lanes[1]["transmitted"])
    in_order(tmp_path / "quick.pcap", lanes[0]["received"])


@pytest.mark.parametrize("fate", FATES)
def test_a_function_that_stands_still_does_not_starve_another_path_of_the_port(tmp_path, fate):
    text = gpu_topology(tmp_path, 0.02, f"overload: {fate}", 1000000)
    with Topology(tmp_path, text) as running:
        # It would take minutes to have everything pass the function.
        running.wait_received(40000)
        audit = running.drain()
        refused = running.status()["refused"]
        drops = running.metrics().by("path", "millrace_drops_total")
    lanes = {lane["lane"]: lane for lane in audit["lanes"]}
    assert refused["slow"] > 0 and drops["quick"] == 0
    assert drops["slow"] == lanes[1]["dropped"]
    in_order(tmp_path / "quick.pcap", lanes[0]["received"])
    in_order(tmp_path / "slow.pcap", lanes[1]["transmitted"])
