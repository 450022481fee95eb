# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""ids finds what a slow search finds in the shared captures, by rules made of their bytes.

ids-cases/captures.txt names captures that are left out, each with its cause.
"""

import ipaddress
import json
import pathlib
import random
import re
import subprocess

import pytest

from capture_records import ethernet_captures
from captures import BUILD, unpack
from ids_reference import TCP, Content, Pcre, Rule, directions

LEFT_OUT = pathlib.Path(__file__).parent / "ids-cases/captures.txt"
RULES = 12  # of a capture
CAPTURES = 120
FAR = 4096  # bytes that the contents of one rule lie apart at most: a stream keeps more


def left_out():
    lines = LEFT_OUT.read_text().splitlines()
    return {line.split(": ", 1)[0] for line in lines if line and not line.startswith("#")}


def word_of(data, random_, at=None):
    """(place, some bytes) of the data."""
    at = random_.randrange(len(data) - 3) if at is None else at
    return at, data[at:at + random_.randint(4, 12)]


def made_rule(sid, protocol, data, random_):
    """A rule that was made of the bytes of `data`; it may match there or not."""
    at, word = word_of(data, random_)
    tests = [Content(word, nocase=random_.random() < 0.3)]
    if random_.random() < 0.2:
        tests[0].word = tests[0].word.swapcase()
    kind = random_.choice(("one", "two", "near", "negated", "place", "pcre"))
    rest = data[at + len(word):at + len(word) + FAR]
    if kind in ("two", "near") and len(rest) > 8:
        gap, second = word_of(rest, random_)
        tests.append(Content(second, distance=random_.choice((0, gap, gap + 1))))
        if kind == "near":
            tests[-1].within = random_.randint(len(second), len(second) + 2 * gap)
    elif kind == "negated":
        nots = random_.choice((b"\x00\x00\x00\x00", b"HTTP/1.1", random_.randbytes(5)))
        tests.append(Content(nots, negated=True, distance=0, within=random_.randint(8, 64)))
    elif kind == "place" and protocol == "udp":
        tests[0].offset = random_.randint(0, at)
        tests[0].depth = random_.randint(len(word), len(word) + at)
    elif kind == "pcre":
        tests.append(Pcre(b"[0-9a-f]{3}", relative=random_.random() < 0.5))
    return Rule(sid, protocol, tests)


def end_of(event, side):
    port = event.get(f"{side}_port")
    address = ipaddress.ip_address(event[f"{side}_ip"]).packed
    return address, port.to_bytes(2)


def found_by_ids(capture, rules, folder):
    """{(sid, source, destination)}; None: a packet is too long to be looked at."""
    path, out = folder / "made.rules", folder / "events.json"
    path.write_text("\n".join(rule.text() for rule in rules) + "\n")
    command = [BUILD / "bin/millrace", "try", "flow,ids", "--json", "--pcap", capture, "--events",
               out, "--set", f"ids.rules={path}"]
    for setting in ("mode=ids", "checksums=trust", "history_kb=64", "events=true"):
        command += ["--set", f"ids.{setting}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{capture.name}: {done.stdout}{done.stderr}"
    if json.loads(done.stdout)["dropped"].get("oversize"):
        return None
    events = [json.loads(line) for line in out.read_text().splitlines()]
    return {(event["alert"]["signature_id"], end_of(event, "src"), end_of(event, "dest"))
            for event in events if event["event_type"] == "alert"}


def expected_of(flows, rules, is_whole):
    """{(sid, source, destination)}; `is_whole`: streams have ended where the capture ends."""
    return {(rule.sid, source, destination)
            for (protocol, source, destination), datas in flows for rule in rules
            if (rule.protocol == "udp") == (protocol != TCP)
            and any(rule.search(data, is_whole or protocol != TCP) for data in datas)}


def compared(capture, folder):
    """(pairs that were compared, what differs). What depends on whether more of a stream follows,
    as a negated content in front of the capture's end, may be found or not. What the end of a
    stream decides is told of with the packet that acknowledges it, which goes the other way."""
    random_ = random.Random(capture.name)
    flows = list(directions(capture))
    long = [(key, datas) for key, datas in flows if any(len(data) > 20 for data in datas)]
    if not long:
        return 0, set()
    rules = []
    for sid in range(1, RULES + 1):
        key, datas = random_.choice(long)
        data = random_.choice([data for data in datas if len(data) > 20])
        rules.append(made_rule(sid, "tcp-stream" if key[0] == TCP else "udp", data, random_))
    whole, cut = expected_of(flows, rules, True), expected_of(flows, rules, False)
    judged = {(source, destination) for (_, source, destination), _ in flows}
    found = found_by_ids(capture, rules, folder)
    if found is None:
        return 0, set()
    found = {one for one in found if one[1:] in judged}
    by_the_end = {(sid, destination, source) for sid, source, destination in whole - cut}
    return len(cut & whole | found), (cut & whole) - found | found - (cut | whole | by_the_end)


def test_rules_made_of_captures_match_where_a_slow_search_finds_them(tmp_path):
    captures = [path for path in ethernet_captures(unpack("pcap"))
                if path.stat().st_size < 200_000]
    chosen = [path for path in random.Random(1).sample(captures, CAPTURES)
              if path.name not in left_out()]
    pairs, differ = 0, {}
    for capture in chosen:
        count, wrong = compared(capture, tmp_path)
        pairs += count
        if wrong:
            differ[capture.name] = sorted({one[0] for one in wrong})
    print(f"{pairs} matches compared, of {len(chosen)} captures")
    assert differ == {}
    assert pairs > CAPTURES
