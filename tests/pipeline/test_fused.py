# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`placement: fused`: one process moves all packets; killed, it comes back and the law holds."""

import frames
from ordeal import AGAIN
from processes import PATIENCE, wait_until
from topology import Topology, millrace

COUNT = 60_000
CAPACITY = 32


def fused(folder, count, rate_mpps):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
placement: fused
batch: {{ capacity: {CAPACITY} }}
ports:
  in:  {{ device: generate, numbered: true, flows: 64, count: {count}, rate_mpps: {rate_mpps} }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: any }}
  deep:  {{ kind: classifier, count: 1, dispatch: flow }}
functions:
  look:    {{ type: match, rules: all.rules, on: front }}
  witness: {{ type: record, on: deep }}
paths:
  main: {{ from: in, to: out, run: [look, witness] }}
"""


def packet_processes(running):
    """Pids of all that move packets."""
    return {actor["pid"] for actor in running.status()["actors"]
            if actor["name"] not in ("hub", "standby", "telemetry")}


def test_one_process_moves_all_packets(tmp_path):
    with Topology(tmp_path, fused(tmp_path, COUNT, 0)) as running:
        assert len(packet_processes(running)) == 1
        assert len(running.status()["actors"]) == 2 + 5 + 1
        assert running.settle(COUNT)["transmitted"] == COUNT
        refused = millrace("scale", running.name, "front=1", check=False)
        assert refused.returncode != 0 and "does not scale" in refused.stdout + refused.stderr
    assert len(frames.numbers_in(tmp_path / "out.pcap")) == COUNT


def test_killed_it_comes_back_and_every_packet_is_accounted_for(tmp_path):
    kills = 4
    with Topology(tmp_path, fused(tmp_path, 0, 0.01)) as running:
        for _ in range(kills):
            running.wait_received(running.audit()["received"] + 1000)
            (before,) = packet_processes(running)
            running.kill("front.0")
            wait_until(lambda: packet_processes(running) not in ({before}, {0}), PATIENCE,
                       "a new one")
            running.wait_alive("ingress.in.0", "front.0", "front.1", "deep.0", "egress.0")
        running.wait_received(running.audit()["received"] + AGAIN)
        audit = running.drain()
        count = audit["received"]
        lost = sum(audit["dropped"].values())
        assert set(audit["dropped"]) <= {"worker_lost", "egress_lost"}
        assert lost <= kills * 3 * CAPACITY, "a batch of each worker, a burst of the egress"
        assert audit["transmitted"] == count - lost
    numbers = frames.numbers_in(tmp_path / "out.pcap")
    assert count - lost <= len(numbers) <= count, "some of a lost burst may have left"
