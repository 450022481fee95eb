# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Topologies as their users run them: side by side, killed whole, scaled, idle."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

import frames
import processes
from processes import PATIENCE, wait_until
from topology import BIN, Topology, ask, millrace, start


def numbered(folder, count, rate_mpps=0.0, front="count: 2, max: 4"):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
ports:
  in:  {{ device: generate, numbered: true, flows: 64, count: {count}, rate_mpps: {rate_mpps} }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, {front}, dispatch: any }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
paths:
  main: {{ from: in, to: out, run: [look] }}
"""


def folder_of(parent, name):
    (parent / name).mkdir()
    return parent / name


def test_two_topologies_run_side_by_side(tmp_path):
    count = 50000
    one, two = folder_of(tmp_path, "one"), folder_of(tmp_path, "two")
    with (Topology(one, numbered(one, count)) as first,
          Topology(two, numbered(two, count)) as second):
        assert first.run_dir != second.run_dir
        first.settle(received=count)
        second.settle(received=count)
        first.kill("front.0")
        first.wait_alive("front.0")
        assert second.actor("front.0")["restarts"] == 0
    for folder in (one, two):
        assert frames.numbers_in(folder / "out.pcap") == list(range(count))


def test_everything_is_killed_at_once_and_starts_again_at_once(tmp_path):
    count = 40000
    first = Topology(tmp_path, numbered(tmp_path, 0, rate_mpps=0.05))
    with contextlib.ExitStack() as stack:
        stack.callback(first.down, check=False)
        first.__enter__()
        first.wait_received(10000)
        first.kill_everything()
        with Topology(tmp_path, numbered(tmp_path, count), name=first.name) as running:
            running.settle(received=count)
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(count))


def test_what_killed_topologies_leave_is_removed_by_the_next_start(tmp_path):
    folders = [folder_of(tmp_path, name) for name in ("dead", "orphan", "next")]
    dead, orphan, following = (Topology(folder, numbered(folder, 0, rate_mpps=0.05))
                               for folder in folders)
    for topology in (dead, orphan, following):
        topology.endless = True
    with contextlib.ExitStack() as stack, orphan:
        stack.callback(dead.down, check=False)
        os.kill(orphan.supervisor(), signal.SIGKILL)
        dead.__enter__()
        dead.kill_everything()
        left = [pathlib.Path(dead.run_dir), *pathlib.Path("/dev").glob(f"*/millrace-{dead.name}.*")]
        assert len(left) == 3, left  # and status file, table; its segment has no name
        with following:
            assert not any(path.exists() for path in left)
        orphan.wait_received(orphan.audit()["received"] + 1)


def test_a_second_start_of_a_running_name_is_refused(tmp_path):
    count = 20000
    with Topology(tmp_path, numbered(tmp_path, count)) as running:
        lives = running.lives()
        again = millrace("up", running.file, "--detach", check=False)
        assert again.returncode != 0
        assert "run" in again.stderr and running.run_dir in again.stderr
        assert running.lives() == lives
        running.settle(received=count)


def test_two_who_end_it_at_once_both_hear_that_it_is_down(tmp_path):
    running = Topology(tmp_path, numbered(tmp_path, 1000))
    running.__enter__()
    try:
        running.settle(received=1000)
        downs = [subprocess.Popen([BIN / "millrace", "down", running.name],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                 for _ in range(3)]
        said = [down.communicate(timeout=PATIENCE) for down in downs]
        assert [down.returncode for down in downs] == [0] * 3, said
        processes.wait_none(running.run_dir)
        assert not os.path.exists(running.run_dir)
    finally:
        running.down(check=False)


def test_until_done_ends_with_the_audit(tmp_path):
    count = 20000
    file = tmp_path / f"done-{os.getpid()}.yaml"
    file.write_text("millrace: 1\n" + numbered(tmp_path, count))
    audit = ask("up", file, "--until-done")["audit"]
    assert audit["exact"] and audit["quiet"] and audit["unaccounted"] == 0
    assert audit["received"] == audit["transmitted"] == count
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(count))


def test_who_reads_what_up_says_may_go(tmp_path):
    count = 20000
    running = Topology(tmp_path, numbered(tmp_path, count))
    words = [BIN / "millrace", "up", running.file]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            for line in process.stdout:
                if b"  running: " in line:
                    break
            process.stdout.close()
            running.run_dir = running.status()["run_dir"]
            running.kill("front.0")  # of which it has something to say
            running.wait_alive("front.0")
            running.settle(received=count)
            assert running.supervisor() == process.pid
            process.send_signal(signal.SIGHUP)
            assert process.wait(timeout=PATIENCE) >= 0, "ended by a signal"
            processes.wait_none(running.run_dir)
            assert not os.path.exists(running.run_dir)
        finally:
            running.down(check=False)
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(count))


def test_a_terminal_that_goes_ends_it_in_order(tmp_path):
    running = Topology(tmp_path, numbered(tmp_path, 0, rate_mpps=0.01))
    with open(tmp_path / "said", "w+", encoding="utf-8") as said:
        process = subprocess.Popen([BIN / "millrace", "up", running.file, "--until-done"],
                                   stdout=said)
        try:
            wait_until(lambda: "  running: " in (tmp_path / "said").read_text(), PATIENCE,
                       "running")
            running.run_dir = running.status()["run_dir"]
            running.wait_received(1000)
            process.send_signal(signal.SIGHUP)
            assert process.wait(timeout=PATIENCE) == 0
            assert "audit by hub: exact" in (tmp_path / "said").read_text()
            processes.wait_none(running.run_dir)
            assert not os.path.exists(running.run_dir)
        finally:
            running.down(check=False)
            process.wait()
    numbers = frames.numbers_in(tmp_path / "out.pcap")
    assert len(numbers) >= 1000 and numbers == list(range(len(numbers)))


def test_a_group_scales_under_traffic_and_nothing_is_lost(tmp_path):
    with Topology(tmp_path, numbered(tmp_path, 0, rate_mpps=0.01, front="count: 1, max: 4")
                  ) as running:
        lives = running.lives()
        for workers in (4, 1, 3, 2):
            running.scale("front", workers)
            alive = [actor for actor in running.status()["actors"]
                     if actor["name"].startswith("front.") and actor["state"] == "alive"]
            assert len(alive) == workers
            before = running.audit()["received"]
            running.wait_received(before + 3000)
        audit = running.drain()
        assert audit["transmitted"] == audit["received"]
        done = running.metrics().by("worker", "millrace_batches_total", group="front")
        assert len(done) == 4 and min(done.values()) > 0
        after = running.lives()
        assert all(after[name] == life for name, life in lives.items())
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(audit["received"]))


def test_scaling_what_cannot_be_scaled_is_refused(tmp_path):
    with Topology(tmp_path, numbered(tmp_path, 1000)) as running:
        for what, word in (("front=5", "1 to 4"), ("frnot=2", "front"), ("front=x", "front=x")):
            refused = millrace("scale", running.name, what, check=False)
            assert refused.returncode != 0 and word in refused.stdout + refused.stderr


def idle_topology(folder):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
ports:
  in:  {{ device: generate, numbered: true, flows: 64, rate_mpps: 0.0001 }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: any }}
  gpu:   {{ kind: gpu, device: software, seed: 1, delay_us: 20 }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
  scan: {{ type: match, rules: all.rules, on: gpu }}
paths:
  main: {{ from: in, to: out, run: [look, scan] }}
"""


