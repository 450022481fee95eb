# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""match on the shared captures against a plain search in Python that shares no parser with it."""

import bisect
import json
import subprocess
from collections import Counter

from captures import BUILD, captured_frames, unpack, write_capture
from capture_records import packets_of

BUFFER_BYTES = 2048  # of a packet in a buffer; a longer one is dropped before any function
HIDDEN = "hidden"  # what is behind the IP header cannot be known
EXTENSIONS = {0: 8, 43: 8, 60: 8, 135: 8, 139: 8, 140: 8}
RULES = (  # action, literal, nocase, protocol number, port
    ("drop", b"/secret", True, 0, 0),
    ("drop", b"\x7fELF", False, 6, 0),
    ("drop", b"passwd", True, 0, 80),
    ("drop", b"\x00\x00\x01\x00\x01", False, 17, 53),
    ("class two", b"HTTP/1.", False, 6, 0),
    ("class one", b"google", True, 0, 0),
    ("class two", b"\x00\x00\x00\x00", False, 17, 0),
    ("alert", b"\xff\xff\xff", False, 0, 0),
    ("alert", b"\x00", False, 17, 0),
    ("alert", b"e", False, 0, 0),
)


def u16(data, at):
    return data[at] << 8 | data[at + 1]


def ipv4(data):
    """(protocol, first byte behind the header, end, is a later fragment) or None."""
    header, total = data[0] % 16 * 4, u16(data, 2)
    if data[0] >> 4 != 4 or header < 20 or total < header:
        return None
    return data[9], header, min(total, len(data)), u16(data, 6) & 0x1FFF != 0


def ipv6(data):
    """The same; HIDDEN where more than eight extension headers follow, or one is cut off."""
    if data[0] >> 4 != 6:
        return None
    kind, at, end = data[6], 40, min(40 + u16(data, 4), len(data))
    for _ in range(9):
        if kind not in EXTENSIONS and kind not in (44, 51):
            return kind, at, end, False
        if _ == 8 or at + 8 > end:
            return HIDDEN
        size = 8 if kind == 44 else (data[at + 1] + (2 if kind == 51 else 1)) * (
            4 if kind == 51 else 8)
        later = kind == 44 and u16(data, at + 2) & 0xFFF8 != 0
        kind, at = data[at], at + size
        if later:
            return kind, at, end, True
        if at > end:
            return HIDDEN
    return HIDDEN


def payload_of(frame):
    """(protocol, ports, payload), None when there is none, or HIDDEN."""
    at = 12
    for _ in range(3):
        if len(frame) < max(at + 2, 14):
            return None
        if u16(frame, at) not in (0x8100, 0x88A8) or _ == 2:
            break
        at += 4
    ip, kind = frame[at + 2:], u16(frame, at)
    fixed, walk = {0x0800: (20, ipv4), 0x86DD: (40, ipv6)}.get(kind, (0, None))
    found = walk(ip) if walk and len(ip) >= fixed else None
    if not found or found is HIDDEN:
        return found
    protocol, start, end, later = found
    ports = ()
    if not later and protocol in (6, 17):
        least = 20 if protocol == 6 else 8
        if start + least > end:
            return None
        ports = (u16(ip, start), u16(ip, start + 2))
        size = ip[start + 12] // 16 * 4 if protocol == 6 else 8
        if size < least:
            return None
        start += size
    return (protocol, ports, bytes(ip[start:end])) if start < end else None


def expected_words(frames, rules):
    """For each frame the number of the first rule that matches, plus 1; of one that hides its
    payload that of the second counter behind the rules. `rules` by strength. Literals are sought
    in all payloads joined, so that thousands of them take seconds."""
    whole = [payload_of(frame) for frame in frames]
    parsed = [None if found is HIDDEN else found for found in whole]
    starts, joined = [], bytearray()
    for found in parsed:
        starts.append(len(joined))
        joined += found[2] if found else b""
    texts = {False: bytes(joined), True: bytes(joined).lower()}
    words = [len(rules) + 2 if found is HIDDEN else 0 for found in whole]
    for number, (_, literal, nocase, protocol, port) in enumerate(rules, 1):
        text, wanted = texts[nocase], literal.lower() if nocase else literal
        at = text.find(wanted)
        while at >= 0:
            packet = bisect.bisect_right(starts, at) - 1
            found = parsed[packet]
            inside = found and at + len(wanted) <= starts[packet] + len(found[2])
            meant = found and protocol in (0, found[0]) and (port == 0 or port in found[1])
            if inside and meant and words[packet] == 0:
                words[packet] = number
            at = text.find(wanted, at + 1)
    return words


