# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Captures through `flow`: its connections against the logs of Zeek and the flows of nDPI."""

import collections
import csv
import json
import struct
import subprocess

import pytest

from capture_records import packets_of
from captures import BUILD, unpack

FIN, SYN, RST, ACK = 1, 2, 4, 16
QUESTIONS = {"0": "8", "14": "13", "16": "15", "18": "17", "129": "128"}  # by what answers them


def flows_of(capture, folder):
    """What `flow` tells of each connection of the capture."""
    lines = folder / "flows.json"
    subprocess.run([BUILD / "bin/millrace", "try", "flow", "--pcap", capture, "--events", lines,
                    "--set", "max=100000", "--mtu", "65000"], check=True, capture_output=True)
    return [line for line in map(json.loads, lines.read_text().splitlines())
            if line["event_type"] == "flow"]


def is_ethernet(path):
    head = path.read_bytes()[:24]
    if len(head) < 24:
        return False
    for order, magic in (("<", 0xA1B2C3D4), (">", 0xA1B2C3D4), ("<", 0xA1B23C4D)):
        if struct.unpack_from(order + "I", head)[0] == magic:
            return struct.unpack_from(order + "I", head, 20)[0] & 0xFFFF == 1
    return False


def state_of(flow):
    """As Zeek's conn_state says how a TCP connection went, by the flags that each side has sent."""
    asks, answers = flow["flags"]
    if not asks & SYN:
        return "SHR" if answers & SYN else "OTH"
    opened = bool(answers & SYN)
    if answers & RST and not opened:
        return "REJ"
    if not opened:
        return "RSTOS0" if asks & RST else "SH" if asks & FIN else "S0"
    if asks & RST:
        return "RSTO"
    if answers & RST:
        return "RSTR"
    if asks & FIN and answers & FIN:
        return "SF"
    return "S2" if asks & FIN else "S3" if answers & FIN else "S1"


def told(line):
    """A line of ours: (addresses, ports, protocol), then packets and bytes each way, then state."""
    flow, protocol = line["flow"], line["proto"].lower().replace("ipv6-", "")
    ports = str(line.get("src_port", 0)), str(line.get("dest_port", 0))
    if protocol == "icmp":
        ports = str(line["icmp_type"]), "0"
    counts = tuple(flow[f"{what}_{way}"] for way in ("toserver", "toclient")
                   for what in ("pkts", "bytes"))
    flags = [int(line.get("tcp", {}).get(name, "0"), 16)
             for name in ("tcp_flags_ts", "tcp_flags_tc")]
    state = state_of({"flags": flags}) if protocol == "tcp" else ""
    return (line["src_ip"], line["dest_ip"], ports, protocol), counts, state


def zeek_rows(log):
    """The connections of a conn.log as told() gives ours; (row, whether its begin was not seen)."""
    fields, rows = [], []
    for line in log.read_text(errors="replace").splitlines():
        if line.startswith("#fields"):
            fields = line.split("\t")[1:]
        elif not line.startswith("#") and fields:
            rows.append(dict(zip(fields, line.split("\t"))))
    for row in rows:
        if row.get("tunnel_parents", "-") not in ("-", "(empty)"):
            continue  # within a tunnel
        if not {"id.orig_h", "orig_pkts", "proto"} <= row.keys():
            continue  # columns that the test of Zeek has given other names
        if row["proto"] not in ("tcp", "udp", "icmp"):
            continue
        if row["proto"] == "icmp" and row["id.orig_p"] not in ("8", "13", "15", "17", "128"):
            continue  # an error, which belongs to the flow that it quotes; discovery
        ports = row["id.orig_p"], "0" if row["proto"] == "icmp" else row["id.resp_p"]
        counts = tuple(int(row[f"{side}_{what}"]) for side in ("orig", "resp")
                       for what in ("pkts", "ip_bytes"))
        state = row["conn_state"] if row["proto"] == "tcp" else ""
        key = row["id.orig_h"], row["id.resp_h"], ports, row["proto"]
        yield (key, counts, state), row.get("history", "").startswith("^")


