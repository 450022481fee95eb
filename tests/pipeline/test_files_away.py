# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The file of a port is away when its actor is restarted: the other ports go on, nothing is lost
unsaid, and with the file back the port goes on when its actor is restarted."""

import subprocess

import frames
import pytest
from capture_records import packets_of
from processes import PATIENCE, wait_until
from topology import Topology, millrace

FRAME = frames.frame((17, 0x0A000001, 1024, 0x0A000002, 53), 1, b"hello")
PLACES = pytest.mark.parametrize("more", ["", "placement: fused\n"], ids=["split", "fused"])


def grows(file):
    before = file.stat().st_size
    wait_until(lambda: file.stat().st_size > before, PATIENCE, f"{file} grows")


def restart(running, actor):
    running.kill(actor)
    running.wait_alive(actor)


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
        restart(running, "egress.0")
        grows(folder / "out.pcap")
        grows(other)
        audit = running.drain()
        assert set(audit["dropped"]) <= {"no_output", "worker_lost", "egress_lost"}
        lost = sum(audit["dropped"].values()) - audit["dropped"]["no_output"]
        written = sum(len(packets_of(file)[1]) for file in (folder / "out.pcap", other))
        assert audit["transmitted"] <= written <= audit["transmitted"] + lost


@PLACES
@pytest.mark.parametrize("device", ["pcap, in", "replay, loop: false, file"])
def test_an_ingress_comes_back_while_its_file_is_away(tmp_path, device, more):
    capture = frames.write_capture(tmp_path / "in.pcap", [FRAME] * 300)
    text = f"""
{more}ports:
  in:  {{ device: {device}: {capture} }}
  out: {{ device: "null" }}
paths:
  main: {{ from: in, to: out }}
"""
    with Topology(tmp_path, text) as running:
        running.settle(received=300)
        capture.rename(tmp_path / "moved")
        restart(running, "ingress.in.0")
        told(running, "in.pcap: No such file or directory; not read until the ingress is")
        (tmp_path / "moved").rename(capture)
        restart(running, "ingress.in.0")
        assert running.settle(received=300)["received"] == 300


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
