# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The file of a port, or of events, is away when its process is restarted: all else goes on, and
what is lost is told. With the file back a port goes on after some time, or at once when its actor
is restarted; events at once."""

import os
import signal
import subprocess

import frames
import pytest
from capture_records import packets_of
from processes import PATIENCE, wait_until
from test_events import (Client, all_told, assert_once, counts, events_pid, lines_of,
                         telling)
from topology import Topology, millrace

FRAME = frames.frame((17, 0x0A000001, 1024, 0x0A000002, 53), 1, b"hello")
PLACES = pytest.mark.parametrize("more", ["", "placement: fused\n"], ids=["split", "fused"])


def grows(file):
    before = file.stat().st_size
    wait_until(lambda: file.stat().st_size > before, PATIENCE, f"{file} grows")


def restart(running, actor, number=signal.SIGKILL):
    running.kill(actor, number=number)
    running.wait_alive(actor)


def restart_in_order(running, actor):
    """As the event tells operators to do it."""
    pid = running.lives()[actor][0]
    told(running, f"at once: kill {pid})")
    restart(running, actor, signal.SIGTERM)


def told(running, words):
    wait_until(lambda: any(event["kind"] == "port_trouble" and words in event["text"]
                           for event in running.status()["events"]), PATIENCE, "an event says it")


@PLACES
def test_an_egress_comes_back_while_the_file_of_one_port_is_away(tmp_path, more):
    folder, moved, other = tmp_path / "away", tmp_path / "moved", tmp_path / "other.pcap"
    folder.mkdir()
    text = f"""
{more}ports:
  in-a: {{ device: generate, rate_mpps: 0.002 }}
  in-b: {{ device: generate, rate_mpps: 0.002 }}
  out:  {{ device: pcap, out: {folder}/out.pcap }}
  more: {{ device: pcap, out: {other} }}
paths:
  a: {{ from: in-a, to: out }}
  b: {{ from: in-b, to: more }}
