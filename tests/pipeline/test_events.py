# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What functions tell of packets arrives as JSON lines, once each, and holds no packet up."""

import contextlib
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import threading
import time

import pytest
import topology
from processes import PATIENCE, processes_of, wait_until
from test_changes import fused
from topology import Topology, millrace

NAME = "each of them"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d{4}")


def telling(folder, count=0, on="front", rate_mpps=0.01, file=None, more=""):
    """Numbered packets, of each of which match tells."""
    (folder / "scan.rules").write_text(f'alert "MILLRACE" name "{NAME}"\n')
    text = f"""
events: {{ file: {file or folder / "eve.json"}{more} }}
ports:
  in:  {{ device: generate, numbered: true, flows: 64, count: {count}, rate_mpps: {rate_mpps} }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 2, max: 2, dispatch: any }}
  gpu:   {{ kind: gpu, device: software, seed: 5, delay_us: 300, reorder: true, late: 20 }}
functions:
  scan: {{ type: match, rules: scan.rules, events: true, on: {"front" if on == "fused" else on} }}
paths:
  main: {{ from: in, to: out, run: [scan] }}
"""
    return fused(text) if on == "fused" else text


def counts(running):
    """emitted, written to the file, lost by cause."""
    metrics = running.metrics()
    return (metrics.total("millrace_events_emitted_total"),
            metrics.total("millrace_events_written_total", sink="file"),
            metrics.by("cause", "millrace_events_lost_total"))


def all_told(running):
    """Once nothing lies in a ring any more: the same."""
    def told():
        emitted, written, lost = counts(running)
        all_told = emitted == written + lost["ring"] + lost["file"]
        return (emitted, written, lost) if all_told else None
    return wait_until(told, PATIENCE, lambda: f"all told: {counts(running)}")


def events_pid(running):
    return running.actor("events")["pid"]


def lines_of(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    assert text == "" or text.endswith("\n"), "whole lines"
    return [json.loads(line) for line in text.splitlines()]


def lines_so_far(path):
    """Those that are whole, while another one is perhaps being written."""
    text = pathlib.Path(path).read_bytes()
    return [json.loads(line) for line in text[:text.rfind(b"\n") + 1].splitlines()]


def packet_of(line):
    return tuple(line["millrace"][key] for key in ("lane", "batch", "packet"))


def assert_once(lines, lost_in_file=0):
    """Records of an actor are numbered without a gap: each is there once."""
    by_actor = {}
    for line in lines:
        by_actor.setdefault(line["millrace"]["actor"], []).append(line["millrace"]["record"])
    missing = 0
    for numbers in by_actor.values():
        assert numbers == sorted(set(numbers)), "once, in order"
        missing += numbers[-1] + 1 - len(numbers)
    assert missing <= lost_in_file


class Client(threading.Thread):
    """Of the socket; reads until the other end closes."""

    def __init__(self, running):
        super().__init__(daemon=True)
        self.socket = connect(running)
        self.text = b""
        self.start()

    def run(self):
        while piece := self.socket.recv(1 << 16):
            self.text += piece

    def lines(self):
        return self.text.splitlines(keepends=True)


def connect(running):
    client = socket.socket(socket.AF_UNIX)
    client.connect(os.path.join(running.run_dir, "events.sock"))
    return client


@pytest.mark.parametrize("on", ["front", "gpu", "fused"])
def test_each_packet_is_told_of_in_file_and_socket(tmp_path, on):
    file = tmp_path / "eve.json"
    with Topology(tmp_path, telling(tmp_path, on=on, rate_mpps=0.001)) as running:
        assert running.actor("events")["state"] == "alive"
        clients = [Client(running), Client(running)]
        wait_until(lambda: all(len(one.lines()) > 300 for one in clients), PATIENCE, "lines")
        received = running.drain()["received"]
        emitted, written, lost = all_told(running)
        assert emitted == received and lost["file"] == 0
        lines = lines_of(file)
        assert len(lines) == written
        assert_once(lines)
        wait_until(lambda: running.metrics().total("millrace_events_written_total", sink="socket")
                   == sum(len(one.lines()) for one in clients), PATIENCE, "all has arrived")
        known = set(file.read_bytes().splitlines(keepends=True))
        for client in clients:
            assert client.text.endswith(b"\n") and known.issuperset(client.lines())
        assert len({packet_of(line) for line in lines}) == written
        one = lines[0]
        assert TIME.fullmatch(one["timestamp"])
        assert one["event_type"] == "alert" and one["in_iface"] == "in"
        assert one["proto"] in ("TCP", "UDP") and one["src_port"] and one["dest_ip"]
        assert one["alert"]["signature"] == NAME and one["alert"]["action"] == "allowed"
        assert one["millrace"]["function"] == "scan" and one["millrace"]["path"] == "main"


def test_workers_die_and_nothing_is_told_twice(tmp_path, seed):
    chance = random.Random(seed)
    with Topology(tmp_path, telling(tmp_path), words=topology.QUICK_RESTARTS) as running:
        for _ in range(6):
            running.wait_received(running.audit()["received"] + 500)
            name = chance.choice(["front.0", "front.1"])
            running.kill(name)
            running.wait_alive(name)
        audit = running.drain()
        assert set(audit["dropped"]) <= {"worker_lost"}
        emitted, written, lost = all_told(running)
        lines = lines_of(tmp_path / "eve.json")
        assert len(lines) == written and lost["file"] == 0
        assert_once(lines)
        # A batch is told of whole by its worker, or it was lost with it.
        assert len({packet_of(line) for line in lines}) == len(lines)
        gone = audit["dropped"].get("worker_lost", 0)
        assert audit["received"] - gone <= emitted <= audit["received"]


def test_the_process_dies_and_its_successor_goes_on(tmp_path, seed):
    chance = random.Random(seed)
    with Topology(tmp_path, telling(tmp_path, rate_mpps=0.05),
                  words=topology.QUICK_RESTARTS) as running:
        for _ in range(12):
            running.wait_received(running.audit()["received"] + 500)
            time.sleep(chance.uniform(0, 0.05))
            pid = events_pid(running)
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: events_pid(running) not in (0, pid), PATIENCE, "another one")
        received = running.drain()["received"]
        emitted, written, lost = all_told(running)
        lines = lines_of(tmp_path / "eve.json")
        assert emitted == received and len(lines) == written and lost["file"] == 0
        assert_once(lines)


