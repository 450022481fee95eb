# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Queues come to a port and go while packets of many flows come to it: no flow is overtaken by
itself, nothing is lost, the audit is exact."""

import contextlib
import os
import random
import signal
import time

import pytest
import topology
from flows import FLOWS, Load
from metrics import Metrics, address_of
from processes import PATIENCE, wait_until
from topology import ask, millrace
from wire import Wire

MOST = 4


def bump(wire, folder, more):
    (folder / "all.rules").write_text('alert "never to be seen" name "any x"\n')
    return f"""
ports:
  a: {{ device: afpacket, interface: {wire.port_a}, ring: 32768{more} }}
  b: {{ device: afpacket, interface: {wire.port_b} }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: any }}
  deep:  {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  look:    {{ type: match, rules: all.rules, on: front }}
  witness: {{ type: record, on: deep }}
paths:
  there: {{ from: a, run: [look, witness], lanes: 8, slots: 64 }}
  back:  {{ from: b, run: [look] }}
"""


def queues(wire, folder, count, most=MOST):
    return bump(wire, folder, f", queues: {count}, queues_max: {most}")


def say(running, text):
    running.write(text)


def apply(running, wire, folder, count):
    """The file says so many queues, and is applied."""
    say(running, queues(wire, folder, count))
    return ask("apply", running.file)


def begin_apply(running, wire, folder, count):
    """The same, while the test goes on."""
    say(running, queues(wire, folder, count))
    return topology.start("apply", running.file)


def names_of(count):
    return [f"ingress.a.{queue}" for queue in range(count)]


def taken(running):
    return {actor["name"]: actor["packets"] for actor in running.status()["actors"]
            if actor["name"].startswith("ingress.a.")}


def wait_taken(running, names, count):
    """Those take packets, and no other one of the port does."""
    before = taken(running)
    wait_until(lambda: all(taken(running).get(name, 0) >= before.get(name, 0) + count
                           for name in names), PATIENCE, f"{names} take packets")
    after = taken(running)
    assert {name for name in after if after[name] != before.get(name, 0)} == set(names)


def alive(running):
    return {name for name in running.lives() if name.startswith("ingress.a.")}


def strike(running, chance, number):
    """One of the port's ingresses, or several; some may be leaving of themselves just then."""
    lives = running.lives()
    names = [name for name in sorted(lives) if name.startswith("ingress.a.")]
    for name in chance.sample(names, chance.randint(1, len(names))):
        with contextlib.suppress(ProcessLookupError):
            running.kill(name, number=number, lives=lives)


def has_kept_all(running, load):
    """Ends the load; every packet has arrived, in the order of its flow."""
    sent, got = load.end(running)
    assert got == {"count": sent, "overtaken": 0, "flows": FLOWS}
    audit = running.settle()
    assert audit["dropped"] == {} and audit["unaccounted"] == 0, audit
    assert audit["received"] == audit["transmitted"], audit


def metrics_of(running, wire):
    address = address_of(running.run_dir)
    return Metrics(wire.in_middle("curl", "-s", address + "/metrics").stdout)


@contextlib.contextmanager
def between(wire, folder, count):
    with wire.between(folder, queues(wire, folder, count)) as running:
        wire.a.wait_for(wire.b.ip)
        wire.a.neighbour(wire.b.ip, wire.b.mac)
        yield running


@pytest.mark.parametrize("rate", [3000, 8000])
def test_queues_come_and_go_under_load(tmp_path, rate):
    steps = [4, 2, 3, 1, 2, 4, 3, 1]
    with Wire() as wire, between(wire, tmp_path, 1) as running:
        with Load(wire, tmp_path, rate) as load:
            wait_taken(running, names_of(1), rate // 4)
            for number, count in enumerate(steps):
                done = apply(running, wire, tmp_path, count)
                assert done["generation"] == 2 + number, done
                assert ask("plan", running.file, "--diff")["changes"] == []
                wait_taken(running, names_of(count), rate // 20)
                assert alive(running) == set(names_of(count))
            has_kept_all(running, load)
        metrics = metrics_of(running, wire)
        by_queue = metrics.by("stream", "millrace_port_received_packets_total", port="a")
        assert len(by_queue) == MOST and min(by_queue.values()) > 0, by_queue
        assert metrics.total("millrace_port_missed_packets_total", port="a") == 0
        assert metrics.total("millrace_function_number_hits_total", function="witness",
                             number="1") == 0, "inversions"


def test_a_share_goes_over_when_what_was_read_of_it_has_left(tmp_path):
    """Late: both workers of a stage stand still, so nothing leaves."""
    with Wire() as wire, between(wire, tmp_path, 1) as running:
        with Load(wire, tmp_path, 2000) as load:
            wait_taken(running, names_of(1), 500)
            workers = [running.actor(name)["pid"] for name in ("deep.0", "deep.1")]
            for pid in workers:
                os.kill(pid, signal.SIGSTOP)
            try:
                applying = begin_apply(running, wire, tmp_path, 2)
                time.sleep(1)
                assert applying.poll() is None and taken(running).get("ingress.a.1", 0) == 0
            finally:
                for pid in workers:
                    os.kill(pid, signal.SIGCONT)
            assert applying.wait(timeout=PATIENCE) == 0
            wait_taken(running, names_of(2), 200)
            has_kept_all(running, load)


def test_an_unconfirmed_change_of_queues_is_taken_back(tmp_path):
    with Wire() as wire, between(wire, tmp_path, 3) as running:
        with Load(wire, tmp_path, 3000) as load:
            wait_taken(running, names_of(3), 100)
            say(running, queues(wire, tmp_path, 1))
            assert ask("apply", running.file, "--confirm", 600)["generation"] == 2
            wait_taken(running, names_of(1), 300)
            assert running.status()["confirm_seconds"] > 0
            assert ask("rollback", running.name)["generation"] == 3
            wait_taken(running, names_of(3), 300)
            has_kept_all(running, load)


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGSEGV])
def test_ingresses_die_while_shares_go_from_queue_to_queue(tmp_path, seed, ending):
    """A successor finds which queue reads what, and where to go on."""
    chance = random.Random(seed)
    with Wire() as wire, between(wire, tmp_path, 2) as running:
        with Load(wire, tmp_path, 4000) as load:
            wait_taken(running, names_of(2), 500)
            count = 2
            for _ in range(8):
                count = chance.choice([other for other in range(1, MOST + 1) if other != count])
                applying = begin_apply(running, wire, tmp_path, count)
                time.sleep(chance.uniform(0, 0.3))
                strike(running, chance, ending)
                # One that comes and dies at once is not taken: then all is as it was.
                if applying.wait(timeout=PATIENCE) != 0:
                    assert ask("apply", running.file)["ok"]
                running.wait_alive(*names_of(count))
                wait_taken(running, names_of(count), 100)
            has_kept_all(running, load)


def test_the_supervisor_dies_while_queues_come(tmp_path):
    with Wire() as wire, between(wire, tmp_path, 1) as running:
        with Load(wire, tmp_path, 3000) as load:
            wait_taken(running, names_of(1), 500)
            applying = begin_apply(running, wire, tmp_path, 3)
            time.sleep(0.05)
            running.adopt_after_kill()
            applying.wait(timeout=PATIENCE)
            assert ask("apply", running.file)["ok"]
            running.wait_alive(*names_of(3))
            wait_taken(running, names_of(3), 300)
            lives = running.lives()
            running.adopt_after_kill()  # the next supervisor wants as many
            wait_taken(running, names_of(3), 300)
            assert running.lives() == lives
            has_kept_all(running, load)


def test_a_queue_that_cannot_be_opened_is_taken_back(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    topology.with_program(folder, "slow-classifier", "millrace-never")
    monkeypatch.setattr(topology, "BIN", folder)
    with Wire() as wire, between(wire, tmp_path, 1) as running:
        with Load(wire, tmp_path, 5000) as load:
            wait_taken(running, names_of(1), 1000)
            lives = running.lives()
            (folder / "millrace-io-worker").chmod(0)
            say(running, queues(wire, tmp_path, 2))
            refused = millrace("apply", running.file, check=False)
            assert refused.returncode == 1 and "ingress.a.1" in refused.stderr, refused.stderr
            assert running.status()["generation"] == 1
            wait_taken(running, names_of(1), 1000)
            assert running.lives() == lives
            (folder / "millrace-io-worker").chmod(0o755)
            assert ask("apply", running.file)["generation"] == 2
            wait_taken(running, names_of(2), 1000)
            has_kept_all(running, load)
        for count, most, words in ((5, MOST, "queues_max 4 with queues 5"),
                                   (1, 5, "queues_max 4 -> 5")):
            say(running, queues(wire, tmp_path, count, most))
            refused = millrace("apply", running.file, check=False)
            assert refused.returncode != 0 and words in refused.stderr, refused.stderr


def test_one_apply_changes_tables_queues_and_workers_or_nothing_of_it(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    topology.with_program(folder, "slow-classifier", "millrace-never")
    monkeypatch.setattr(topology, "BIN", folder)
    with Wire() as wire, between(wire, tmp_path, 1) as running:
        with Load(wire, tmp_path, 3000) as load:
            wait_taken(running, names_of(1), 500)
            front = lambda: {name for name in running.lives() if name.startswith("front.")}
            everything = queues(wire, tmp_path, 3).replace("all.rules", "more.rules").replace(
                "count: 2, dispatch: any", "count: 1, max: 4, dispatch: any")
            (tmp_path / "more.rules").write_text('alert "one"\nalert "two"\n')
            say(running, everything)
            (folder / "millrace-io-worker").chmod(0)
            refused = millrace("apply", running.file, check=False)
            assert refused.returncode == 1 and "ingress.a.1" in refused.stderr, refused.stderr
            wait_until(lambda: running.status()["generation"] == 2, PATIENCE, "taken back")
            changes = ask("plan", running.file, "--diff")["changes"]
            assert [line.split(":")[0] for line in changes] == [
                "port a", "function look", "group front"], "its rules are the old ones again"
            (folder / "millrace-io-worker").chmod(0o755)
            done = ask("apply", running.file)
            assert done["generation"] == 3 and ask("plan", running.file, "--diff")["changes"] == []
            wait_taken(running, names_of(3), 300)
            assert front() == {"front.0"}
            assert ask("rollback", running.name)["generation"] == 4
            wait_taken(running, names_of(1), 300)
            assert front() == {"front.0", "front.1"}
            has_kept_all(running, load)
