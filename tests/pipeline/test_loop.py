# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Ports of device `loop`: what is sent there comes in there, once, in order, and is counted."""

import frames
import topology
from processes import PATIENCE, wait_until
from topology import Topology, ask, millrace

import pytest

ROUNDS = 3  # of round-classifier: TTL 64 becomes 63, and then goes round until it is 60
COUNT = 20000


@pytest.fixture
def rounds(tmp_path, monkeypatch):
    """The topology has classifiers that send packets round."""
    folder = topology.with_program(tmp_path / "bin", "round-classifier", "millrace-classifier")
    monkeypatch.setattr(topology, "BIN", folder)


def round_topology(folder, source, loop="", rest="", lanes=4):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
batch: {{ capacity: 16 }}
ports:
  in:    {{ device: generate, numbered: true, flows: 64, {source} }}
  out:   {{ device: pcap, out: {folder}/out.pcap }}
  again: {{ device: loop{loop} }}
workers:
  front: {{ kind: classifier, count: 2, max: 2, dispatch: any }}
functions:
  look: {{ type: match, rules: all.rules }}
paths:
  first: {{ from: in, to: out, run: look, lanes: {lanes} }}
  round: {{ from: again, to: out, run: look, lanes: {lanes} }}
{rest}"""


def assert_once_and_in_order(path, count, flows=64):
    """All numbers are there, and in order within each flow: packet n is of flow n mod flows."""
    numbers = frames.numbers_in(path)
    assert len(numbers) == count and set(numbers) == set(range(count))
    for flow in range(flows):
        of_flow = [number for number in numbers if number % flows == flow]
        assert of_flow == sorted(of_flow)


@pytest.mark.parametrize("loop, lanes", [("", 4), (", queues: 2", 3), (", depth: 65536", 1)])
@pytest.mark.usefixtures("rounds")
def test_packets_go_round_as_often_as_a_function_says(tmp_path, seed, loop, lanes):
    # A loop of the default depth has room for what a source is ahead; no packet is dropped.
    source = f"count: {COUNT}, seed: {seed}, rate_mpps: 0.02"
    with Topology(tmp_path, round_topology(tmp_path, source, loop, lanes=lanes)) as running:
        audit = running.settle(received=(1 + ROUNDS) * COUNT)
        assert audit["transmitted"] == (1 + ROUNDS) * COUNT and not audit["dropped"]
        received = running.metrics().total("millrace_port_received_packets_total", port="again")
        assert received == ROUNDS * COUNT
    assert_once_and_in_order(tmp_path / "out.pcap", COUNT)


@pytest.mark.usefixtures("rounds")
def test_until_done_waits_for_what_is_in_the_loop(tmp_path, seed):
    text = round_topology(tmp_path, f"count: {COUNT}, seed: {seed}", ", depth: 65536")
    running = Topology(tmp_path, text)
    done = millrace("up", running.file, "--until-done")
    assert "exact" in done.stdout
    assert_once_and_in_order(tmp_path / "out.pcap", COUNT)


@pytest.mark.usefixtures("rounds")
def test_drained_it_is_read_on_until_it_is_empty(tmp_path, seed):
    text = round_topology(tmp_path, f"seed: {seed}, rate_mpps: 0.001")
    with Topology(tmp_path, text) as running:
        running.wait_received(2000)
        audit = running.drain()
        assert audit["received"] == (1 + ROUNDS) * (audit["received"] // (1 + ROUNDS))
        assert not audit["loops"] and not audit["dropped"]
        ask("undrain", running.name)
        running.wait_received(audit["received"] + 2000)
        last = running.drain()
    assert_once_and_in_order(tmp_path / "out.pcap", last["received"] // (1 + ROUNDS))


def endless(folder, seed):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
ports:
  in:    {{ device: generate, numbered: true, count: 100, seed: {seed} }}
  out:   {{ device: pcap, out: {folder}/out.pcap }}
  again: {{ device: loop }}
functions:
  look: {{ type: match, rules: all.rules }}
paths:
  first: {{ from: in, to: again }}
  round: {{ from: again, to: again, run: look }}
"""


def test_what_goes_round_for_ever_is_cut_by_drain(tmp_path, seed):
    with Topology(tmp_path, endless(tmp_path, seed)) as running:
        running.wait_received(1000)
        assert not running.audit()["quiet"]
        done = millrace("drain", running.name, "--patience", 2)
        assert "go round" in done.stderr or "gone round" in done.stderr
        audit = running.audit()
        topology.assert_nothing_left(audit)
        assert audit["dropped"] == {"no_output": 100}


def test_what_goes_round_for_ever_does_not_keep_down_waiting(tmp_path, seed):
    with Topology(tmp_path, endless(tmp_path, seed)) as running:
        running.wait_received(1000)
        running.endless = True


@pytest.mark.usefixtures("rounds")
def test_a_full_loop_drops_and_counts(tmp_path, seed):
    text = round_topology(tmp_path, f"seed: {seed}", ", depth: 64")
    with Topology(tmp_path, text) as running:
        wait_until(lambda: running.audit()["dropped"].get("tx_full"), PATIENCE, "the loop is full")
        audit = running.drain()
        assert set(audit["dropped"]) == {"tx_full"}
    numbers = frames.numbers_in(tmp_path / "out.pcap")
    assert len(numbers) == len(set(numbers))


def test_fused_it_is_one_thread(tmp_path, seed):
    """Without functions that choose: once through the loop."""
    text = f"""
placement: fused
ports:
  in:    {{ device: generate, numbered: true, count: {COUNT}, seed: {seed}, rate_mpps: 0.05 }}
  out:   {{ device: pcap, out: {tmp_path}/out.pcap }}
  again: {{ device: loop, queues: 2 }}
paths:
  first: {{ from: in, to: again }}
  round: {{ from: again, to: out }}
"""
    with Topology(tmp_path, text) as running:
        audit = running.settle(received=2 * COUNT)
        assert not audit["dropped"]
    assert_once_and_in_order(tmp_path / "out.pcap", COUNT)


def test_the_plan_tells_its_memory(tmp_path):
    running = Topology(tmp_path, endless(tmp_path, 1))
    plan = ask("plan", running.file)
    assert plan["memory"]["loop_bytes"] > 1024 * 2048
    assert ", loops " in millrace("plan", running.file).stdout


def test_ticks_go_on_and_leave_for_no_network(tmp_path):
    """Whatever dies; a function that does not know them lets them pass."""
    (tmp_path / "all.rules").write_text('alert "x" name "any x"\n')
    text = f"""
ports:
  out:   {{ device: pcap, out: {tmp_path}/out.pcap }}
  again: {{ device: loop, tick: 100ms }}
workers:
  front: {{ kind: classifier }}
functions:
  look: {{ type: match, rules: all.rules }}
paths:
  ticks: {{ from: again, to: out, run: look }}
"""
    with Topology(tmp_path, text) as running:
        ended = lambda: running.audit()["consumed"].get("control", 0)
        for part in ("ingress.again.0", "front.0", "egress.0"):
            count = ended()
            wait_until(lambda: ended() >= count + 3, PATIENCE, "ticks")
            running.kill(part)
            running.wait_alive(part)
        audit = running.drain()
        assert not audit["transmitted"] and audit["received"] == (
            audit["consumed"]["control"] + sum(audit["dropped"].values()))
        ask("undrain", running.name)
        wait_until(lambda: ended() > audit["consumed"]["control"], PATIENCE, "ticks go on")
    assert frames.read_capture(tmp_path / "out.pcap") == []