def test_one_that_hangs_is_killed_and_packets_go_on(tmp_path):
    with Topology(tmp_path, "heartbeat_limit: 6s\n" + telling(tmp_path)) as running:
        running.wait_received(500)
        pid = events_pid(running)
        os.kill(pid, signal.SIGSTOP)
        running.wait_received(running.audit()["received"] + 60_000)
        wait_until(lambda: events_pid(running) not in (0, pid), PATIENCE, "another one")
        assert any(event["kind"] == "events_hung" for event in running.status()["events"])
        audit = running.drain()
        assert not audit["dropped"]
        emitted, written, lost = all_told(running)
        assert emitted == audit["received"]
        assert len(lines_of(tmp_path / "eve.json")) == written
        assert lost["ring"] > 0, "the rings were full meanwhile"


def test_a_client_that_stands_still_costs_itself_alone(tmp_path):
    with Topology(tmp_path, telling(tmp_path)) as running:
        with connect(running):
            wait_until(lambda: running.metrics().total("millrace_events_clients_cut_total") == 1,
                       PATIENCE, "it is let go of")
            assert running.metrics().total("millrace_events_clients") == 0
        audit = running.drain()
        assert not audit["dropped"]
        emitted, written, lost = all_told(running)
        assert lost["client"] > 0 and lost["file"] == 0
        assert len(lines_of(tmp_path / "eve.json")) == written
        assert emitted == audit["received"]


def next_line(*words):
    """The first line that a command prints; it is ended then."""
    with subprocess.Popen([topology.BIN / "millrace", *words], stdout=subprocess.PIPE,
                          text=True) as process:
        line = process.stdout.readline()
        process.kill()
    return line


