# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Public rules tell of what a slow matcher finds: in packets made for them, near misses among
these, and in the shared captures. The matcher shares no code with the path.

MILLRACE_IDS_STEP: of so many rules and captures one is looked at; 1: all of them.
MILLRACE_SEED: draws other packets. ids-cases/public-rules.txt names what differs, with causes.
"""

import collections
import ipaddress
import json
import os
import pathlib
import random
import subprocess

import pytest

import ids_flows
import ids_judge
from capture_records import ethernet_captures, packets_of
from captures import BUILD, unpack, write_capture
from ids_made_traffic import Maker
from ids_rule import read_rule
from ids_rule_tests import NotJudged
from test_ids_rules import millrace_rules, rule_files

DIFFERENT = pathlib.Path(__file__).parent / "ids-cases/public-rules.txt"
STEP = int(os.environ.get("MILLRACE_IDS_STEP", "12"))
SEED = int(os.environ.get("MILLRACE_SEED", "1"))
MISSES = 2  # of each rule
BATCH = 1500  # flows in one capture
CAPTURE_BYTES_MAX = 100_000
FRAMES = 20_000  # of captures that are looked at as one, at least
FRAME_BYTES_MAX = 1514
ANY_NETWORK = {"HOME_NET": "any", "EXTERNAL_NET": "any"}
PROTOCOLS = {"TCP": ids_flows.TCP, "UDP": ids_flows.UDP, "ICMP": ids_flows.ICMP,
             "IPv6-ICMP": ids_flows.ICMPV6}
JUDGED_LEAST = 0.97  # of the rules that load


@pytest.fixture(scope="module")
def rules():
    """Those that load and can be judged; says how many cannot, and why."""
    parser = pytest.importorskip("suricataparser")
    files = [*rule_files("snort"), *rule_files("et-open")]
    refused = {one["sid"] for one in millrace_rules(files)["refusals"]}
    found, why = [], collections.Counter()
    for path in files:
        for parsed in parser.parse_file(path):
            if not parsed.enabled or int(parsed.sid) in refused:
                continue
            try:
                found.append(read_rule(parsed, path.name.startswith("snort")))
            except NotJudged as reason:
                why[str(reason)] += 1
    print(f"{len(found)} rules are judged, {why.total()} are not: {dict(why)}")
    assert len(found) >= JUDGED_LEAST * (len(found) + why.total())
    return found


def known_differences():
    """{where}: "made sid" or "capture sid"."""
    lines = DIFFERENT.read_text().splitlines()
    return {line.split(": ", 1)[0] for line in lines if line and not line.startswith("#")}


@pytest.fixture
def any_network():
    """Rules are about hosts of all networks, as those of captures are."""
    before = dict(ids_judge.VARIABLES)
    ids_judge.use_variables(ANY_NETWORK)
    yield
    ids_judge.use_variables(before)


def told_by_ids(capture, flows, folder):
    """{(sid, number of the flow)}; None: a packet is too long to be looked at."""
    out = folder / "events.json"
    command = [BUILD / "bin/millrace", "try", "flow,ids", "--json", "--pcap", capture, "--events",
               out]
    for path in [*rule_files("snort"), *rule_files("et-open")]:
        command += ["--set", f"ids.rules={path}"]
    for setting in ("mode=ids", "checksums=trust", "history_kb=64", "events=true"):
        command += ["--set", f"ids.{setting}"]
    for name in ANY_NETWORK:
        command += ["--set", f"ids.variables={name}={ids_judge.VARIABLES[name]}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{capture}: {done.stdout}{done.stderr}"
    if json.loads(done.stdout)["dropped"].get("oversize"):
        return None
    places = {(flow.protocol, frozenset((flow.client, flow.server))): place
              for place, flow in enumerate(flows)}
    told = set()
    for line in out.read_text().splitlines():
        event = json.loads(line)
        if event["event_type"] != "alert":
            continue
        ends = frozenset((ipaddress.ip_address(event[f"{side}_ip"]), event.get(f"{side}_port", 0))
                         for side in ("src", "dest"))
        place = places.get((PROTOCOLS.get(event["proto"]), ends))
        if place is not None:
            told.add((event["alert"]["signature_id"], place))
    return told


def differences(capture, rules, folder, is_fit=lambda _flow: True):
    """(pairs that agree, {(sid, number of the flow): what differs}, pairs that are not judged)."""
    flows = ids_flows.flows_of(packets_of(capture)[1])
    told = told_by_ids(capture, flows, folder)
    if told is None:
        return set(), {}, set()
    must, may, skipped = ids_judge.judge(rules, flows)
    sids = {rule.sid for rule in rules}
    fit = {place for place, flow in enumerate(flows) if is_fit(flow)}

    def judged(pairs):
        return {(sid, place) for sid, place in pairs
                if sid in sids and place in fit and (sid, place) not in skipped}

    wrong = {pair: "not told" for pair in judged(must - told)}
    wrong |= {pair: "told" for pair in judged(told - may)}
    return judged(must & told), wrong, skipped


def made_captures(rules, folder):
    """Captures of packets that are made for the rules."""
    maker = Maker(random.Random(SEED))
    begin, number = 0, 0
    for rule in rules:
        for miss in [False] + [True] * MISSES:
            maker.add(rule, miss)
        if maker.flows - begin >= BATCH or rule is rules[-1]:
            yield write_capture(folder / f"made-{number}.pcap", maker.frames)
            maker.frames = []
            begin, number = maker.flows, number + 1


def test_packets_that_are_made_for_rules(rules, tmp_path):
    agreed, wrong, chosen = set(), {}, rules[SEED % STEP::STEP]
    for capture in made_captures(chosen, tmp_path):
        right, differ, _ = differences(capture, rules, tmp_path)
        agreed |= {(capture.name, *pair) for pair in right}
        wrong |= {f"made {sid}": f"{capture.name}, flow {place}: {what}"
                  for (sid, place), what in differ.items()}
    matched = {sid for _, sid, _ in agreed}
    own = {rule.sid for rule in chosen}
    print(f"{len(agreed)} alerts of {len(matched)} rules agree; of {len(own)} rules that packets "
          f"were made for, {len(own & matched)} match")
    assert {where: what for where, what in wrong.items() if where not in known_differences()} == {}
    assert len(own & matched) > len(own) // 2


def is_plain(flow):
    """A connection that is seen whole, or datagrams."""
    return flow.protocol != ids_flows.TCP or (flow.is_clear and flow.is_in_order)


def joined_captures(captures, folder):
    """Captures one behind the other in one. Frames that no port takes are left out."""
    frames = []
    for capture in captures:
        frames += [packet[0] for packet in packets_of(capture)[1]
                   if len(packet[0]) <= FRAME_BYTES_MAX]
        if len(frames) >= FRAMES or capture is captures[-1]:
            yield write_capture(folder / "joined.pcap", frames)
            frames = []


def test_captures(rules, any_network, tmp_path):
    captures = [path for path in ethernet_captures(unpack("pcap"))
                if path.stat().st_size < CAPTURE_BYTES_MAX][SEED % STEP::STEP]
    agreed, wrong, unread = set(), {}, 0
    for number, capture in enumerate(joined_captures(captures, tmp_path)):
        right, differ, skipped = differences(capture, rules, tmp_path, is_plain)
        agreed |= {(number, *pair) for pair in right}
        unread += len(skipped)
        wrong |= {f"capture {sid}": f"flow {place} of joined captures {number}: {what}"
                  for (sid, place), what in differ.items()}
    sids = {sid for _, sid, _ in agreed}
    print(f"{len(captures)} captures: {len(agreed)} alerts of {len(sids)} rules agree; {unread} "
          "pairs of rule and flow are not judged")
    assert {where: what for where, what in wrong.items() if where not in known_differences()} == {}
