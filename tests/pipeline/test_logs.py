# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""millrace logs, and millrace top when its topology ends."""

import fcntl
import json
import os
import pathlib
import signal
import subprocess
import time

from memory_group import MemoryGroup, Unavailable
from processes import PATIENCE, wait_until
from topology import BIN, Topology, millrace

import pytest

TEXT = """
ports:
  in:  { device: generate, numbered: true, count: 0, rate_mpps: 0.01 }
  out: { device: "null" }
workers:
  front: { kind: classifier, count: 1, dispatch: any }
  gpu:   { kind: gpu, device: software }
functions:
  look: { type: match, rules: all.rules, on: front }
  match: { type: match, rules: all.rules, on: gpu }
paths:
  main: { from: in, to: out, run: [look, match] }
"""


def start(folder):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    running = Topology(folder, TEXT)
    running.endless = True
    return running


def lines_of(running, *words):
    done = millrace("logs", running.name, "--json", *words)
    return [json.loads(line) for line in done.stdout.splitlines()]


def settled_lines_of(running):
    """All lines, once none has come for half a second."""
    def settled():
        lines = lines_of(running)
        time.sleep(0.5)
        return lines if lines_of(running) == lines else None
    return wait_until(settled, PATIENCE, "no more lines come")


def test_what_processes_and_supervisor_said_is_merged_by_time(tmp_path):
    with start(tmp_path) as running:
        running.kill("front.0")
        running.wait_alive("front.0")
        lines = settled_lines_of(running)
        times = [line["time"] for line in lines]
        assert times == sorted(times)
        assert any(line["who"] == "supervisor" and "front.0" in line["text"] for line in lines)
        assert any(line["who"] == "gpu.0.a" and "software" in line["text"] for line in lines)
        # What is said since then comes behind these.
        only = [line for line in lines if line["who"] == "supervisor"]
        assert only and lines_of(running, "supervisor")[:len(only)] == only
        assert lines_of(running, "--since", "1d")[:len(lines)] == lines
        time.sleep(1.1)
        recent = lines_of(running, "--since", "1s")
        assert not [line for line in recent if line in lines], "all of these are older"
        text = millrace("logs", running.name).stdout
        assert len(text.splitlines()) >= len(lines) and "\033" not in text
        unknown = millrace("logs", running.name, "frond.0", check=False)
        assert unknown.returncode == 1 and "there are: " in unknown.stderr
        assert millrace("logs", running.name, "--since", "x", check=False).returncode == 1


def test_the_kernels_kill_for_want_of_memory_is_told_from_an_operators(tmp_path):
    try:
        group = MemoryGroup()
    except Unavailable as reason:
        pytest.skip(str(reason))
    with start(tmp_path) as running, group:
        def ends():
            return [event["text"] for event in running.status()["events"]
                    if event["kind"] == "worker_exited"]

        running.kill("front.0")
        running.wait_alive("front.0")
        assert ends()[-1].endswith("killed by signal 9 (Killed)"), ends()
        pid = running.lives()["front.0"][0]
        running.struck["front.0"] = pid
        group.exhaust(pid)
        running.wait_alive("front.0")
        said = "killed by signal 9 (Killed), out of memory: the kernel ended it"
        assert said in ends()[-1], ends()
        assert any(said in line["text"] for line in lines_of(running, "supervisor"))


def test_follow_shows_what_happens_and_ends_with_the_topology(tmp_path):
    file = tmp_path / "followed"
    with start(tmp_path) as running, open(file, "w", encoding="utf-8") as out:
        follow = subprocess.Popen([BIN / "millrace", "logs", running.name, "-f"], stdout=out)
        running.kill("front.0")
        wait_until(lambda: "front.0" in file.read_text(encoding="utf-8"), PATIENCE,
                   "the end of front.0")
    assert follow.wait(timeout=PATIENCE) == 0


def test_a_log_that_has_grown_is_moved_and_read_as_before(tmp_path):
    count = 30000
    with start(tmp_path) as running:
        log = pathlib.Path(running.run_dir, "logs/front.0.log")
        with open(log, "a", encoding="ascii") as said:
            fcntl.flock(said, fcntl.LOCK_EX)  # so it is moved with all of them, or not yet
            for number in range(count):
                said.write(f"2026-01-01T00:00:00.000000Z front.0: line {number:05}\n")
        older = log.with_suffix(".log.1")
        wait_until(lambda: older.exists() and log.stat().st_size < 4096, PATIENCE, "moved")
        with open(log, "a", encoding="ascii") as said:
            said.write("2026-01-01T00:00:00.000000Z front.0: line last\n")
        texts = [line["text"] for line in lines_of(running, "front.0")]
        assert [text for text in texts if text.startswith("line ")] == \
            [f"line {number:05}" for number in range(count)] + ["line last"]


def end_of_top(running):
    top = subprocess.Popen([BIN / "millrace", "top", running.name, "--interval", "0.1"],
                           stdout=subprocess.PIPE, text=True)
    assert "received" in top.stdout.readline()
    return top


def test_top_notices_that_its_topology_was_brought_down(tmp_path):
    with start(tmp_path) as running:
        top = end_of_top(running)
    assert "the topology has ended" in top.communicate(timeout=PATIENCE)[0]
    assert top.returncode == 0


def test_top_notices_that_its_topology_was_killed(tmp_path):
    with start(tmp_path) as running:
        top = end_of_top(running)
        running.kill_everything()
        assert "the topology has ended" in top.communicate(timeout=PATIENCE)[0]
        assert top.returncode == 0


def test_top_goes_on_while_only_the_supervisor_is_gone(tmp_path):
    with start(tmp_path) as running:
        top = end_of_top(running)
        os.kill(running.supervisor(), signal.SIGKILL)
        time.sleep(1)
        assert top.poll() is None
        top.kill()
        top.communicate()
        millrace("up", running.file, "--detach")
