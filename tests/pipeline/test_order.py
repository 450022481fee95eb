# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What overtakes on the way comes out in order: streams, flows, a stateful function's input."""

import frames
from jitter import Jitter
from ordeal import SEEDS, Ordeal
from topology import Topology

import pytest

WORKERS = 8
CAPACITY = 16
SCAN = 'alert "x" name "any x"\n'


def two_way_topology(folder, dispatch, seed, order="kept"):
    """Two captures cross eight classifiers and an overtaking device; nothing changes a packet."""
    (folder / "all.rules").write_text(SCAN)
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  a: {{ device: pcap, in: {folder}/a.pcap, out: {folder}/a-out.pcap }}
  b: {{ device: pcap, in: {folder}/b.pcap, out: {folder}/b-out.pcap }}
workers:
  front: {{ kind: classifier, count: {WORKERS}, max: {WORKERS}, dispatch: {dispatch} }}
  gpu:   {{ kind: gpu, device: software, seed: {seed}, delay_us: 2000, reorder: true, late: 200 }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
  scan: {{ type: match, rules: all.rules, on: gpu }}
paths:
  main: {{ from: [a, b], run: [look, scan], order: {order} }}
"""


def assert_something_to_do(topology, group, batches):
    """As many executables as planned; all workers worked; the device was late and overtook."""
    metrics = topology.metrics()
    assert topology.running_executables() == topology.planned_executables()
    done = metrics.by("worker", "millrace_batches_total", group=group)
    assert len(done) == WORKERS and min(done.values()) > 0, done
    assert sum(done.values()) >= batches
    assert metrics.total("millrace_completions_late_total") > 0
    assert metrics.total("millrace_completions_reordered_total") > 0
    return metrics


@pytest.mark.parametrize("number", SEEDS)
def test_with_any_each_stream_comes_out_byte_for_byte_in_order(tmp_path, seed, number):
    seed += number
    count = 30000
    sent = {name: frames.flow_frames(seed + at, count, 50) for at, name in enumerate("ab")}
    for name, packets in sent.items():
        frames.write_capture(tmp_path / f"{name}.pcap", packets)
    with Topology(tmp_path, two_way_topology(tmp_path, "any", seed)) as running:
        pids = [life[0] for name, life in running.lives().items() if name.startswith("front.")]
        with Jitter(seed, pids):
            audit = running.settle(received=2 * count)
        metrics = assert_something_to_do(running, "front", 2 * count // CAPACITY)
        assert metrics.total("millrace_batches_out_of_order_total", actor="egress.0") > 10
    assert audit["transmitted"] == 2 * count and not audit["dropped"]
    assert frames.read_capture(tmp_path / "b-out.pcap") == sent["a"]
    assert frames.read_capture(tmp_path / "a-out.pcap") == sent["b"]


@pytest.mark.parametrize("number", SEEDS)
def test_with_flow_each_flow_comes_out_in_order(tmp_path, seed, number):
    seed += number
    count = 30000
    sent = {name: frames.flow_frames(seed + at, count, 200) for at, name in enumerate("ab")}
    for name, packets in sent.items():
        frames.write_capture(tmp_path / f"{name}.pcap", packets)
    with Topology(tmp_path, two_way_topology(tmp_path, "flow", seed)) as running:
        pids = [life[0] for name, life in running.lives().items() if name.startswith("front.")]
        with Jitter(seed, pids):
            audit = running.settle(received=2 * count)
        assert_something_to_do(running, "front", 2 * count // CAPACITY)
        assert len(running.audit()["lanes"]) >= 2 * WORKERS
    assert audit["transmitted"] == 2 * count and not audit["dropped"]
    for source, sink in (("a", "b"), ("b", "a")):
        arrived = frames.read_capture(tmp_path / f"{sink}-out.pcap")
        assert frames.by_flow(arrived) == frames.by_flow(sent[source])
        assert len(frames.by_flow(arrived)) > 150
        assert arrived != sent[source], "lanes overtook each other"


@pytest.mark.parametrize("dispatch", ["any", "flow"])
def test_without_order_each_packet_comes_out_once(tmp_path, seed, dispatch):
    count = 30000
    sent = {name: frames.flow_frames(seed + at, count, 50) for at, name in enumerate("ab")}
    for name, packets in sent.items():
        frames.write_capture(tmp_path / f"{name}.pcap", packets)
    with Topology(tmp_path, two_way_topology(tmp_path, dispatch, seed, "none")) as running:
        pids = [life[0] for name, life in running.lives().items() if name.startswith("front.")]
        with Jitter(seed, pids):
            audit = running.settle(received=2 * count)
        assert_something_to_do(running, "front", 2 * count // CAPACITY)
    assert audit["transmitted"] == 2 * count and not audit["dropped"]
    for source, sink in (("a", "b"), ("b", "a")):
        arrived = frames.read_capture(tmp_path / f"{sink}-out.pcap")
        assert arrived != sent[source], "nothing has overtaken anything"
        assert sorted(arrived) == sorted(sent[source])


def recorder_topology(folder, seed, count=0, rate_mpps=0):
    (folder / "all.rules").write_text(SCAN)
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  in:  {{ device: generate, numbered: true, flows: 64, seed: {seed}, count: {count},
         rate_mpps: {rate_mpps} }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: {WORKERS}, max: {WORKERS}, dispatch: any }}
  gpu:   {{ kind: gpu, device: software, seed: {seed}, delay_us: 2000, reorder: true, late: 200 }}
  deep:  {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  look:    {{ type: match, rules: all.rules, on: front }}
  scan:    {{ type: match, rules: all.rules, on: gpu }}
  witness: {{ type: record, on: deep }}
paths:
  main: {{ from: in, to: out, run: [look, scan, witness], lanes: 1 }}
"""


def witnessed(metrics):
    """(packets, inversions, unnumbered, skipped) of the recorder."""
    return [metrics.total("millrace_function_number_hits_total", function="witness",
                          number=str(number)) for number in range(4)]


@pytest.mark.parametrize("number", SEEDS)
def test_a_stateful_function_sees_no_inversion(tmp_path, seed, number):
    seed += number
    count = 60000
    with Topology(tmp_path, recorder_topology(tmp_path, seed, count)) as running:
        pids = [life[0] for name, life in running.lives().items() if name.startswith("front.")]
        with Jitter(seed, pids):
            running.settle(received=count)
        metrics = assert_something_to_do(running, "front", count // CAPACITY)
        assert metrics.total("millrace_batches_out_of_order_total", group="deep") > 10
        assert witnessed(metrics) == [count, 0, 0, 0]
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(count))


@pytest.mark.parametrize("number", SEEDS)
def test_a_stateful_function_sees_no_inversion_under_kills(tmp_path, seed, number):
    seed += number
    with Topology(tmp_path, recorder_topology(tmp_path, seed, rate_mpps=0.01)) as running:
        ordeal = Ordeal(running, seed, stateful=["deep"])
        for blow in range(6):
            fronts = ordeal.chance.sample(range(WORKERS), ordeal.chance.randrange(1, 3))
            deep = [ordeal.busiest("deep")] if blow % 2 == 0 else []
            ordeal.strike([f"front.{number}" for number in fronts] + deep)
        audit = ordeal.drain()
        count = audit["received"]
        packets, inversions, unnumbered, _ = witnessed(running.metrics())
    lost = audit["dropped"].pop("worker_lost", 0)
    arrived = frames.numbers_in(tmp_path / "out.pcap")
    assert inversions == 0 and unnumbered == 0
    assert lost <= len(ordeal.struck) * CAPACITY and not audit["dropped"]
    # The recorder saw what later died in its hands, and not what died before it.
    assert count - lost <= packets <= count
    assert len(arrived) == audit["transmitted"] == count - lost
    assert all(first < second for first, second in zip(arrived, arrived[1:]))
