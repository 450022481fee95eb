# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A change of a box by the way that leads through it has a way back."""

import concurrent.futures
import contextlib
import os
import pathlib
import shutil
import signal
import time

import pytest
import topology
from processes import PATIENCE, wait_until
from topology import Topology, ask, millrace

TEXT = """
ports:
  in:  {{ device: generate, numbered: true, flows: 64, rate_mpps: {rate} }}
  out: {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: 2 }}
functions:
  scan: {{ type: match, rules: {folder}/scan.rules, on: front }}
paths:
  main: {{ from: in, to: out, run: [scan] }}
"""


def commands_on(file):
    """Those that change something to what it says, whether or not a command waits for them."""
    found = []
    for words in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += [words] if b"\0apply\0" + os.fsencode(file) in words.read_bytes() else []
    return found


@pytest.fixture
def running(tmp_path):
    (tmp_path / "scan.rules").write_text('alert "x"\n')
    with Topology(tmp_path, TEXT.format(folder=tmp_path, rate=0.005)) as one:
        one.endless = True
        yield one
        assert one.audit()["unaccounted"] == 0


def test_a_change_that_could_not_be_taken_back_is_not_made_with_confirm(running, tmp_path):
    for kept in pathlib.Path(running.run_dir, "history").iterdir():
        if kept.is_dir():  # as if the file had been too long to be kept
            shutil.rmtree(kept)
    (tmp_path / "scan.rules").write_text('drop "MILLRACE"\n')
    refused = millrace("apply", running.file, "--confirm", 30, check=False)
    assert refused.returncode == 1 and "could not be taken back to" in refused.stderr
    assert "scan.rules: it is not what it was then" in refused.stderr
    assert running.status()["generation"] == 1 and running.audit()["dropped"] == {}
    assert millrace("confirm", running.name, check=False).returncode == 1, "nothing waits"
    assert ask("apply", running.file)["generation"] == 2


def test_a_way_back_that_is_blocked_is_tried_again(running, tmp_path):
    (tmp_path / "scan.rules").write_text('drop "MILLRACE"\n')
    first, away = 1, pathlib.Path(running.run_dir, "away")

    def tried():
        status = running.status()
        has_failed = "more follow" in status["taking_back"]
        return status if has_failed or status["generation"] == first + 2 else None
    for _ in range(10):
        assert ask("apply", running.file, "--confirm", 8)["generation"] == first + 1
        # What it goes back to cannot be read for a while.
        kept = pathlib.Path(running.run_dir, "history", f"{first}.plan")
        kept.rename(away)
        if wait_until(tried, PATIENCE, "one try has failed")["taking_back"]:
            break
        away.rename(kept)
        first += 2  # this host stood still before the way was blocked
    else:
        raise AssertionError("the way back was never blocked")
    assert f"being taken back to generation {first}" in millrace("status", running.name).stdout
    for words in (("scale", running.name, "front=1"), ("confirm", running.name)):
        refused = millrace(*words, check=False)
        assert refused.returncode == 1 and f"taken back to generation {first}" in refused.stderr
    away.rename(kept)
    wait_until(lambda: running.status()["generation"] == first + 2, PATIENCE, "taken back")
    assert running.status()["taking_back"] == ""
    assert f"taken back to {first}" in ask("history", running.name)["generations"][-1]["what"]
    assert ask("scale", running.name, "front=1")["generation"] == first + 3


def test_a_supervisor_that_hangs_is_not_waited_for(running):
    supervisor = running.supervisor()
    os.kill(supervisor, signal.SIGSTOP)
    try:
        with concurrent.futures.ThreadPoolExecutor() as both:  # each has a patience of its own
            answers = list(both.map(lambda words: millrace(*words, check=False), (
                ("scale", running.name, "front=1"), ("status", running.name))))
    finally:
        os.kill(supervisor, signal.SIGCONT)
    for refused in answers:
        assert refused.returncode == 1 and f"pid {supervisor}" in refused.stderr
        assert f"kill -CONT {supervisor}" in refused.stderr and "millrace adopt" in refused.stderr
    assert ask("scale", running.name, "front=1")["done"]


def test_nothing_to_change_is_no_generation_and_waits_for_nobody(running):
    for words in ((), ("--confirm", 30)):
        answer = ask("apply", running.file, *words)
        assert answer["done"] == ["nothing differs"] and answer["generation"] == 1
    assert len(ask("history", running.name)["generations"]) == 1
    assert millrace("apply", running.file, "--confirm", 0, check=False).returncode == 2
    assert ask("scale", running.name, "front=1")["generation"] == 2


