# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What the path bench offers, and what it makes of figures: nothing that was not measured is
shown."""

import argparse
import pathlib
import socket
import struct
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))

# pylint: disable=wrong-import-position
import cases  # noqa: E402
import path_page  # noqa: E402
import path_runs  # noqa: E402
import report  # noqa: E402

OPTIONS = argparse.Namespace(starts=3, seconds=1.0, model_seconds=0.5)


def frames_of(path):
    """By the pcap format, without the code that wrote them."""
    data = path.read_bytes()
    at, frames = 24, []
    while at < len(data):
        kept = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + kept])
        at += 16 + kept
    return frames


def ones_sum(header):
    """Of a header with a right checksum: 0xffff."""
    total = sum(header[i] << 8 | header[i + 1] for i in range(0, len(header), 2))
    return total % 0xFFFF or 0xFFFF


@pytest.mark.parametrize("frame", cases.FRAMES)
@pytest.mark.parametrize("prefixes", [0, 5000])
def test_frames_have_their_sizes_and_a_route_each(tmp_path, frame, prefixes):
    cases.write_capture(tmp_path / "made.pcap", 500, frame, prefixes)
    (tmp_path / "routes").write_text(cases.routes_text(prefixes, "out"))
    networks = {line.split("/")[0] for line in (tmp_path / "routes").read_text().splitlines()}
    frames = frames_of(tmp_path / "made.pcap")
    assert len(frames) == 500
    assert {len(made) for made in frames} == set(cases.FRAMES[frame])
    for made in frames:
        assert ones_sum(made[14:34]) == 0xFFFF
        assert struct.unpack("!H", made[16:18])[0] == len(made) - 14
        keep = 3 if prefixes else 2
        network = made[30:30 + keep] + bytes(4 - keep)
        assert socket.inet_ntoa(network) in networks


def test_the_full_table_repeats_no_network():
    networks = {cases.prefix_of(i) for i in range(cases.FULL_TABLE)}
    assert len(networks) == cases.FULL_TABLE
    assert {network >> 30 for network in networks} == {2}


def run_of(mpps, **more):
    return {"mpps": mpps, "missed_mpps": 0.0, "unaccounted": 0, "fill": 60.0, "p50_us": 12.5,
            "p99_us": 34.5, "p999_us": 56.5, **more}


def actor_of(kind, ns, instructions, busy=1.0):
    return {"actor": kind, "kind": kind, "busy_share": busy, "busy_ns_per_packet": ns,
            "instructions_per_packet": instructions}


def found_of(instructions=None):
    runs = [run_of(mpps) for mpps in (40.0, 30.0, 35.0)]
    ours = [{"actors": [actor_of(kind, ns, instructions, busy) for kind, busy in
                        (("ingress", 1.0), ("classifier", 0.5), ("egress", 0.4))]}
            for ns in (20.0, 30.0, 25.0)]
    models = [{"mpps": mpps, "actors": [actor_of(kind, 12.0, None) for kind in
                                        ("ingress", "classifier", "egress")]}
              for mpps in (70.0, 90.0, 60.0, 70.0)]
    return {"runs": runs, "models": models, "restoring": [],
            "actors": path_runs.actor_medians(ours),
            "model_actors": path_runs.actor_medians(models)}


def page_of(monkeypatch, tmp_path, cores, found):
    monkeypatch.setattr(path_page.os, "sched_getaffinity", lambda _: set(range(cores)))
    path_page.write_page(tmp_path, [(cases.anywhere(1), found)], "a machine", OPTIONS)
    return (tmp_path / "README.md").read_text()


def test_medians_and_ranges_stand_beside_the_model(monkeypatch, tmp_path):
    page = page_of(monkeypatch, tmp_path, 16, found_of())
    assert "| 35.00 (30.00 to 40.00) |" in page and "| 70.00 (60.00 to 90.00) | 0.50 |" in page
    assert "| 12.5 / 34.5 / 56.5 |" in page
    assert "| any-1x1-full | ingress | 100% | 25.0 | 12.0 | +13.0 | no counters |" in page


def test_fewer_cores_than_actors_have_no_times_and_no_ratio(monkeypatch, tmp_path, capsys):
    page = page_of(monkeypatch, tmp_path, 2, found_of())
    assert "35.00 (30.00 to 40.00)" in page
    for figure in ("12.5", "34.5", "| 0.50 |", "25.0"):
        assert figure not in page
    assert "fewer cores than some cases have actors" in page
    report.print_case(cases.anywhere(1), found_of(), 2)
    shown = capsys.readouterr().out
    assert "2 cores for 3 actors" in shown and "12.5" not in shown and "0.50" not in shown


def test_instructions_of_an_actor_that_also_waits_are_an_upper_bound(monkeypatch, tmp_path):
    page = page_of(monkeypatch, tmp_path, 16, found_of(instructions=88.0))
    assert "ingress | 100% | 25.0 | 12.0 | +13.0 | 88 | no counters |" in page
    assert "classifier | 50% | 25.0 | 12.0 | +13.0 | ≤ 88 |" in page


def test_what_did_not_run_is_named_with_its_reason(monkeypatch, tmp_path, capsys):
    page = page_of(monkeypatch, tmp_path, 16, {"error": "no hugepages\nand more"})
    assert "any-1x1-full was not measured: `no hugepages`" in page
    report.print_case(cases.anywhere(1), {"error": "no hugepages"}, 16)
    assert "not measured: no hugepages" in capsys.readouterr().out
