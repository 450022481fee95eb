# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`on: [gpu, deep]`: a GPU and classifiers share the batches of a function."""

import frames
from ordeal import Ordeal
from topology import Topology

import pytest

CAPACITY = 16


def shared(folder, seed, keys, delay_us=500):
    (folder / "x.rules").write_text('alert "a" name "any a"\n')
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  in:  {{ device: pcap, in: {folder}/in.pcap }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  gpu:  {{ kind: gpu, device: software, seed: {seed}, delay_us: {delay_us}, reorder: true{keys} }}
  deep: {{ kind: classifier, count: 2 }}
functions:
  scan: {{ type: match, rules: x.rules, on: [gpu, deep] }}
paths:
  main: {{ from: in, to: out, run: [scan] }}
"""


def run(folder, seed, text, count):
    """(batches by the device, by classifiers); every packet arrives, in order."""
    sent = frames.flow_frames(seed, count, 50)
    frames.write_capture(folder / "in.pcap", sent)
    with Topology(folder, text) as running:
        audit = running.settle(received=count)
        metrics = running.metrics()
    assert audit["transmitted"] == count and not audit["dropped"]
    assert frames.read_capture(folder / "out.pcap") == sent
    return (metrics.total("millrace_completions_total"),
            metrics.total("millrace_stand_in_batches_total"))


@pytest.mark.parametrize("percent", [75, 20])
def test_a_fixed_share_goes_to_the_gpu(tmp_path, seed, percent):
    text = shared(tmp_path, seed, f", offload: {percent}, spill: 1000", delay_us=0)
    gpu, deep = run(tmp_path, seed, text, 20000)
    assert gpu + deep >= 20000 // CAPACITY
    assert abs(gpu / (gpu + deep) - percent / 100) < 0.01, (gpu, deep)


def test_what_is_too_much_for_the_gpu_goes_to_the_classifiers(tmp_path, seed):
    """Batches stay at the device for up to 200 ms and at most two are there: it cannot do many,
    also where classifiers have little time."""
    gpu, deep = run(tmp_path, seed, shared(tmp_path, seed, ", spill: 2", delay_us=200000), 20000)
    assert gpu > 0
    assert deep > 4 * gpu, (gpu, deep)


def test_either_side_goes_on_alone_and_nothing_is_lost_but_what_was_in_hand(tmp_path, seed):
    source = f"device: generate, numbered: true, seed: {seed}, rate_mpps: 0.02"
    text = shared(tmp_path, seed, ", spill: 8").replace(
        f"device: pcap, in: {tmp_path}/in.pcap", source)
    with Topology(tmp_path, text) as running:
        ordeal = Ordeal(running, seed)
        for blow in range(4):
            ordeal.strike(["deep.0", "deep.1"] if blow % 2 else ["gpu.0.a"])
        audit = ordeal.drain()
        metrics = running.metrics()
    lost = audit["dropped"].pop("worker_lost", 0)
    assert lost <= CAPACITY * sum(name.startswith("deep") for name in ordeal.struck)
    assert not audit["dropped"]
    arrived = frames.numbers_in(tmp_path / "out.pcap")
    assert len(arrived) == audit["transmitted"] == audit["received"] - lost
    assert all(first < second for first, second in zip(arrived, arrived[1:]))
    assert metrics.total("millrace_completions_total") > 0
    assert metrics.total("millrace_stand_in_batches_total") > 0
