# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""millrace trace: packets followed across processes and a GPU worker."""

import json

import frames
from processes import PATIENCE
from topology import Topology, millrace

import pytest


def through_a_gpu(folder, count=0):
    """Packets without an end, or `count` of them."""
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    (folder / "first.acl").write_text("pass udp any -> any\n")
    return f"""
ports:
  in:  {{ device: generate, numbered: true, flows: 64, count: {count}, rate_mpps: 0.003 }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: any }}
  gpu:   {{ kind: gpu, device: software, delay_us: 200 }}
functions:
  first: {{ type: acl, rules: first.acl, on: front }}
  look:  {{ type: match, rules: all.rules, on: front }}
  deep:  {{ type: match, rules: all.rules, on: gpu }}
paths:
  main: {{ from: in, to: out, run: [first, look, deep] }}
"""


def trace(running, *words, check=True):
    done = millrace("trace", running.name, "--json", "--seconds", PATIENCE, *words, check=check)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_times(packet):
    end = 0
    for step in packet["steps"]:
        assert step["from_us"] >= 0 and step["us"] >= 0
        assert step["from_us"] + step["us"] >= end - 0.01, "by the time at which they ended"
        end = step["from_us"] + step["us"]
    assert packet["us"] == pytest.approx(end, abs=0.01)


def followed(running):
    """20 packets: each one's steps, these as (actor, what, name), and the worker that had it."""
    packets = trace(running, "--count=20", "--filter=udp")
    assert [packet["packet"] for packet in packets] == list(range(1, 21))
    for packet in packets:
        check_times(packet)
        assert packet["verdict"] == "pass" and packet["bytes"] == 82
        steps = packet["steps"]
        assert all(step["took_part"] for step in steps if step["what"] == "function")
        worker = next(step["actor"] for step in steps if step["actor"].startswith("front."))
        yield steps, [(step["actor"], step["what"], step.get("name")) for step in steps], worker


def to_the_worker(worker):
    return [("ingress.in.0", "received", "in"),
            ("ingress.in.0", "sent", f"ingress.in.0_{worker}"),
            (worker, "taken", f"ingress.in.0_{worker}"),
            (worker, "function", "first"),
            (worker, "function", "look")]


def test_a_packet_is_followed_through_every_actor_link_and_function(tmp_path):
    with Topology(tmp_path, through_a_gpu(tmp_path)) as running:
        for steps, names, worker in followed(running):
            on_device = next(step for step in steps if step["what"] == "device")
            device = on_device["actor"]
            assert names == to_the_worker(worker) + [
                (worker, "sent", f"{worker}_{device}"),
                (device, "device", None),
                ("egress.0", "taken", f"{device}_egress.0"),
                ("egress.0", "function", "deep"),
                ("egress.0", "released", "out")]
            assert on_device["us"] > 0
        count = running.drain()["received"]
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(count))


def fused(folder):
    """The same functions on one thread, the last one in a group of its own."""
    return "placement: fused\n" + through_a_gpu(folder).replace(
        "gpu:   { kind: gpu, device: software, delay_us: 200 }",
        "back:  { kind: classifier, count: 1, dispatch: flow }").replace("on: gpu", "on: back")


def test_a_packet_is_followed_through_all_actors_of_one_process(tmp_path):
    with Topology(tmp_path, fused(tmp_path)) as running:
        for _, names, worker in followed(running):
            assert names == to_the_worker(worker) + [
                (worker, "sent", f"{worker}_back.0"),
                ("back.0", "taken", f"{worker}_back.0"),
                ("back.0", "function", "deep"),
                ("back.0", "sent", "back.0_egress.0"),
                ("egress.0", "taken", "back.0_egress.0"),
                ("egress.0", "released", "out")]
        count = running.drain()["received"]
    numbers = frames.numbers_in(tmp_path / "out.pcap")
    assert sorted(numbers) == list(range(count)), "lanes have an order each, not together"


def test_one_process_of_all_actors_that_is_started_again_is_followed_again(tmp_path):
    with Topology(tmp_path, fused(tmp_path)) as running:
        running.kill("front.0")
        running.wait_alive("ingress.in.0", "front.0", "front.1", "back.0", "egress.0")
        packet, = trace(running)
        assert [step["what"] for step in packet["steps"]].count("function") == 3
        running.drain()


def test_a_dropped_packet_says_where_and_why(tmp_path):
    text = through_a_gpu(tmp_path)
    (tmp_path / "first.acl").write_text("drop udp any -> any\n")
    with Topology(tmp_path, text) as running:
        packet, = trace(running)
        assert packet["verdict"] == "drop" and packet["reason"] == "rule"
        functions = {step["name"]: step for step in packet["steps"] if step["what"] == "function"}
        assert functions["first"]["took_part"] and functions["first"]["verdict"] == "drop"
        assert set(functions) == {"first"}, "no other looks at a batch without packets"
        page = millrace("trace", running.name, "--seconds", PATIENCE).stdout
        assert "dropped: rule" in page
        assert "\033" not in page
        running.drain()


def test_what_never_comes_is_given_up(tmp_path):
    with Topology(tmp_path, through_a_gpu(tmp_path, 5000)) as running:
        done = millrace("trace", running.name, "--filter", "arp", "--seconds", "0.5", check=False)
        assert done.returncode == 1 and "0 of 1 packets came through" in done.stderr
        done = millrace("trace", running.name, "--filter", "udp and", check=False)
        assert done.returncode == 1 and "--filter: " in done.stderr
        running.settle(received=5000)
