# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`prefilter` on a gpu group in front of `ids`: hosts see no difference, also while GPU workers
die, and captures give the alerts that `ids` alone gives."""

import json
import os

import pytest

import frames
from capture_records import ETHERNET, packets_of
from captures import unpack
from processes import PATIENCE, wait_until
from routed import kill_workers_under
from test_ids import SEND, TOPOLOGY, WORD, dropped, get, listen, serve, told, watched
from topology import Topology
from wire import SINK, received

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

GPU = "gpu: {{ kind: gpu, device: software, seed: 5, delay_us: 300, reorder: true, late: 20 }}"
BEHIND_A_GPU = (TOPOLOGY
                .replace("workers:\n", f"workers:\n  {GPU}\n")
                .replace("functions:\n", "functions:\n  look: {{ type: prefilter, "
                                         "rules: own.rules, on: gpu{look} }}\n")
                .replace("run: [", "run: [look, "))
RULES = 4  # of test_ids
CLEAN = 7  # counter of ids, behind those of its rules


def behind_a_gpu(folder, look=""):
    return watched(folder, text=BEHIND_A_GPU.replace("{look}", look))


def count_clean(wire):
    """Packets whose hint `ids` has used."""
    values = wire.metrics_of(wire.running).values("millrace_function_number_hits_total",
                                                  function="ids", number=str(RULES + CLEAN))
    return sum(values)


@needs_root
def test_a_word_that_is_split_does_not_arrive(tmp_path):
    with behind_a_gpu(tmp_path) as wire:
        listen(wire, 7000, SINK, wire.b.ip, tmp_path)
        cuts = [(WORD[:at], WORD[at:]) for at in range(1, len(WORD), 4)] + [tuple(WORD)]
        for number, pieces in enumerate(cuts, 1):
            before = dropped(wire)
            wire.a.start("python3", "-c", SEND, wire.b.ip, 7000, f"begins-{number} ", *pieces)
            wait_until(lambda before=before: dropped(wire) > before + 1, PATIENCE,
                       "drops of a segment, and of what follows")
        assert WORD.encode() not in received(tmp_path)
        wait_until(lambda: told(tmp_path) == {"the word": len(cuts)}, PATIENCE,
                   lambda: f"one alert a connection: {told(tmp_path)}")
        wait_until(lambda: count_clean(wire) > 0, PATIENCE, "packets whose hint was used")
        wire.running.settle()


@needs_root
@pytest.mark.parametrize("look", ["", ", unavailable: pass"])
def test_gpu_workers_that_die_let_no_request_through(tmp_path, look):
    with behind_a_gpu(tmp_path, look) as wire:
        serve(wire, tmp_path)
        (tmp_path / "public" / "large").write_bytes(bytes(range(256)) * (16 << 10))
        answers = []

        def transfer():
            before = dropped(wire)
            wire.a.start("python3", "-c", SEND, wire.b.ip, 8080, *"GET /secret",
                         " HTTP/1.0\r\n\r\n")
            answers.append(get(wire, "page", "--retry", "5", "--retry-all-errors"))
            get(wire, "large", "-o", "/dev/null")
            wait_until(lambda: dropped(wire) > before, PATIENCE, "a drop")
        kill_workers_under(wire, transfer, ("gpu.0", "front.0", "gpu.0"))
        assert set(answers) == {"a page\n"}
        assert "the page" in told(tmp_path)
        wire.running.settle()


CAPTURES = """
events: {{ file: {folder}/{name}.json }}
ports:
  in: {{ device: pcap, in: {capture} }}
  out: {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: flow }}
  {gpu}
functions:
  look: {{ type: prefilter, rules: {rules}, on: gpu }}
  flow: {{ type: flow }}
  ids: {{ type: ids, rules: {rules}, mode: ids, checksums: trust, events: true }}
paths:
  main: {{ from: in, to: out, run: [{run}], lanes: 1 }}
"""
KEPT = ("src_ip", "src_port", "dest_ip", "dest_port", "proto")


def rules_without_time(folder):
    """Public rules, but for those that count in a span of time."""
    lines = (unpack("rules") / "snort3-community.rules").read_text(encoding="utf-8").splitlines()
    path = folder / "public.rules"
    path.write_text("\n".join(line for line in lines
                              if "threshold" not in line and "_filter" not in line) + "\n")
    return path


def alerts_in(path):
    """(sid, ends) of each alert, sorted."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted((line["alert"]["signature_id"], *(str(line.get(key)) for key in KEPT))
                  for line in lines if line["event_type"] == "alert")


def alerts_of(folder, name, run, capture, rules, count):
    """Those of all packets. When a topology has ended, its events are in the file."""
    text = CAPTURES.format(folder=folder, name=name, run=run, capture=capture, rules=rules,
                           gpu=GPU.format())
    with Topology(folder, text) as running:
        running.settle(received=count)
    return alerts_in(folder / f"{name}.json")


def test_captures_give_the_alerts_that_ids_alone_gives(tmp_path):
    captures = [path for path in sorted((unpack("pcap") / "suricata-verify").rglob("*.pcap"))
                if packets_of(path)[0] == ETHERNET]
    packets = [(data, wire) for path in captures for data, wire, _ in packets_of(path)[1]]
    capture = frames.write_capture(tmp_path / "all.pcap", packets)
    rules = rules_without_time(tmp_path)
    alone = alerts_of(tmp_path, "alone", "flow, ids", capture, rules, len(packets))
    behind = alerts_of(tmp_path, "behind", "look, flow, ids", capture, rules, len(packets))
    assert behind == alone
    assert len(alone) > 20
