# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of sums (EVE's stats) beside what functions tell."""

import json

import jsonschema
from captures import shared_folder
from processes import PATIENCE, wait_until
from test_events import all_told, lines_of, lines_so_far, telling
from topology import Topology


def test_sums_come_at_the_start_and_again_and_at_the_end(tmp_path):
    file = tmp_path / "eve.json"

    def sums():
        return [line for line in lines_so_far(file) if line["event_type"] == "stats"]
    with Topology(tmp_path, telling(tmp_path, more=", stats: 1s")) as running:
        wait_until(lambda: file.exists() and len(sums()) >= 3, PATIENCE, "three lines of sums")
        running.drain()
        written = all_told(running)[1]
        received = running.audit()["received"]
    lines, told = lines_of(file), sums()
    assert len(lines) - len(told) == written, "sums count as none of what functions tell"
    uptimes = [line["stats"]["uptime"] for line in told]
    assert uptimes == sorted(uptimes) and uptimes[0] < uptimes[-1]
    last = told[-1]["stats"]
    assert last["decoder"]["pkts"] == last["ips"]["accepted"] == received
    assert last["detect"]["alert"] == written
    schema = json.loads((shared_folder() / "data/eve/schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema)(schema)
    for line in told:
        del line["millrace"]
        validator.validate(line)