@contextlib.contextmanager
def small_disk(folder, kilobytes):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_costs_lines_and_nothing_else(tmp_path):
    with small_disk(tmp_path / "disk", 512) as disk:
        (disk / "ballast").write_bytes(bytes(256 << 10))
        file = disk / "eve.json"
        with Topology(tmp_path, telling(tmp_path, file=file)) as running:
            wait_until(lambda: counts(running)[2]["file"] > 1000, PATIENCE, "no room")
            wait_until(lambda: len(lines_so_far(file)) == counts(running)[1], PATIENCE,
                       "whole lines")
            (disk / "ballast").unlink()
            before = counts(running)[1]
            wait_until(lambda: counts(running)[1] > before, PATIENCE, "it goes on")
            audit = running.drain()
            assert not audit["dropped"]
            emitted, written, lost = all_told(running)
            assert emitted == audit["received"] and lost["file"] > 1000
            lines = lines_of(file)
            assert len(lines) == written
            assert_once(lines, lost["file"])
            log = pathlib.Path(running.run_dir, "logs/events.log").read_text()
            assert log.count(f"write {file}: No space left on device; until that is mended") <= 5
            assert f"{file} goes on; " in log


def test_log_rotation_is_followed(tmp_path):
    file, old = tmp_path / "eve.json", tmp_path / "eve.json-20261125"
    with Topology(tmp_path, telling(tmp_path, more=", rotate: 1GB, keep: 2")) as running:
        wait_until(lambda: file.stat().st_size > 0, PATIENCE, "lines")
        file.rename(old)  # as logrotate does
        os.kill(events_pid(running), signal.SIGHUP)
        wait_until(lambda: file.exists() and file.stat().st_size > 0, PATIENCE, "a new file")
        size = old.stat().st_size
        running.wait_received(running.audit()["received"] + 1000)
        assert old.stat().st_size == size
        old.rename(tmp_path / "older")
        file.rename(old)  # and nothing says so
        wait_until(lambda: file.exists() and file.stat().st_size > 0, PATIENCE, "a third file")
        running.drain()
        written = all_told(running)[1]
        assert sum(len(lines_of(path)) for path in (tmp_path / "older", old, file)) == written


def test_a_long_file_is_renamed(tmp_path):
    file = tmp_path / "eve.json"
    with Topology(tmp_path, telling(tmp_path, more=", rotate: 64KB, keep: 2")) as running:
        wait_until((tmp_path / "eve.json.2").exists, PATIENCE, "a second one")
        running.drain()
        all_told(running)
        assert (tmp_path / "eve.json.1").stat().st_size >= 64_000
        lines = [line for name in ("eve.json.2", "eve.json.1", "eve.json")
                 for line in lines_of(tmp_path / name)]
        first = {}
        for line in lines:
            first.setdefault(line["millrace"]["actor"], line["millrace"]["record"])
        assert_once([line | {"millrace": line["millrace"] | {
            "record": line["millrace"]["record"] - first[line["millrace"]["actor"]]}}
            for line in lines])
        assert not (tmp_path / "eve.json.3").exists() and file.exists()


def test_what_cannot_be_opened_is_said_at_the_start(tmp_path):
    there = tmp_path / "eve.json"
    there.mkdir()
    text = telling(tmp_path)
    refused = Topology(tmp_path, text)
    done = millrace("up", refused.file, "--detach", check=False)
    assert done.returncode != 0
    assert f"open {there} (`events: file`): Is a directory" in done.stdout + done.stderr
    millrace("down", refused.name, check=False)


def test_the_supervisor_dies_and_the_next_one_finds_the_process(tmp_path):
    with Topology(tmp_path, telling(tmp_path)) as running:
        pid = events_pid(running)
        running.adopt_after_kill()
        assert events_pid(running) == pid
        assert sum(os.path.basename(path) == "millrace-events"
                   for path in processes_of(running.run_dir).values()) == 1
        running.drain()
        all_told(running)


def test_a_topology_without_events_has_no_process_for_them(tmp_path):
    text = re.sub("events: {.*\n", "", telling(tmp_path), count=1)
    with Topology(tmp_path, text) as running:
        assert "events" not in [actor["name"] for actor in running.status()["actors"]]
        warned = millrace("validate", running.file).stderr
        assert "warning: function 'scan' is to tell of packets (events: true)" in warned
        running.wait_received(500)
        assert running.drain()["dropped"] == {}
        assert not running.metrics().values("millrace_events_emitted_total")


