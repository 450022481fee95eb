# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What people get wrong, or what fails in the middle: it is told, and nothing that runs is hurt."""

import json
import os
import pathlib
import shutil
import subprocess

import frames
import processes
import pytest
import topology
from processes import PATIENCE, wait_until
from test_changes import ALL_DROPPED, FIRST, images, rewrite, scanned
from test_running import folder_of, numbered
from test_upgrade import another_build
from topology import BIN, Topology, ask, millrace

TWO_PORTS = """millrace: 1
ports:
  a: {{ device: pcap, in: in.pcap, out: out.pcap }}
  b: {{ device: pcap, in: other.pcap, out: {} }}
functions:
  look: {{ type: match, rules: x.rules }}
paths:
  main: {{ from: [a, b], run: [look] }}
"""


@pytest.mark.parametrize("out, also", [
    ("out.pcap", "'out' of 'a'"), ("folder/../out.pcap", "'out' of 'a'"),
    ("in.pcap", "'in' of 'a'"), ("hard.pcap", "'in' of 'a'"), ("soft.pcap", "'in' of 'a'"),
    ("here/in.pcap", "'in' of 'a'"), ("here/out.pcap", "'out' of 'a'"),
    ("x.rules", "'rules' of 'look'")])
def test_two_that_would_use_one_file_are_refused(tmp_path, out, also):
    for name in ("in.pcap", "other.pcap"):
        frames.write_capture(tmp_path / name, [])
    (tmp_path / "x.rules").write_text(FIRST)
    (tmp_path / "folder").mkdir()
    (tmp_path / "hard.pcap").hardlink_to(tmp_path / "in.pcap")
    (tmp_path / "soft.pcap").symlink_to("in.pcap")
    (tmp_path / "here").symlink_to(".")
    file = tmp_path / "x.yaml"
    file.write_text(TWO_PORTS.format("mine.pcap"))
    millrace("validate", file)
    file.write_text(TWO_PORTS.format(out))
    refused = millrace("validate", file, check=False)
    assert refused.returncode == 1
    said = [line for line in refused.stderr.splitlines() if f"{file}:4:43: found " in line]
    assert len(said) == 1 and "'out' of port 'b'" in said[0] and f"is {also} too" in said[0]


def test_a_link_to_its_run_directory_leads_to_it(tmp_path):
    count = 20000
    with Topology(tmp_path, numbered(tmp_path, count)) as running:
        link = tmp_path / "link"
        link.symlink_to(running.run_dir)
        where = ("--run-dir", link)
        assert ask("status", running.name, *where)["run_dir"] == running.run_dir
        running.settle(received=count)
        running.kill_supervisor()
        done = millrace("down", running.name, *where)
        assert "stopped (it had no supervisor)" in done.stdout
        processes.wait_none(running.run_dir)
        assert not os.path.exists(running.run_dir)
        running.__enter__()
        running.settle(received=count)
        assert "stopped" in millrace("down", running.name, *where).stdout
        processes.wait_none(running.run_dir)
        running.__enter__()


def refused_everywhere(name, run_dir, said):
    for command in ("status", "audit", "down", "history"):
        refused = millrace(command, name, "--run-dir", run_dir, check=False)
        assert refused.returncode == 1 and said in refused.stderr, refused.stderr


def test_a_name_and_a_run_directory_of_another_one_hurt_neither(tmp_path):
    count = 20000
    folders = [folder_of(tmp_path, name) for name in ("one", "two", "left")]
    with (Topology(folders[0], numbered(folders[0], count)) as first,
          Topology(folders[1], numbered(folders[1], count)) as second):
        lives = first.lives(), second.lives()
        there = f"in {first.run_dir} runs topology '{first.name}', not '{second.name}'"
        refused_everywhere(second.name, first.run_dir, there)
        # What is left in a folder, of a run that has the name of one that goes on elsewhere.
        shutil.copy(pathlib.Path(second.run_dir, "plan.bin"), folders[2])
        done = millrace("down", second.name, "--run-dir", folders[2], check=False)
        assert done.returncode == 1 and f"runs in {second.run_dir}: its" in done.stderr
        assert (first.lives(), second.lives()) == lives
        second.settle(received=count)
        first.settle(received=count)
        first.kill_everything()
        refused_everywhere(second.name, first.run_dir, there)
        assert second.lives() == lives[1] and len(images(second)) == len(images(first)) == 1
        millrace("down", first.name)
        assert not images(first) and not os.path.exists(first.run_dir)
        first.__enter__()
        first.endless = False


