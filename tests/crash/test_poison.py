# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Packets that kill the worker that looks at them: kept, and the function taken out of service."""

import pathlib
import re
import stat
import struct

import frames
import topology
from processes import PATIENCE, wait_until
from test_crash import CAPACITY
from topology import QUICK_RESTARTS, Topology, ask, millrace

import pytest

LIMIT = 3


def poisoned_path(folder, seed, unavailable):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
batch: {{ capacity: {CAPACITY} }}
crash_limit: {LIMIT}
ports:
  in:  {{ device: generate, numbered: true, flows: 64, seed: {seed}, rate_mpps: 0.02 }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: any }}
functions:
  ids: {{ type: match, rules: all.rules, on: front, unavailable: {unavailable} }}
paths:
  main: {{ from: in, to: out, run: [ids] }}
"""


def kept_packets(path):
    """(number, comment) of each packet in a pcapng of the hub's."""
    data, at, kept = path.read_bytes(), 0, []
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 6:
            length = struct.unpack_from("<I", data, at + 20)[0]
            frame = data[at + 28:at + 28 + length]
            option = at + 28 + (length + 3) // 4 * 4
            code, bytes_ = struct.unpack_from("<HH", data, option)
            assert code == 1
            comment = data[option + 4:option + 4 + bytes_].decode()
            kept.append((int.from_bytes(frame[58:66], "big"), comment))
        at += size
    assert at == len(data)
    return kept


@pytest.mark.parametrize("unavailable", ["pass", "wait"])
def test_a_function_in_which_workers_die_is_taken_out(tmp_path, seed, monkeypatch, unavailable):
    monkeypatch.setattr(topology, "BIN", topology.with_program(
        tmp_path / "bin", "poison-classifier", "millrace-classifier"))
    with Topology(tmp_path, poisoned_path(tmp_path, seed, unavailable),
                  words=QUICK_RESTARTS) as running:
        wait_until(lambda: running.status()["out"] == ["ids"], PATIENCE, "ids is out")
        def told():  # of all events: `status` has the latest
            log = pathlib.Path(running.run_dir, "logs", "supervisor.log").read_text()
            return re.findall(r"^\S+ supervisor: (function_\w+): ", log, re.MULTILINE)
        wait_until(lambda: told() == ["function_out"], PATIENCE, "that it is told")
        assert running.metrics().total("millrace_function_out", function="ids") == 1
        kept = pathlib.Path(running.run_dir, "lost.pcapng")
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        packets = kept_packets(kept)
        poison = [number for number, _ in packets if number % 8192 == 0]
        assert LIMIT <= len(poison) and len(packets) <= CAPACITY * len(poison)
        assert sum(comment.endswith("died in ids") for _, comment in packets) >= LIMIT
        # Put back, it dies again and is taken out again, perhaps at once.
        assert "in service" in millrace("function", running.name, "ids", "in").stdout
        wait_until(lambda: told() == ["function_out", "function_in", "function_out"], PATIENCE,
                   lambda: f"ids is out again: {told()}")
        assert running.status()["out"] == ["ids"]
        assert ask("function", running.name, "ids", "out")["passes"] == (unavailable == "pass")
        running.wait_received(running.audit()["received"] + 1000)
        audit = running.drain()
        skipped = running.status()["skipped"]["ids unavailable"]
        lost = audit["dropped"]["worker_lost"]
        assert 2 * LIMIT <= lost <= 4 * LIMIT * CAPACITY and skipped > 0
        assert audit["dropped"].get("unavailable", 0) == (0 if unavailable == "pass" else skipped)
        arrived = frames.numbers_in(tmp_path / "out.pcap")
        assert len(arrived) == audit["transmitted"]
        assert len(arrived) == audit["received"] - sum(audit["dropped"].values())
        assert all(first < second for first, second in zip(arrived, arrived[1:]))


def test_what_nobody_has_is_refused(tmp_path, seed):
    text = poisoned_path(tmp_path, seed, "pass").replace("numbered: true", "count: 1000")
    with Topology(tmp_path, text) as running:
        for words, said in ((["ids", "sideways"], "sideways"), (["idz", "out"], "there are: ids")):
            refused = millrace("function", running.name, *words, check=False)
            assert refused.returncode != 0 and said in refused.stdout + refused.stderr
        assert running.status()["out"] == []
        running.settle(received=1000)