def test_the_command_prints_them_for_people_and_programs(tmp_path):
    with Topology(tmp_path, telling(tmp_path)) as running:
        lines = millrace("events", running.name, "--count", 3, "--json").stdout.splitlines()
        assert len(lines) == 3
        known = set((tmp_path / "eve.json").read_text().splitlines())
        assert known.issuperset(lines)
        for line in millrace("events", running.name, "--count", 3).stdout.splitlines():
            assert f' alert scan: "{NAME}" allowed  ' in line
        running.drain()
    text = re.sub("events: {.*\n", "", telling(tmp_path), count=1)
    with Topology(tmp_path, text) as running:
        done = millrace("events", running.name, check=False)
        assert done.returncode == 1 and "needs a section `events: {}`" in done.stdout + done.stderr
        running.drain()


def test_alerts_are_listed_counted_ranked_and_followed(tmp_path):
    with Topology(tmp_path, telling(tmp_path, rate_mpps=0.001)) as running:
        followed = json.loads(next_line("alerts", running.name, "--follow", "--json"))
        assert followed["alert"]["signature"] == NAME
        running.drain()
        told = all_told(running)[1]
        lines = lines_of(tmp_path / "eve.json")
        assert followed in lines
        source = lines[0]["src_ip"]
        mine = [line for line in lines if line["src_ip"] == source]
        ask = lambda *words: json.loads(
            millrace("alerts", running.name, "--json", *words).stdout)
        assert ask()["alerts"] == lines[-50:] and ask()["count"] == told
        assert ask("--last", 0, "--source", source)["alerts"] == mine
        assert ask("--last", 3, "--source", f"{source}/32")["alerts"] == mine[-3:]
        assert ask("--sid", 7) == {"ok": True, "topology": running.name, "alerts": [], "count": 0}
        assert ask("--count") == {"ok": True, "count": told, "blocked": 0}
        top, = ask("--top", 5)["top"]
        assert (top["signature"], top["message"], top["alerts"]) == ("1:0", NAME, told)
        sources = {one["source"]: one["alerts"] for one in ask("--top", 9, "--by", "source")["top"]}
        assert sources[source] == len(mine) or len(sources) == 9
        assert millrace("alerts", running.name, "--count").stdout == f"{told}\n"
        text = millrace("alerts", running.name, "--last", 1).stdout.splitlines()
        assert f'allowed [1:0:0] "{NAME}" severity 3' in text[0]
        assert text[1] == f"{told} alerts; these are the last 1"
        for words, said in ((("--source", "nobody"), "allowed: an address or a prefix"),
                            (("--by", "source"), "--by requires --top")):
            done = millrace("alerts", running.name, *words, check=False)
            assert done.returncode in (1, 2) and said in done.stdout + done.stderr
    text = telling(tmp_path).replace(f"file: {tmp_path / 'eve.json'}", "")
    with Topology(tmp_path, text) as bare:
        done = millrace("alerts", bare.name, check=False)
        assert done.returncode == 1 and "--follow shows what comes" in done.stderr
        bare.drain()


def test_a_run_that_ends_by_itself_has_told_all(tmp_path):
    count = 3000  # fit into a ring
    ends = Topology(tmp_path, telling(tmp_path, count=count))
    millrace("up", ends.file, "--until-done")
    lines = lines_of(tmp_path / "eve.json")
    assert_once(lines)
    assert len({packet_of(line) for line in lines}) == len(lines) == count


def test_another_build_goes_on(tmp_path):
    folder = tmp_path / "bin"
    topology.copy_programs(folder)
    with Topology(tmp_path, telling(tmp_path)) as running:
        running.wait_received(500)
        millrace("upgrade", running.name, "--from", folder)
        assert processes_of(running.run_dir)[events_pid(running)] == str(folder / "millrace-events")
        running.wait_received(running.audit()["received"] + 500)
        audit = running.drain()
        assert not audit["dropped"]
        emitted, written, _ = all_told(running)
        lines = lines_of(tmp_path / "eve.json")
        assert emitted == audit["received"] and len(lines) == written
        assert_once(lines)
