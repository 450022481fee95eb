# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Every kind of process dies in every way, alone and several at once, again and again.

MILLRACE_KILLS: how many are struck in all (24); MILLRACE_SOAK: seconds of the soak (10). `make
soak` sets more, or by hand:
MILLRACE_KILLS=1000 MILLRACE_SOAK=3600 build/venv/bin/python -m pytest -s tests/crash/test_matrix.py
"""

import collections
import os
import signal
import time

import processes
import pytest
from flows import Load, Stream
from matrix import Matrix, private_bytes, shared_memory_bytes
from memory_group import MemoryGroup, Unavailable, WantOfMemory
from metrics import Metrics, address_of
from ordeal import Ordeal
from processes import PATIENCE, wait_until
from test_crash import finish, path_under_load
from topology import QUICK_RESTARTS, Topology, millrace
from wire import Wire

KILLS = int(os.environ.get("MILLRACE_KILLS", "24"))
SOAK_SECONDS = int(os.environ.get("MILLRACE_SOAK", "10"))
ROUND_KILLS = 24  # then there is a hub again
FLOW_KILLS = 8


def load(folder, seed):
    text = path_under_load(folder, seed, "hang")
    return "crash_limit: 0\n" + text  # no worker dies of a function here


def test_all_kinds_die_in_all_ways(tmp_path, seed):
    killed, blows, lost, pauses, rounds = 0, collections.Counter(), collections.Counter(), [], 0
    while killed < KILLS:
        folder = tmp_path / str(rounds)
        folder.mkdir()
        with Topology(folder, load(folder, seed + rounds), words=QUICK_RESTARTS) as running:
            matrix = Matrix(running, seed + rounds)
            until = min(KILLS, killed + ROUND_KILLS)
            while killed < until:
                killed += matrix.blow()
            audit, _ = finish(folder, matrix)
        blows.update(matrix.blows_by_kind)
        lost.update(audit["dropped"])
        pauses += matrix.pauses
        rounds += 1
        print(f"round {rounds}: {killed} struck so far, lost {dict(lost)}", flush=True)
        (folder / "out.pcap").unlink()
    pauses.sort()
    print(f"{killed} struck in {rounds} rounds: {dict(blows)}; lost "
          f"{dict(lost)}; traffic seen to go on within {pauses[len(pauses) // 2]:.2f} s (half), "
          f"{pauses[-1]:.2f} s (all)")


def test_the_kernel_ends_workers_for_want_of_memory(tmp_path, seed):
    try:
        MemoryGroup().remove()
    except Unavailable as why:
        pytest.skip(f"5 ends by the OOM killer not tried: {why}")
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = WantOfMemory(running, seed)
        parts = ["front.1", "gpu.0.a", "ingress.in.0", "egress.0", "front.0"]
        for part in parts:
            ordeal.strike([part], "out of memory")
        finish(tmp_path, ordeal)


def test_hub_and_standby_gone_a_new_standby_recovers(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed)
        lives = running.lives()
        running.kill("hub", "standby", "front.1", lives=lives)
        ordeal.struck += ["hub", "standby", "front.1"]
        running.wait_alive("standby")
        assert running.audit()["by"] == "standby"
        ordeal.wait_back("front.1", lives)
        # The one that leads dies, and once more.
        for part in ("ingress.in.0", "front.0"):
            lives = running.lives()
            running.kill("standby", part, lives=lives)
            ordeal.struck.append(part)
            running.wait_alive("standby")
            ordeal.wait_back(part, lives)
        finish(tmp_path, ordeal)


def test_telemetry_that_hangs_is_found_and_started_again(tmp_path):
    text = """
heartbeat_limit: 6s
ports:
  in:  { device: generate, flows: 64, count: 1000 }
  out: { device: "null" }
paths:
  main: { from: in, to: out }
"""
    with Topology(tmp_path, text) as running:
        running.settle(received=1000)
        wait_until(lambda: running.actor("telemetry")["heartbeat_age_ms"] is not None, PATIENCE,
                   "beats")
        hung = running.actor("telemetry")["pid"]
        os.kill(hung, signal.SIGSTOP)
        wait_until(lambda: running.actor("telemetry")["pid"] not in (0, hung), PATIENCE,
                   "another one")
        assert any(event["kind"] == "telemetry_hung" for event in running.status()["events"])
        wait_until(lambda: running.actor("telemetry")["heartbeat_age_ms"] is not None, PATIENCE,
                   "beats")
        assert running.metrics().total("millrace_port_received_packets_total") == 1000


def under_blows(running, ordeal):
    """The worker of a flow dies, again and again, and the flow goes on."""
    for _ in range(FLOW_KILLS):
        part = ordeal.chance.choice(
            ["front.0", "front.1", "egress.0", "ingress.a.0", "ingress.b.0"])
        running.kill(part)
        running.wait_alive(part)
        running.wait_received(running.audit()["received"] + 200)


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_flows_survive_kills(tmp_path, seed, protocol):
    """A connection or datagrams, and curl, while processes that move their packets die."""
    (tmp_path / "all.rules").write_text('alert "never to be seen" name "any x"\n')
    with Wire() as wire:
        text = f"""
