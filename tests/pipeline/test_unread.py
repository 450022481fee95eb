# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What of a capture is not read, and what a full disk does not take, is said: by exit status, log,
event and report."""

import json
import os
import struct
import subprocess

import frames
import pytest
from capture_records import packets_of, pcapng_blocks
from processes import PATIENCE, wait_until
from topology import BIN, Topology, ask, millrace

FRAME = frames.frame((17, 0x0A000001, 1024, 0x0A000002, 53), 1, b"hello")


def block(kind, body):
    total = len(body) + 12
    return struct.pack("<II", kind, total) + body + struct.pack("<I", total)


def pcapng(link_types, packets):
    """A section with these interfaces and packets: (interface, bytes)."""
    file = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    for link_type in link_types:
        file += block(1, struct.pack("<HHI", link_type, 0, 0))
    for interface, data in packets:
        head = struct.pack("<IIIII", interface, 0, 0, len(data), len(data))
        file += block(6, head + data + bytes(-len(data) % 4))
    return file


def broken(folder, kind):
    """(a capture with two Ethernet packets of which something is not read, what is said of it)."""
    path = folder / f"{kind}.capture"
    if kind == "cut":
        path.write_bytes(frames.write_capture(path, [FRAME] * 3).read_bytes()[:-5])
        return path, "incomplete, behind 2 packets"
    if kind == "corrupt":
        whole = frames.write_capture(path, [FRAME] * 2).read_bytes()
        path.write_bytes(whole + b"\x7f" * 16)
        return path, "corrupt behind 2 packets"
    path.write_bytes(pcapng([113, 1], [(1, FRAME), (0, b"cooked"), (1, FRAME)]))
    return path, "1 were skipped, the first of link type 113"


def reading(capture, device="pcap, in"):
    return f"""
ports:
  in:  {{ device: {device}: {capture} }}
  out: {{ device: "null" }}
paths:
  main: {{ from: in, to: out }}
"""


@pytest.mark.parametrize("more", ["", "placement: fused\n"], ids=["split", "fused"])
@pytest.mark.parametrize("kind", ["cut", "corrupt", "mixed"])
def test_a_capture_that_is_not_read_whole_fails_a_run_until_done(tmp_path, kind, more):
    capture, said = broken(tmp_path, kind)
    file = tmp_path / f"unread-{os.getpid()}.yaml"
    file.write_text("millrace: 1\n" + reading(capture) + more)
    done = millrace("up", file, "--until-done", check=False)
    assert done.returncode == 1
    assert f"port_trouble: port 'in': " in done.stdout and said in done.stdout
    assert f"not read whole: {capture} of port 'in'" in done.stdout
    answer = ask("up", file, "--until-done")
    assert not answer["ok"] and answer["not_read_whole"] == [str(capture)]
    assert answer["audit"]["exact"] and answer["audit"]["received"] == 2


@pytest.mark.parametrize("device", ["pcap, in", "replay, loop: false, file"])
def test_status_log_and_report_say_what_is_not_read(tmp_path, device):
    capture, said = broken(tmp_path, "cut")
    with Topology(tmp_path, reading(capture, device)) as running:
        running.settle(received=2)
        wait_until(lambda: any(event["kind"] == "port_trouble" and said in event["text"]
                               for event in running.status()["events"]), PATIENCE,
                   "an event says it")
        assert said in millrace("logs", running.name).stdout
        assert f"not read whole: {capture}" in millrace("report", running.name).stdout
        assert ask("report", running.name)["not_read_whole"] == [str(capture)]


def test_a_capture_of_many_interfaces_is_read_whole(tmp_path):
    capture = tmp_path / "many.pcapng"
    capture.write_bytes(pcapng([113] + [1] * 400, [(number, FRAME) for number in (400, 70, 1)]))
    file = tmp_path / f"many-{os.getpid()}.yaml"
    file.write_text("millrace: 1\n" + reading(capture))
    answer = ask("up", file, "--until-done")
    assert answer["ok"] and answer["audit"]["received"] == 3 and not answer["not_read_whole"]


@pytest.mark.parametrize("kind", ["cut", "corrupt", "mixed"])
def test_try_looks_at_what_is_there_and_fails(tmp_path, kind):
    capture, said = broken(tmp_path, kind)
    done = millrace("try", "record", "--pcap", capture, check=False)
    assert done.returncode == 1 and said in done.stdout and "packets  2" in done.stdout
    done = millrace("try", "record", "--pcap", capture, "--json", check=False)
    assert done.returncode == 1 and not json.loads(done.stdout)["ok"]


@pytest.fixture(name="small_disk")
def mount_small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "none", disk]
    if subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("no right to mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_is_named_once_and_its_file_ends_behind_a_whole_record(tmp_path, small_disk):
    text = f"""
