# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""shared/metrics/generate.py: the rules of metrics.yaml, and what is made of it."""

import importlib.util
import pathlib
import re
import subprocess

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "shared" / "metrics"
SPEC = importlib.util.spec_from_file_location("generate", FOLDER / "generate.py")
generate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(generate)

TEXT = (FOLDER / "metrics.yaml").read_text()


def test_the_readme_is_current():
    readme = (FOLDER / "README.md").read_text()
    assert generate.with_tables(readme, generate.load(TEXT)) == readme, (
        "run: python3 shared/metrics/generate.py readme")


def test_every_metric_is_in_the_readme_once():
    readme = (FOLDER / "README.md").read_text()
    for metric in generate.load(TEXT):
        assert readme.count(f"| `{metric['name']}` |") == 1


def test_counters_have_the_indexes_of_their_order():
    header = generate.counter_ids(generate.load(TEXT))
    found = re.findall(r"^  k(\w+) = (\d+),", header, re.MULTILINE)
    assert found[0] == ("Packets", "0")
    assert [int(index) for _, index in found] == list(range(len(found)))
    assert found[-1][0] == "Count" and len(found) - 1 <= 64


def test_the_headers_compile_alone_and_agree(tmp_path):
    metrics = generate.load(TEXT)
    (tmp_path / "counter_ids.hpp").write_text(generate.counter_ids(metrics))
    (tmp_path / "metric_table.hpp").write_text(generate.metric_table(metrics))
    source = """
        #include "metric_table.hpp"
        #include "counter_ids.hpp"
        using namespace millrace;
        static_assert(static_cast<int>(Counter::kBusyCycles) ==
                      static_cast<int>(Metric::kBusyCycles));
        static_assert(static_cast<int>(Counter::kRxMissed) ==
                      static_cast<int>(Metric::kRxMissed));
        static_assert(kMetrics[static_cast<int>(Metric::kDrops)].name == "millrace_drops_total");
        static_assert(kMetrics[static_cast<int>(Metric::kDrops)].labels[2] == "reason");
    """
    subprocess.run(["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}", "-x",
                    "c++", "-fsyntax-only", "-"], input=source, text=True, check=True)


@pytest.mark.parametrize("change, complaint", [
    (("name: millrace_packets_total", "name: packets_total"), "not millrace_"),
    (("name: millrace_packets_total", "name: millrace_packets"), "end in _total"),
    (("name: millrace_up", "name: millrace_up_total"), "end in _total"),
    (("name: millrace_batches_total", "name: millrace_packets_total"), "name given twice"),
    (("- id: batches\n", "- id: packets\n"), "id given twice"),
    (("type: counter", "type: count"), "type is none"),
    (("scale: tsc", "scale: cycles"), "scale is none"),
    (("name: millrace_busy_seconds_total", "name: millrace_busy_total"), "are seconds"),
    (("unit: packets", "unit: ''"), "has no unit"),
    (("help: Batches handled.", "help: batches handled."), "not a sentence"),
    (("unit: packets", "units: packets"), "unknown key"),
    (("direction: in", "direction: up"), "direction is none"),
    (("direction: out", "direction: in"), "name given twice"),
    (("    direction: in\n", ""), "out without in"),
    (("roster:", "rooster:"), "sections are"),
])
def test_a_broken_rule_is_refused(change, complaint):
    assert change[0] in TEXT
    with pytest.raises(generate.Refused, match=complaint):
        generate.load(TEXT.replace(*change, 1))


def test_more_counters_than_words_are_refused():
    more = "".join(f"  - id: extra{i}\n    name: millrace_extra{i}_total\n    type: counter\n"
                   f"    unit: x\n    help: One more.\n" for i in range(64))
    with pytest.raises(generate.Refused, match="at most 64"):
        generate.load(TEXT.replace("actor:\n", f"actor:\n{more}", 1))


def test_headers_are_rewritten_only_when_they_change(tmp_path):
    generate.main(["headers", str(tmp_path)])
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    generate.main(["headers", str(tmp_path)])
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    assert len(before) == 2