crash_limit: 0
ports:
  a: {{ device: afpacket, interface: {wire.port_a} }}
  b: {{ device: afpacket, interface: {wire.port_b} }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: any }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
paths:
  main: {{ from: [a, b], run: [look] }}
"""
        with wire.between(tmp_path, text, words=QUICK_RESTARTS) as running:
            wire.a.wait_for(wire.b.ip)
            wire.a.neighbour(wire.b.ip, wire.b.mac)
            ordeal = Ordeal(running, seed)
            udp = protocol == "udp"
            with Load(wire, tmp_path, 1000) if udp else Stream(wire, tmp_path) as flow:
                under_blows(running, ordeal)
                sent, got = flow.end(running) if udp else (flow.end(), None)
            wire.fetch(tmp_path, 5)
            audit = running.settle()
            print(f"struck {len(running.struck)} parts, dropped {audit['dropped']}")
            assert set(audit["dropped"]) <= {"worker_lost", "egress_lost"}
            if udp:
                # What waited for an ingress comes at once: the server's socket may be too small.
                errors = wire.b.run("nstat", "-asz", "UdpRcvbufErrors").stdout.split()
                refused = int(errors[errors.index("UdpRcvbufErrors") + 1])
                seen = Metrics(wire.in_middle(
                    "curl", "-sf", f"{address_of(running.run_dir)}/metrics").stdout)
                missed = seen.total("millrace_port_missed_packets_total")
                print(f"{sent} datagrams, {sent - got['count']} lost, of these {refused} by the "
                      "receiver's own socket")
                assert got["overtaken"] == 0 and got["count"] <= sent
                assert sent - got["count"] <= sum(audit["dropped"].values()) + missed + refused


def test_memory_stays_flat_under_load_and_kills(tmp_path, seed):
    text = load(tmp_path, seed).replace(
        f"device: pcap, out: {tmp_path}/out.pcap", 'device: "null"')
    with Topology(tmp_path, text, words=QUICK_RESTARTS) as running:
        matrix = Matrix(running, seed)
        running.wait_received(20000)
        shared = shared_memory_bytes(running.name)
        most = collections.Counter()
        end = time.monotonic() + SOAK_SECONDS
        # Those that are never struck have been up for all of it.
        steady = {"hub": running.lives()["hub"][0], "supervisor": running.supervisor(),
                  "front.0": running.lives()["front.0"][0]}
        first = {name: private_bytes(pid) for name, pid in steady.items()}
        while time.monotonic() < end:
            part = matrix.chance.choice(["front.1", "gpu.0.a", "egress.0", "ingress.in.0"])
            name, pid = matrix.victim(part, running.lives())
            running.kill(name)
            matrix.wait_played(part)
            for name, pid in steady.items():
                most[name] = max(most[name], private_bytes(pid))
            assert shared_memory_bytes(running.name) == shared
        audit = matrix.drain()
        assert all(map(processes.is_running, steady.values()))
        grown = {name: most[name] - first[name] for name in steady}
        print(f"{audit['received']} packets in {SOAK_SECONDS} s, {len(running.struck)} parts "
              f"struck; {shared >> 20} MB shared; private bytes grown by {grown} of {first}")
        assert max(grown.values()) < 4 << 20


def test_who_dies_at_every_start_is_given_up(tmp_path, seed):
    """Restarts have a limit; what is left goes on, and says so."""
    text = path_under_load(tmp_path, seed)
    with Topology(tmp_path, text, words=("--restarts", "2")) as running:
        ordeal = Ordeal(running, seed)
        for _ in range(3):
            running.kill("front.2")
            ordeal.struck.append("front.2")
            wait_until(lambda: running.actor("front.2")["pid"] != running.struck["front.2"],
                       PATIENCE, "its end is seen")
            if running.actor("front.2")["state"] != "given up":
                running.wait_alive("front.2")
        assert running.actor("front.2")["state"] == "given up"
        kinds = [event["kind"] for event in running.status()["events"]]
        assert kinds.count("given_up") == 1 and kinds.count("worker_restarted") == 2
        assert millrace("status", running.name).stdout.count("given up") == 1
        finish(tmp_path, ordeal)
