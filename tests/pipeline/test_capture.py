# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""millrace capture: what ports and links carry, as pcapng, without a packet held up or lost."""

import json
import os
import pathlib
import signal
import struct
import subprocess
import time

import frames
from capture_records import packets_of, pcapng_blocks
from processes import PATIENCE, is_running, wait_until
from topology import BIN, Topology, millrace

import pytest


def numbered(folder, count=0, rate_mpps=0.005, function="type: match, rules: all.rules", more=""):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
ports:
  in:  {{ device: generate, numbered: true, flows: 64, count: {count}, rate_mpps: {rate_mpps} }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 1, dispatch: any }}
functions:
  look: {{ {function}, on: front }}
paths:
  main: {{ from: in, to: out, run: [look] }}
{more}"""


class Capture:
    """`millrace capture` in the background; it captures when the block begins."""

    def __init__(self, running, file, *words, buffer=64):
        """`buffer`: so many MiB hold what is captured here while it has no time to write."""
        self.file = file
        self.process = subprocess.Popen(
            [BIN / "millrace", "capture", running.name, "-w", file, "--json",
             f"--buffer={buffer}", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if line.startswith("capturing"):
                break
            assert "does not answer" not in line
        else:
            raise AssertionError(self.process.communicate()[0])

    def end(self, number=signal.SIGINT):
        """What it says of itself, and the packets."""
        if number:
            self.process.send_signal(number)
        out, error = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, out + error
        link_type, packets = packets_of(self.file)
        assert link_type == 1
        return json.loads(out), packets


def numbers_of(folder, packets):
    pairs = [(data, wire) for data, wire, _ in packets]
    file = frames.write_capture(folder / "numbers.pcap", pairs)
    return frames.numbers_in(file)


def times_of(file):
    """Nanoseconds of each packet."""
    halves = [struct.unpack_from("<II", body, 4)
              for _, kind, body in pcapng_blocks(file.read_bytes()) if kind == 6]
    return [high << 32 | low for high, low in halves]


def drained_after(running, count):
    """(received by now, what the audit says when so many more have come through)."""
    began = running.audit()["received"]
    running.wait_received(began + count)
    return began, running.drain()["received"]


def test_a_port_is_captured_both_ways_and_the_copy_is_whole(tmp_path):
    before = time.time_ns()
    with Topology(tmp_path, numbered(tmp_path)) as running:
        capture = Capture(running, tmp_path / "both.pcapng")
        began, count = drained_after(running, 5000)
        said, packets = capture.end()
        assert said["missed"] == 0
        by_place = {place["name"]: place["packets"] for place in said["places"]}
        assert sum(by_place.values()) == len(packets)
        assert by_place["in in"] >= count - began and by_place["out out"] >= count - began
        assert by_place["in out"] == by_place["out in"] == 0
        times, now = times_of(capture.file), time.time_ns()
        assert times == sorted(times) and before <= times[0] and times[-1] <= now
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(count))


@pytest.mark.parametrize("more", ["", "placement: fused"], ids=["split", "fused"])
def test_each_place_shows_every_packet_once_and_in_order(tmp_path, more):
    places = ("--link=ingress.in.0_front.0", "--link=front.0_egress.0", "--port=in:in",
              "--port=out:out")
    with Topology(tmp_path, numbered(tmp_path, more=more)) as running:
        captures = [Capture(running, tmp_path / f"{number}.pcapng", place)
                    for number, place in enumerate(places)]
        began, count = drained_after(running, 5000)
        ends = [capture.end() for capture in captures]
    for place, (said, packets) in zip(places, ends):
        assert said["missed"] == 0, place
        seen = numbers_of(tmp_path, packets)
        assert len(seen) >= count - began, place
        assert seen == list(range(count - len(seen), count)), place


def test_filter_count_and_length_do_what_they_say(tmp_path):
    with Topology(tmp_path, numbered(tmp_path)) as running:
        capture = Capture(running, tmp_path / "few.pcapng", "--port=in:in", "--count=500",
                          "--snaplen=40", "--filter=udp and less 10000")
        said, packets = capture.end(number=None)
        assert said["packets"] == len(packets) == 500
        assert all(len(data) == 40 and wire > 40 for data, wire, _ in packets)
        none = Capture(running, tmp_path / "none.pcapng", "--filter=arp", "--seconds=0.3")
        said, packets = none.end(number=None)
        assert said["packets"] == said["missed"] == len(packets) == 0
        count = running.drain()["received"]
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(count))


@pytest.mark.parametrize("more", ["", "placement: fused"], ids=["split", "fused"])
def test_dropped_packets_are_shown_with_their_reason(tmp_path, more):
    text = numbered(tmp_path, more=more)
    (tmp_path / "none.acl").write_text("drop ip any -> any\n")
    text = text.replace("type: match, rules: all.rules", "type: acl, rules: none.acl")
    with Topology(tmp_path, text) as running:
        capture = Capture(running, tmp_path / "dropped.pcapng", "--dropped")
        began, count = drained_after(running, 2000)
        said, packets = capture.end()
        assert said["packets"] == len(packets) >= count - began and said["missed"] == 0
        assert running.audit()["transmitted"] == 0
    assert b"dropped: rule" in (tmp_path / "dropped.pcapng").read_bytes()


def test_only_packets_dropped_for_a_reason_are_shown(tmp_path):
    (tmp_path / "none.acl").write_text("drop ip any -> any\n")
    text = numbered(tmp_path, function="type: acl, rules: none.acl")
    with Topology(tmp_path, text) as running:
        by_rule = Capture(running, tmp_path / "rule.pcapng", "--reason=rule")
        by_other = Capture(running, tmp_path / "other.pcapng", "--reason=malformed",
                           "--reason=overload")
        began, count = drained_after(running, 2000)
        said, packets = by_rule.end()
        assert said["packets"] == len(packets) >= count - began
        said, packets = by_other.end()
        assert said["packets"] == len(packets) == 0
        done = millrace("capture", running.name, "-w", tmp_path / "no", "--reason", "rul",
                        check=False)
        assert done.returncode == 1 and "did you mean 'rule'" in done.stderr
    assert not (tmp_path / "no").exists()


def test_a_ring_of_files_keeps_the_last_packets(tmp_path):
    """Each file is a capture of its own; together they have what came last, without a gap."""
    with Topology(tmp_path, numbered(tmp_path, rate_mpps=0.03)) as running:
        capture = Capture(running, tmp_path / "ring.pcapng", "--port=in:in", "-C", "1", "-W", "12")
        # 82 bytes are some 150 with their block, 12 MB some 80,000.
        began, count = drained_after(running, 150_000)
        capture.process.send_signal(signal.SIGINT)
        out, error = capture.process.communicate(timeout=PATIENCE)
        assert capture.process.returncode == 0, error
        said = json.loads(out)
    files = sorted(tmp_path.glob("ring.pcapng*"))
    assert [file.name for file in files] == [f"ring.pcapng{number:02}" for number in range(12)]
    assert said["files"] > 12 and said["packets"] >= count - began and said["missed"] == 0
    newest = (said["files"] - 1) % 12
    order = files[newest + 1:] + files[:newest + 1]
    numbers = []
    for file in order:
        packets = packets_of(file)[1]
        numbers += numbers_of(tmp_path, packets)
        assert file == order[-1] or 1_000_000 <= file.stat().st_size < 1_001_000
    assert numbers == list(range(count - len(numbers), count))


def test_a_full_ring_misses_packets_and_holds_up_nobody(tmp_path):
    with Topology(tmp_path, numbered(tmp_path, rate_mpps=0.03)) as running:
        capture = Capture(running, tmp_path / "stopped.pcapng", "--port=in:in", buffer=1)
        capture.process.send_signal(signal.SIGSTOP)
        _, count = drained_after(running, 50000)
        capture.process.send_signal(signal.SIGCONT)
        said, packets = capture.end()
        assert said["missed"] > 0 and said["packets"] == len(packets) > 0
        assert said["packets"] + said["missed"] <= count
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(count))


def test_a_killed_capture_is_let_go_and_its_place_is_free_again(tmp_path):
    with Topology(tmp_path, numbered(tmp_path)) as running:
        files = [tmp_path / f"{i}.pcapng" for i in range(4)]
        captures = [Capture(running, file) for file in files]
        fifth = millrace("capture", running.name, "-w", tmp_path / "5.pcapng", check=False)
        assert fifth.returncode == 1 and "watched by 4" in fifth.stderr
        worker = running.actor("front.0")["pid"]
        mapped = lambda: pathlib.Path(f"/proc/{worker}/maps").read_text().count(".watch.")
        assert mapped() == 4
        for capture in captures:
            capture.process.kill()
            capture.process.communicate()
        wait_until(lambda: mapped() == 0, PATIENCE, "actors let go")
        said, packets = Capture(running, tmp_path / "next.pcapng", "--count=100").end(number=None)
        assert said["packets"] == len(packets) == 100
        running.drain()
    assert not list(pathlib.Path("/dev/shm").glob(f"millrace-{running.name}.*"))


@pytest.mark.parametrize("more", ["", "placement: fused"], ids=["split", "fused"])
def test_a_worker_that_is_started_again_is_seen_again(tmp_path, more):
    with Topology(tmp_path, numbered(tmp_path, more=more)) as running:
        capture = Capture(running, tmp_path / "again.pcapng", "--link=front.0_egress.0")
        running.kill("front.0")
        running.wait_alive("front.0")
        worker = running.actor("front.0")["pid"]
        wait_until(lambda: ".watch." in pathlib.Path(f"/proc/{worker}/maps").read_text(), PATIENCE,
                   "it shows packets")
        # What the one before had read comes again first.
        began, count = drained_after(running, 3000)
        _, packets = capture.end()
    assert numbers_of(tmp_path, packets)[-1] == count - 1 >= began


def test_a_capture_ends_with_its_topology_and_with_its_reader(tmp_path):
    with Topology(tmp_path, numbered(tmp_path)) as running:
        reader = subprocess.run(f"{BIN}/millrace capture {running.name} | head -c 4000",
                                shell=True, capture_output=True, timeout=PATIENCE, check=True)
        assert reader.stdout[:4] == bytes.fromhex("0a0d0d0a")
        capture = Capture(running, tmp_path / "end.pcapng")
        drained_after(running, 100)
    said, packets = capture.end(number=None)
    assert said["packets"] == len(packets) > 0
    assert not is_running(capture.process.pid)


def test_what_cannot_be_captured_is_refused_with_what_can(tmp_path):
    with Topology(tmp_path, numbered(tmp_path, 1000)) as running:
        for words, answer in ((["--port", "inn"], "did you mean 'in'"),
                              (["--port", "in:up"], "PORT:in or PORT:out"),
                              (["--link", "front.0_egress"], "front.0_egress.0"),
                              (["--filter", "tcp and and"], "--filter: "),
                              (["--seconds", "0"], "--seconds"),
                              (["-w", running.file], "was made from"),
                              (["-w", tmp_path / "all.rules"], "was made from"),
                              (["-w", tmp_path / "out.pcap"], "'out' of 'out'")):
            words = words if "-w" in words else ["-w", tmp_path / "no", *words]
            done = millrace("capture", running.name, *words, check=False)
            assert done.returncode != 0 and answer in done.stderr, done.stderr
        running.settle(received=1000)
    assert not os.path.exists(tmp_path / "no")


def test_a_capture_of_somebody_who_never_answers_fails_and_names_him(tmp_path):
    with Topology(tmp_path, numbered(tmp_path, 1000)) as running:
        running.settle(received=1000)
        running.kill("ingress.in.0", number=signal.SIGSTOP)
        done = millrace("capture", running.name, "--port", "in", "-w", tmp_path / "some.pcapng",
                        "--seconds", "0.1", "--json", check=False)
        running.kill("ingress.in.0", number=signal.SIGCONT)
        assert done.returncode == 1 and "ingress.in.0 never answered" in done.stderr, done.stderr
        said = json.loads(done.stdout)
        assert not said["ok"] and said["silent"] == ["ingress.in.0"]