"""
    with Topology(tmp_path, text) as running:
        grows(folder / "out.pcap")
        folder.rename(moved)
        restart(running, "egress.0")
        told(running, "out.pcap: No such file or directory; what is sent is dropped as no_output")
        grows(other)
        wait_until(lambda: running.audit()["dropped"].get("no_output", 0) > 100, PATIENCE, "drops")
        moved.rename(folder)
        restart_in_order(running, "egress.0")
        grows(folder / "out.pcap")
        grows(other)
        audit = running.drain()
        assert set(audit["dropped"]) <= {"no_output", "worker_lost", "egress_lost"}
        lost = sum(audit["dropped"].values()) - audit["dropped"]["no_output"]
        written = sum(len(packets_of(file)[1]) for file in (folder / "out.pcap", other))
        assert audit["transmitted"] <= written <= audit["transmitted"] + lost


@PLACES
def test_an_egress_opens_a_file_by_itself_once_its_folder_is_back(tmp_path, more):
    folder, moved = tmp_path / "away", tmp_path / "moved"
    folder.mkdir()
    text = f"""
{more}ports:
  in:  {{ device: generate, rate_mpps: 0.002 }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
paths:
  main: {{ from: in, to: out }}
"""
    with Topology(tmp_path, text) as running:
        grows(folder / "out.pcap")
        folder.rename(moved)
        restart(running, "egress.0")
        told(running, "out.pcap: No such file or directory; what is sent is dropped as no_output")
        lives = running.lives()
        moved.rename(folder)
        told(running, "port 'out': it takes packets again")
        grows(folder / "out.pcap")
        assert running.lives() == lives
        audit = running.drain()
        assert set(audit["dropped"]) <= {"no_output", "worker_lost", "egress_lost"}
        lost = audit["received"] - audit["transmitted"] - audit["dropped"].get("no_output", 0)
        written = len(packets_of(folder / "out.pcap")[1])
        assert audit["transmitted"] <= written <= audit["transmitted"] + lost


def reading(device, more):
    return f"""
{more}ports:
  in:  {{ device: {device} }}
  out: {{ device: "null" }}
paths:
  main: {{ from: in, to: out }}
"""


def restart_without(running, capture, moved):
    """The ingress is restarted while its capture is away; it is at its place again then."""
    capture.rename(moved)
    restart(running, "ingress.in.0")
    told(running, "in.pcap: No such file or directory; not read until it opens (tried every")
    moved.rename(capture)


@PLACES
def test_an_ingress_comes_back_while_its_file_is_away(tmp_path, more):
    capture = frames.write_capture(tmp_path / "in.pcap", [FRAME] * 300)
    device = f"replay, loop: true, rate_mpps: 0.002, file: {capture}"
    with Topology(tmp_path, reading(device, more)) as running:
        running.wait_received(1000)
        restart_without(running, capture, tmp_path / "moved")
        restart_in_order(running, "ingress.in.0")
        running.wait_received(running.audit()["received"] + 1000)
        audit = running.drain()
        assert set(audit["dropped"]) <= {"worker_lost", "egress_lost"}


@PLACES
def test_an_ingress_goes_on_behind_what_it_has_read_once_its_file_is_back(tmp_path, more):
    capture = frames.write_capture(tmp_path / "in.pcap", [FRAME] * 300)
    with Topology(tmp_path, reading(f"pcap, in: {capture}", more)) as running:
        running.settle(received=300)
        restart_without(running, capture, tmp_path / "moved")
        frames.write_capture(capture, [FRAME] * 500)
        restart_in_order(running, "ingress.in.0")
        assert running.settle(received=500)["received"] == 500


@PLACES
def test_an_ingress_opens_its_file_by_itself_once_it_is_back(tmp_path, more):
    capture = frames.write_capture(tmp_path / "in.pcap", [FRAME] * 300)
    with Topology(tmp_path, reading(f"pcap, in: {capture}", more)) as running:
        running.settle(received=300)
        capture.rename(tmp_path / "moved")
        restart(running, "ingress.in.0")
        told(running, "in.pcap: No such file or directory; not read until it opens")
        lives = running.lives()
        frames.write_capture(capture, [FRAME] * 500)
        told(running, "port 'in': it is open, and is read now")
        assert running.settle(received=500)["received"] == 500
        assert running.lives() == lives


def test_a_start_without_room_for_a_file_is_refused(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "none", disk]
    if subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("no right to mount a small disk")
    try:
        (disk / "ballast").write_bytes(bytes(4096))
        text = f"""
ports:
  in:  {{ device: generate, count: 10 }}
  out: {{ device: pcap, out: {disk}/out.pcap }}
paths:
  main: {{ from: in, to: out }}
"""
        refused = Topology(tmp_path, text)
        done = millrace("up", refused.file, "--detach", check=False)
        assert done.returncode != 0
        assert f"write {disk}/out.pcap: No space left on device" in done.stdout + done.stderr
        millrace("down", refused.name, check=False)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_the_process_of_events_comes_back_while_its_file_is_away(tmp_path):
    logs, away = tmp_path / "logs", tmp_path / "away"
    logs.mkdir()
    with Topology(tmp_path, telling(tmp_path, file=logs / "eve.json")) as running:
        wait_until(lambda: counts(running)[1] > 0, PATIENCE, "lines")
        logs.rename(away)
        wait_until(lambda: counts(running)[2]["file"] > 0, PATIENCE, "it has looked")
        pid = events_pid(running)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: events_pid(running) not in (0, pid), PATIENCE, "another one")
        pid, before = events_pid(running), counts(running)[2]["file"]
        wait_until(lambda: counts(running)[2]["file"] > before + 100, PATIENCE, "it counts lines")
        client = Client(running)
        wait_until(lambda: len(client.lines()) > 10, PATIENCE, "the socket serves")
        away.rename(logs)
        before = counts(running)[1]
        wait_until(lambda: counts(running)[1] > before, PATIENCE, "it goes on")
        assert events_pid(running) == pid
        audit = running.drain()
        emitted, written, lost = all_told(running)
        assert emitted == audit["received"] and not audit["dropped"]
        lines = lines_of(logs / "eve.json")
        assert len(lines) == written
        assert_once(lines, lost["file"])