def turned(row):
    (source, destination, ports, protocol), counts, state = row
    return (destination, source, ports[::-1], protocol), counts[2:] + counts[:2], state


# Frames within frames, which no function walks into: PBB (802.1ah), VN-Tag.
WITHIN = {"pbb.pcap", "vntag_vlan_sandwich_clean.pcap"}


def zeek_cases():
    """(trace, conn.log) of each run over one trace that leaves no packet out."""
    folder = unpack("pcap") / "zeek"
    with open(folder / "index.tsv") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            logs = [name for name in row["baseline_files"].split(",") if name.startswith("conn")]
            trace = folder / "Traces" / row["traces"]
            if logs != ["conn.log"] or " -f " in row["zeek_command"] or not trace.is_file():
                continue
            if is_ethernet(trace) and trace.name not in WITHIN:
                yield trace, folder / row["baseline_dir"] / "conn.log"


def test_connections_are_those_of_zeek(tmp_path):
    equal, others, seen = 0, [], set()
    for trace, log in zeek_cases():
        rows = list(zeek_rows(log))
        if not rows or (trace, tuple(map(str, rows))) in seen:
            continue
        seen.add((trace, tuple(map(str, rows))))
        ours = collections.Counter(told(line) for line in flows_of(trace, tmp_path))
        for row, turns in rows:
            right = row if ours[row] else turned(row) if turns and ours[turned(row)] else None
            if right:
                ours[right] -= 1
                equal += 1
            else:
                others.append((trace.name, row, [one for one in ours if one[0] == row[0]]))
    print(f"{equal} of {equal + len(others)} connections equal")
    for other in others:
        print(other)
    assert equal > 60
    assert equal >= 0.95 * (equal + len(others))


def ends_of(source, source_port, destination, destination_port):
    return frozenset([(source, source_port), (destination, destination_port)])


def ndpi_flows():
    """By capture, then by protocol and ends: packets of nDPI's flows."""
    captures = collections.defaultdict(collections.Counter)
    with open(unpack("pcap") / "ndpi-expected/flows.tsv") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            ends = ends_of(row["a_ip"], row["a_port"], row["b_ip"], row["b_port"])
            packets = int(row["pkts_a2b"]) + int(row["pkts_b2a"])
            captures[row["#pcap"]][row["l4"], ends] += packets
    return captures


def ip_bytes(frame):
    """Bytes from the IP header on, as it says; behind VLAN tags, too."""
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    if frame[at:at + 2] == b"\x08\x00":
        return int.from_bytes(frame[at + 4:at + 6], "big")
    if frame[at:at + 2] == b"\x86\xdd":
        return 40 + int.from_bytes(frame[at + 6:at + 8], "big")
    return 0


def test_packets_of_flows_are_those_of_ndpi(tmp_path):
    equal = looked_at = 0
    others = []
    for name, flows in sorted(ndpi_flows().items()):
        capture = unpack("pcap") / "ndpi" / name
        if not capture.is_file() or not is_ethernet(capture):
            continue
        frames = [frame for frame, *_ in packets_of(capture)[1]]
        if sum(flows.values()) != len(frames):
            continue  # some belong to no flow of nDPI
        looked_at += 1
        ours, our_bytes = collections.Counter(), 0
        for line in flows_of(capture, tmp_path):
            (source, destination, ports, protocol), counts, _ = told(line)
            if protocol == "icmp":
                ports = "0", "0"
            ends = ends_of(source, ports[0], destination, ports[1])
            ours[protocol.upper(), ends] += counts[0] + counts[2]
            our_bytes += counts[1] + counts[3]
        if ours == flows and our_bytes == sum(map(ip_bytes, frames)):
            equal += 1
        else:
            others.append((name, our_bytes, sum(map(ip_bytes, frames)),
                           {key: (flows[key], ours[key]) for key in {*flows, *ours}
                            if flows[key] != ours[key]}))
    print(f"{equal} of {looked_at} captures equal")
    for other in others:
        print(other)
    assert looked_at > 80
    # What is within tunnels is nDPI's connections, and the tunnel itself ours.
    assert equal >= 0.9 * looked_at