@pytest.mark.parametrize("edited", ["more.rules", "scan.rules"])
def test_half_a_change_is_taken_back(tmp_path, monkeypatch, edited):
    """The new table is in use when a further worker cannot be started."""
    folder = another_build(tmp_path / "bin")
    monkeypatch.setattr(topology, "BIN", folder)
    text = scanned(tmp_path, on="front", rate_mpps=0.002)
    with Topology(tmp_path, text) as running:
        running.endless = True
        program = folder / "millrace-classifier"
        program.rename(folder / "aside")
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o700)
        (tmp_path / edited).write_text(ALL_DROPPED)
        rewrite(running, text.replace("scan.rules", edited).replace("count: 2,", "count: 3,"))
        refused = millrace("apply", running.file, check=False)
        assert refused.returncode == 1 and "not all workers are where they" in refused.stderr
        wait_until(lambda: running.status()["generation"] == 2, PATIENCE, "taken back")
        at = running.audit()
        assert at["dropped"]["rule"] > 0, "the other table was in use"
        (folder / "aside").rename(program)
        (tmp_path / "scan.rules").write_text(FIRST)
        rewrite(running, text)
        found = ask("plan", running.file, "--diff")
        assert found["changes"] == found["restart"] == []
        wait_until(lambda: not running.status()["differs"], PATIENCE, "as in the files")
        done = [one["what"] for one in ask("history", running.name)["generations"]]
        assert done == ["start", "taken back to 1, as only half of a change was made"]
        assert "front.2" not in running.lives() and len(images(running)) == 1
        running.wait_received(at["received"] + 2000)
        wait_until(lambda: running.audit()["transmitted"] > at["transmitted"] + 1000, PATIENCE,
                   "passes")
        audit = running.audit()
        assert audit["dropped"] == at["dropped"], "the table of before is in use"
        assert audit["unaccounted"] == 0 and not audit["problems"]


def test_a_report_for_programs(tmp_path):
    count = 20000
    with Topology(tmp_path, numbered(tmp_path, count)) as running:
        audit = running.settle(received=count)
        found = json.loads(millrace("report", running.name, "--json").stdout)
        assert found["ok"] and found["audit"]["received"] == count
        assert found["audit"]["transmitted"] == audit["transmitted"]
        assert found["ports"] == [{"name": "in", "received": count, "transmitted": 0},
                                  {"name": "out", "received": 0, "transmitted": count}]


@pytest.mark.parametrize("word, said", [
    ("statsu", "no command 'statsu', did you mean 'status'?"),
    ("xyzxyzxyz", "no command 'xyzxyzxyz'")])
def test_an_unknown_command_is_named_and_so_is_the_nearest(word, said):
    for words in ((word,), (word, "x", "--json")):
        done = millrace(*words, check=False)
        text = done.stderr + done.stdout
        assert done.returncode == 2 and said in text
        assert ("did you mean" in text) == ("did you mean" in said)


@pytest.mark.parametrize("words", [("validate",), ("plan",), ("plan", "--json")])
def test_what_cannot_be_written_is_no_success(tmp_path, words):
    file = tmp_path / "x.yaml"
    file.write_text("millrace: 1\n" + numbered(tmp_path, 1))
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([BIN / "millrace", words[0], file, *words[1:]], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "could be written to standard output" in done.stderr