ports:
  in:  {{ device: generate, size: 1000, count: 3000 }}
  out: {{ device: pcap, out: {small_disk}/out.pcap }}
paths:
  main: {{ from: in, to: out }}
"""
    with Topology(tmp_path, text) as running:
        audit = running.settle(received=3000)
        assert audit["dropped"]["no_output"] + audit["transmitted"] == 3000
        file = small_disk / "out.pcap"
        assert file.stat().st_size == 24 + 1016 * audit["transmitted"]

        def told():
            return [event["text"] for event in running.status()["events"]
                    if event["kind"] == "port_trouble"]
        wait_until(told, PATIENCE, "an event says it")
        assert len(told()) == 1 and "No space left on device: " in told()[0]
        assert "out.pcap" in told()[0]
        assert told()[0] in millrace("logs", running.name).stdout


def test_a_capture_onto_a_full_disk_ends_behind_a_whole_block(tmp_path, small_disk):
    text = """
ports:
  in:  { device: generate, size: 333, rate_mpps: 0.01 }
  out: { device: "null" }
paths:
  main: { from: in, to: out }
"""
    with Topology(tmp_path, text) as running:
        running.endless = True
        file = small_disk / "out.pcapng"
        done = millrace("capture", running.name, "--seconds", PATIENCE, "-w", file,
                        check=False)
        assert done.returncode == 1
        assert f"write capture {file}: No space left on device" in done.stderr
        data = file.read_bytes()
        assert sum(len(body) + 12 for _, _, body in pcapng_blocks(data)) == len(data) > 100_000
        closed = subprocess.run(["bash", "-c", f"exec {BIN}/millrace capture {running.name} >&-"],
                                stderr=subprocess.PIPE, text=True, check=False)
        assert closed.returncode == 1 and "standard output: Bad file descriptor" in closed.stderr


def test_results_of_try_on_a_full_disk_end_behind_a_whole_record(tmp_path, small_disk):
    capture = frames.write_capture(tmp_path / "in.pcap", [FRAME] * 5000)
    for option in ("--out", "--verdicts"):
        file = small_disk / "result"
        (small_disk / "other").write_bytes(bytes(100_000))
        done = millrace("try", "record", "--pcap", capture, option, file, check=False)
        assert done.returncode == 1
        assert f"write {file}: No space left on device" in done.stderr
        left = file.read_bytes()
        if option == "--out":
            assert len(left) == 24 + (16 + len(FRAME)) * len(packets_of(file)[1])
        assert option == "--out" or left.endswith(b"\n")
        file.unlink()


@pytest.mark.parametrize("words", [("try", "record", "--pcap"), ("validate",)])
@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_a_result_that_cannot_be_written_names_the_error(tmp_path, words, json_too):
    capture = frames.write_capture(tmp_path / "in.pcap", [FRAME])
    file = tmp_path / "x.yaml"
    file.write_text("millrace: 1\n" + reading(capture))
    what = capture if words[0] == "try" else file
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([BIN / "millrace", *words, what, *json_too], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "standard output: No space left on device" in done.stderr


@pytest.mark.parametrize("command", ["down", "status", "logs", "capture", "report", "history",
                                     "trace", "audit", "top"])
def test_a_name_that_is_none_is_refused(command):
    for name in ("../x", "/etc", "x" * 300):
        done = millrace(command, name, check=False)
        assert done.returncode == 1
        assert f"'{name[:48]}" in done.stderr and "is no name of a topology" in done.stderr