def test_an_idle_topology_sleeps_and_takes_little_memory(tmp_path):
    """Each that moves packets sleeps between them, by a count: an actor that polled never would."""
    with Topology(tmp_path, idle_topology(tmp_path)) as running:
        pids = [*processes.processes_of(running.run_dir), running.supervisor()]
        memory = sum(map(processes.memory_bytes, pids))
        assert 5e6 < memory < 600e6, "even with the segment counted once a process"

        def sleeps():
            return running.metrics().by("actor", "millrace_sleeps_total")

        before = sleeps()
        movers = ("ingress.in.0", "front.0", "front.1", "gpu.0.a", "egress.0")
        assert set(movers) <= set(before)

        def all_slept():
            now = sleeps()
            return all(now[name] > before[name] + 50 for name in movers)

        wait_until(all_slept, PATIENCE, lambda: f"each sleeps: {before} -> {sleeps()}")
        running.wait_received(300)
        audit = running.drain()
        assert audit["transmitted"] == audit["received"]


def test_a_file_is_applied_after_what_was_asked_for_before(tmp_path):
    with Topology(tmp_path, numbered(tmp_path, 0, 0.001)) as running:
        running.endless = True
        stopped = running.lives()["front.1"][0]
        os.kill(stopped, signal.SIGSTOP)
        try:
            scaling = start("scale", running.name, "front=1")  # as soon as it can drain
            wait_until(lambda: running.actor("front.1")["state"] == "draining", PATIENCE,
                       "it is to go")
            applying = start("apply", running.file)  # of two workers, which there are by now
            time.sleep(0.5)
            assert applying.poll() is None
        finally:
            os.kill(stopped, signal.SIGCONT)
        assert scaling.wait(timeout=PATIENCE) == applying.wait(timeout=PATIENCE) == 0
        running.wait_alive("front.0", "front.1")
        assert [one["what"].split()[0] for one in ask("history", running.name)["generations"]] == [
            "start", "scale", "apply"]