def test_another_text_of_the_same_topology_is_a_generation(running):
    with open(running.file, "a", encoding="utf-8") as file:
        file.write("# why it is so\n")
    answer = ask("apply", running.file)
    assert answer["done"] == ["nothing had to change"] and answer["generation"] == 2
    assert not running.status()["differs"]


@pytest.mark.parametrize("after", [0.02, 0.06, 0.15])
def test_a_restart_goes_on_when_its_terminal_goes(running, tmp_path, after):
    text = pathlib.Path(running.file).read_text(encoding="utf-8")
    pathlib.Path(running.file).write_text(text.replace("rate_mpps: 0.005", "rate_mpps: 0.004"))
    command = topology.start("apply", running.file, "--restart")
    time.sleep(after)
    command.send_signal(signal.SIGHUP)
    command.wait(PATIENCE)
    wait_until(lambda: not commands_on(running.file), PATIENCE, "it has done what it began")
    assert running.status()["phase"] == "running"


def rewrite(running, before, after):
    text = pathlib.Path(running.file).read_text(encoding="utf-8")
    assert before in text
    pathlib.Path(running.file).write_text(text.replace(before, after), encoding="utf-8")


def test_the_history_goes_on_over_restarts_and_leads_back_over_them(running, tmp_path):
    rewrite(running, "rate_mpps: 0.005", "rate_mpps: 0.004")
    assert ask("apply", running.file, "--restart")["generation"] == 2
    (tmp_path / "scan.rules").write_text('drop "MILLRACE"\n')
    assert ask("reload", running.name)["generation"] == 3
    refused = millrace("rollback", running.name, 1, check=False)
    assert refused.returncode == 1 and "needs --restart" in refused.stderr
    back = ask("rollback", running.name, 1, "--restart")
    assert back["generation"] == 4 and back["done"][-1].startswith("restarted: ")
    past = [one["what"] for one in ask("history", running.name)["generations"]]
    assert past == ["start", f"apply {running.file} --restart", "reload scan",
                    "rollback 1 --restart"]
    before = running.audit()["received"]
    running.wait_received(before + 1000)
    assert running.audit()["dropped"] == {}, "the rules of then"
    assert ask("reload", running.name)["generation"] == 5  # the file of now
    wait_until(lambda: running.audit()["dropped"], PATIENCE, "the rules of now")
    assert not list(pathlib.Path(running.run_dir).parent.glob("*.before*"))


def test_a_change_that_waits_to_be_confirmed_is_not_ended_by_a_restart(running):
    rewrite(running, "count: 2", "count: 1, max: 2")
    assert ask("apply", running.file, "--restart")["generation"] == 2
    rewrite(running, "count: 1", "count: 2")
    done = ask("apply", running.file, "--confirm", 100)["done"]
    assert done[-1] == f"taken back in 100 s unless confirmed: millrace confirm {running.name}"
    lives = running.lives()
    rewrite(running, "rate_mpps: 0.005", "rate_mpps: 0.004")
    refused = millrace("apply", running.file, "--restart", check=False)
    assert refused.returncode == 1 and "waits to be confirmed" in refused.stderr
    assert running.lives() == lives and running.status()["confirm_seconds"] > 0


def test_a_restart_that_this_host_cannot_do_ends_nothing(running):
    lives = running.lives()
    rewrite(running, 'device: "null"', "device: afpacket, interface: nowhere0")
    refused = millrace("apply", running.file, "--restart", check=False)
    assert refused.returncode == 1 and "interface nowhere0: not there" in refused.stderr
    assert running.lives() == lives and running.status()["generation"] == 1


def test_what_ran_before_runs_again_when_a_restart_fails(running):
    rewrite(running, 'device: "null"', "device: tap, interface: lo")
    failed = millrace("apply", running.file, "--restart", check=False)
    assert failed.returncode == 1 and "ip link del lo" in failed.stderr
    assert "what ran before runs again" in failed.stderr
    assert running.status()["generation"] == 2 and running.status()["phase"] == "running"
    last = ask("history", running.name)["generations"][-1]["what"]
    assert last == f"start again, after: apply {running.file} --restart"