def write_rules(path, rules):
    protocols = {0: "any", 6: "tcp", 17: "udp"}
    with open(path, "w", encoding="ascii") as out:
        for action, literal, nocase, protocol, port in rules:
            out.write(f'{action} "|{literal.hex(" ")}|"{" nocase" if nocase else ""}'
                      f' proto {protocols[protocol]}{f" port {port}" if port else ""}\n')
    return path


def try_match(frames, rules_path, folder):
    """What `millrace try match` says: report, (verdict, reason, classes) each, what passed."""
    capture = write_capture(folder / "in.pcap", frames)
    done = subprocess.run(
        [BUILD / "bin/millrace", "try", "match", "--json", "--pcap", capture,
         "--out", folder / "out.pcap", "--verdicts", folder / "verdicts",
         "--set", f"rules={rules_path}", "--set", "classes=one", "--set", "classes=two"],
        capture_output=True, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    lines = (folder / "verdicts").read_text(encoding="ascii").splitlines()[1:]
    columns = [line.split("\t") for line in lines]
    passed = [packet[0] for packet in packets_of(folder / "out.pcap")[1]]
    return json.loads(done.stdout), [(c[1], c[2], int(c[4])) for c in columns], passed


def snort_literals(folder):
    """Distinct (bytes, nocase) of the contents without modifiers but nocase, fast_pattern."""
    literals = {}
    text = (folder / "snort3-community.rules").read_text(encoding="latin-1")
    for piece in text.split('content:"')[1:]:
        end = next(i for i in range(len(piece)) if piece[i] == '"' and piece[i - 1] != "\\")
        words = [word.strip() for word in piece[end + 1:].split(";")[0].split(",")]
        if {word for word in words if word} <= {"nocase", "fast_pattern"}:
            literals[content_bytes(piece[:end]), "nocase" in words] = None
    return list(literals)


def content_bytes(content):
    """The bytes of a Snort content: hex between bars, backslash before a special character."""
    out = b""
    for number, part in enumerate(content.split("|")):
        if number % 2 == 1:
            out += bytes.fromhex(part)
        else:
            plain = part.replace("\\\\", "\0").replace("\\", "").replace("\0", "\\")
            out += plain.encode("latin-1")
    return out


def expected_end(word, frame, rules):
    """(verdict, reason, classes) of a packet by its result word. Some rule drops, so what is
    hidden is dropped."""
    if len(frame) > BUFFER_BYTES:
        return "drop", "oversize", 0
    action = "drop" if word > len(rules) else rules[word - 1][0] if word else "alert"
    classes = {"class one": 1, "class two": 2}.get(action, 0)
    return ("drop", "rule", 0) if action == "drop" else ("pass", "none", classes)


def compare(captured, rules, folder):
    """Runs the rules over all frames and holds each packet and all counters against the search."""
    frames = [frame for _, _, frame in captured]
    words = expected_words(frames, rules)
    words = [0 if len(frame) > BUFFER_BYTES else word for word, frame in zip(words, frames)]
    report, found, passed = try_match(frames, write_rules(folder / "m.rules", rules), folder)
    ends = [expected_end(word, frame, rules) for word, frame in zip(words, frames)]
    function = report["functions"][0]
    assert function["refused"] == 0 and function["accepted"] == len(rules)
    assert len(found) == len(frames)
    for (name, number, _), end, want in zip(captured, found, ends):
        assert end == want, f"{name} packet {number}"
    assert passed == [frame for frame, end in zip(frames, ends) if end[0] == "pass"]
    hits = Counter(str(word - 1) for word in words if word)
    assert function["hits"] == dict(hits)
    return words


def test_a_few_rules_on_every_packet_of_the_captures(tmp_path):
    words = compare(captured_frames(), RULES, tmp_path)
    assert len(words) > 40000 and words.count(0) > 5000
    assert set(words) >= {0, 3, 4, 5, 6, 7, 8, 9, 10}, "the captures exercise the rules"


def test_thousands_of_snort_literals_on_every_packet(tmp_path):
    literals = snort_literals(unpack("rules"))
    assert len(literals) > 3500
    rules = [("drop" if number % 7 == 0 else "alert", literal, nocase, 0, 0)
             for number, (literal, nocase) in enumerate(literals) if len(literal) >= 3]
    rules.sort(key=lambda rule: rule[0] != "drop")
    words = compare(captured_frames(), rules, tmp_path)
    assert len(set(words)) > 100 and words.count(0) > 1000
