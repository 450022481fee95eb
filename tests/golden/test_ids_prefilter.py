# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""ids says the same with `prefilter` in front and without: over all shared captures, by public
rules and by rules made of the captures' bytes."""

import json
import random
import subprocess

import pytest

from capture_records import ethernet_captures
from captures import BUILD, unpack
from ids_reference import TCP, directions
from test_ids_captures import RULES, made_rule
from test_ids_rules import rule_files

PART = 100  # captures of one run
CLEAN = 7  # counter of ids, behind those of its rules


def captures():
    return ethernet_captures(unpack("pcap"))


def rules_made_of(paths):
    """Text of rules that were made of what the captures carry."""
    random_, lines = random.Random(2), []
    for path in paths:
        if path.stat().st_size > 200_000:
            continue
        datas = [(key[0], data) for key, found in directions(path) for data in found
                 if len(data) > 20]
        for protocol, data in random_.sample(datas, min(RULES, len(datas))):
            kind = "tcp-stream" if protocol == TCP else "udp"
            lines.append(made_rule(len(lines) + 1, kind, data, random_).text())
    return "\n".join(lines) + "\n"


def tried(functions, paths, rules, mode, folder):
    """(what became of the packets, (rules, hits) of each function, lines of events)."""
    out = folder / "events.json"
    command = [BUILD / "bin/millrace", "try", functions, "--json", "--events", out,
               "--set", f"ids.mode={mode}", "--set", "ids.events=true",
               "--set", "ids.checksums=trust"]
    for path in paths:
        command += ["--pcap", path]
    for function in set(functions.split(",")) - {"flow"}:
        for rule_file in rules:
            command += ["--set", f"{function}.rules={rule_file}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)
    assert "functions" in said, done.stdout + done.stderr
    hits = {one["type"]: (one["accepted"], {int(k): v for k, v in one["hits"].items()})
            for one in said["functions"]}
    ends = {key: said[key] for key in ("packets", "passed", "done", "dropped", "consumed")}
    return ends, hits, out.read_text().splitlines()


def lines_of(events):
    """Without what differs between two runs."""
    lines = [json.loads(line) for line in events]
    return [{key: value for key, value in line.items() if key != "flow_id"} for line in lines]


def compare(paths, rules, mode, folder):
    """(alerts, packets whose hint was used)."""
    plain, plain_hits, plain_events = tried("flow,ids", paths, rules, mode, folder)
    hinted, hinted_hits, hinted_events = tried("prefilter,flow,ids", paths, rules, mode, folder)
    accepted, of_rules = hinted_hits["ids"]
    used = of_rules.pop(accepted + CLEAN, 0)
    assert of_rules == plain_hits["ids"][1]
    assert hinted == plain
    assert lines_of(hinted_events) == lines_of(plain_events)
    return len(plain_events), used


@pytest.mark.parametrize("mode", ["ids", "ips"])
def test_public_rules_find_the_same(tmp_path, mode):
    rules = rule_files("snort") + rule_files("et-open")
    alerts, used = compare(captures(), rules, mode, tmp_path)
    print(f"{alerts} alerts, {used} clean packets")
    assert alerts > 100 and used > 10_000


@pytest.mark.parametrize("mode", ["ids", "ips"])
def test_rules_made_of_captures_find_the_same(tmp_path, mode):
    paths, alerts, used = captures(), 0, 0
    for at in range(0, len(paths), PART):
        part = paths[at:at + PART]
        made = tmp_path / "made.rules"
        made.write_text(rules_made_of(part))
        one, clean = compare(part, [made], mode, tmp_path)
        alerts, used = alerts + one, used + clean
    print(f"{alerts} alerts, {used} clean packets")
    assert alerts > 1000 and used > 10_000
