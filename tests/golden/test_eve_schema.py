# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of events of the shared captures, by Suricata's own schema of EVE, and by a plain
computation of the Community ID from what the line itself says."""

import base64
import hashlib
import ipaddress
import json
import struct
import subprocess

import jsonschema
import pytest

from captures import BUILD, captured_frames, shared_folder, write_capture

# Types of ICMP that ask for or answer one another, as Community ID pairs them.
PAIRS = {1: ((8, 0), (13, 14), (15, 16), (17, 18), (10, 9)),
         58: ((128, 129), (130, 131), (133, 134), (135, 136), (139, 140), (144, 145))}
NUMBERS = {"TCP": 6, "UDP": 17, "SCTP": 132, "ICMP": 1, "IPv6-ICMP": 58, "IGMP": 2, "GRE": 47,
           "ESP": 50, "AH": 51, "IP-in-IP": 4}
ANSWERS = {0: 8, 14: 13, 16: 15, 18: 17, 129: 128}


def protocol_of(line):
    return NUMBERS[line["proto"]] if line["proto"] in NUMBERS else int(line["proto"])


def community_id(line):
    protocol = protocol_of(line)
    ends = [(ipaddress.ip_address(line[f"{end}_ip"]).packed, line.get(f"{end}_port", 0))
            for end in ("src", "dest")]
    one_way, ports = False, protocol in (6, 17, 132)
    if protocol in PAIRS:
        kind = line["icmp_type"]
        other = {a: b for pair in PAIRS[protocol] for a, b in (pair, pair[::-1])}.get(kind)
        one_way, ports = other is None, True
        ends = [(ends[0][0], kind), (ends[1][0], line["icmp_code"] if one_way else other)]
    if not one_way:
        ends.sort()
    text = struct.pack("!H", 0) + ends[0][0] + ends[1][0] + bytes([protocol, 0])
    if ports:
        text += struct.pack("!HH", ends[0][1], ends[1][1])
    return "1:" + base64.b64encode(hashlib.sha1(text).digest()).decode()


def connection_of(line):
    """What tells connections apart, the same both ways. Of ICMP the identifier is not in the line
    of an alert: then the connection is known but for that."""
    ends = [(line[f"{end}_ip"], line.get(f"{end}_port", 0)) for end in ("src", "dest")]
    kind = line.get("icmp_type")
    return tuple(sorted(ends)), line["proto"], ANSWERS.get(kind, kind)


@pytest.fixture(name="lines", scope="module")
def fixture_lines(tmp_path_factory):
    """Of alerts of match and acl, and of flows, over all shared captures."""
    folder = tmp_path_factory.mktemp("eve")
    capture = write_capture(folder / "all.pcap", [frame for _, _, frame in captured_frames()])
    (folder / "match.rules").write_text('alert "e" name "an e"\ndrop "passwd" nocase\n')
    (folder / "acl.rules").write_text("pass icmp any -> any log\npass icmp6 any -> any log\n"
                                      "drop tcp any -> any port 23 log\n")
    said = folder / "eve.json"
    subprocess.run([BUILD / "bin/millrace", "try", "flow,match,acl", "--pcap", capture, "--events",
                    said, "--set", f"match.rules={folder / 'match.rules'}", "--set",
                    "match.events=true", "--set", f"acl.rules={folder / 'acl.rules'}"],
                   check=True, stdout=subprocess.DEVNULL)
    return [json.loads(line) for line in said.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(name="app_lines", scope="module")
def fixture_app_lines(tmp_path_factory):
    """Of all that ids tells of, over all shared captures."""
    folder = tmp_path_factory.mktemp("eve-ids")
    capture = write_capture(folder / "all.pcap", [frame for _, _, frame in captured_frames()])
    (folder / "own.rules").write_text('alert tcp any any -> any any (content:"GET"; sid:1;)\n'
                                      'drop http any any -> any any (http.stat_code; '
                                      'content:"404"; sid:2;)\n')
    said = folder / "eve.json"
    command = [BUILD / "bin/millrace", "try", "flow,ids", "--pcap", capture, "--events", said]
    for setting in (f"rules={folder / 'own.rules'}", "events=true", "alert_payload=600",
                    "alert_packet=600", *(f"log={one}" for one in
                                          ("http", "dns", "tls", "ssh", "smtp", "drop",
                                           "anomaly"))):
        command += ["--set", f"ids.{setting}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [json.loads(line) for line in said.read_text(encoding="utf-8").splitlines()]


def seen_and_valid(lines):
    """(type, function) of all lines, which are valid."""
    schema = json.loads((shared_folder() / "data/eve/schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema)(schema)
    seen = set()
    for line in lines:
        own = line.pop("millrace")
        problems = [error.message for error in validator.iter_errors(line)]
        assert not problems, (problems, line)
        line["millrace"] = own
        seen.add((line["event_type"], own["function"]))
    return seen


def test_lines_are_valid_by_suricatas_schema(lines):
    assert seen_and_valid(lines) == {("alert", "match"), ("alert", "acl"), ("flow", "flow")}


def test_lines_of_ids_are_valid_by_suricatas_schema(app_lines):
    seen = {kind for kind, function in seen_and_valid(app_lines) if function == "ids"}
    assert seen >= {"alert", "http", "dns", "tls", "smtp", "drop"}
    assert seen <= {"alert", "http", "dns", "tls", "smtp", "drop", "ssh", "anomaly"}


def test_numbers_of_records_have_no_gap(app_lines):
    number = 0
    for line in app_lines:
        own = line["millrace"]
        assert own["record"] == number, line
        number += own.get("records", 1)
    assert any("records" in line["millrace"] for line in app_lines)


def test_community_ids_are_those_of_the_ends(lines):
    found = 0
    for line in lines:
        if "community_id" in line:
            found += 1
            assert line["community_id"] == community_id(line), line
        else:  # a fragment
            assert protocol_of(line) in (6, 17, 132) and "src_port" not in line, line
    assert found > 10_000


def test_alerts_have_the_id_of_their_flow(lines):
    by_connection, flows = {}, set()
    for line in lines:
        if "flow_id" in line:
            by_connection.setdefault(connection_of(line), set()).add(line["flow_id"])
            if line["event_type"] == "flow":
                flows.add(line["flow_id"])
    for (_, protocol, _), ids in by_connection.items():
        assert len(ids) == 1 or "ICMP" in protocol
    every = [number for ids in by_connection.values() for number in ids]
    assert len(every) == len(set(every)), "two connections with one id"
    alerts = [line for line in lines if line["event_type"] == "alert" and "flow_id" in line]
    known = sum(line["flow_id"] in flows for line in alerts)
    assert known > 0.9 * len(alerts) > 1000
