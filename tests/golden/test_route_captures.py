# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`millrace try route` over every shared Ethernet capture equals the oracle, packet by packet."""

import collections
import json
import random
import shutil
import subprocess

import pytest
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

import route_oracle
from capture_records import ETHERNET, packets_of
from captures import BUILD, unpack

OWN_IPV6 = "64:ff9b::192.0.76.3/96"
PORTS = {"lan": {"mac": "02:00:00:00:00:0a", "addresses": ["10.0.0.1/24", "192.168.1.1/24",
                                                              OWN_IPV6]},
         "wan": {"mac": "02:00:00:00:00:0b", "addresses": ["172.16.0.1/30"]},
         "dmz": {"mac": "02:00:00:00:00:0c", "addresses": []}}
PORT_NAMES = list(PORTS)
# The captures' private networks, split so that prefixes nest, and a default route.
TABLE = """
0.0.0.0/0        wan 02:00:00:00:01:01, dmz 02:00:00:00:01:0d weight 2
10.0.0.0/8       lan 02:00:00:00:01:02
10.0.0.0/24      dmz 02:00:00:00:01:03
10.0.2.0/23      wan 02:00:00:00:01:04
192.168.0.0/16   lan 02:00:00:00:01:05
192.168.0.0/17   dmz 02:00:00:00:01:06 weight 3, lan 02:00:00:00:01:0b,wan 02:00:00:00:01:0c
192.168.1.100/30 wan 02:00:00:00:01:07
192.168.1.1/32   wan 02:00:00:00:01:07
172.16.0.0/12    drop
8.0.0.0/7        drop
8.8.8.0/24       wan 02:00:00:00:01:08
::/0             wan 02:00:00:00:01:01
2001::/16        lan 02:00:00:00:01:02, wan 02:00:00:00:01:01 weight 1
2001:db8::/32    dmz 02:00:00:00:01:09
2001:db8::/64    wan 02:00:00:00:01:04
2001:470::/32    dmz 02:00:00:00:01:0a
2001:4860::/29   drop
fc00::/7         lan 02:00:00:00:01:05 weight 9, wan 02:00:00:00:01:0c weight 256
"""


def port_option(name):
    return f"{name}={','.join([PORTS[name]['mac'], *PORTS[name]['addresses']])}"


def run_try(arguments):
    """The JSON result of `millrace try route`."""
    ports = [word for name in PORT_NAMES for word in ("--port", port_option(name))]
    words = [BUILD / "bin/millrace", "try", "route", *arguments, *ports, "--set", "answers=false",
             "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    result = json.loads(done.stdout)
    assert done.returncode == (1 if result["broken_captures"] else 0), done.stdout + done.stderr
    return result


def table_file(folder):
    path = folder / "routes.txt"
    path.write_text(TABLE)
    return path


def flatten(folder, into):
    """Every Ethernet capture below the folder under a name of its own."""
    into.mkdir()
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and packets_of(path)[0] == ETHERNET:
            name = "-".join(path.relative_to(folder).parts)
            found.append(shutil.copy(path, into / name))
    return found


def verdicts_of(path):
    """(reason, port or None) of each packet."""
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return [(row[2], None if row[3] == "default" else PORT_NAMES[int(row[3])]) for row in rows]


def scapy_forward(frame, port, mac):
    """A routed packet by Scapy's dissector and builder."""
    parsed = Ether(frame)
    parsed.src, parsed.dst = PORTS[port]["mac"], mac
    if frame[12:14] == b"\x86\xdd":
        header = IPv6(frame[14:54])
        header.hlim -= 1
        return bytes(parsed)[:14] + bytes(header) + frame[54:]
    header = IP(bytes(parsed[IP])[:parsed[IP].ihl * 4])
    header.ttl -= 1
    del header.chksum
    length = 14 + parsed[IP].ihl * 4
    return bytes(parsed)[:14] + bytes(header)[:length - 14] + frame[length:]


def expectations(routes, path):
    return [route_oracle.route(frame, wire, routes) for frame, wire, _ in packets_of(path)[1]]


def test_try_equals_the_oracle_on_every_ethernet_capture(tmp_path):
    captures = flatten(unpack("pcap"), tmp_path / "in")
    assert len(captures) == 864
    pcaps = [word for path in captures for word in ("--pcap", path)]
    result = run_try([*pcaps, "--set", f"table={table_file(tmp_path)}",
                      "--out", tmp_path / "out", "--verdicts", tmp_path / "verdicts"])
    routes = route_oracle.Routes(TABLE, PORTS)
    reasons = collections.Counter()
    for path in captures:
        expected = expectations(routes, path)
        verdicts = verdicts_of(tmp_path / "verdicts" / path.name)
        assert verdicts == [(reason, port) for reason, _, port in expected], path.name
        sent = [frame for frame, _, _ in packets_of(tmp_path / "out" / path.name)[1]]
        assert sent == [out for _, out, _ in expected if out is not None], path.name
        reasons.update(reason for reason, _, _ in expected)
    assert result["packets"] == sum(reasons.values())
    assert result["passed"] == reasons.pop("none")
    assert result["dropped"] == dict(reasons)
    broken = result["broken_captures"]
    assert broken and all("incomplete" in text or "corrupt" in text for text in broken)
    # There was something to do for nearly every rule.
    assert result["packets"] > 48000 and result["passed"] > 10000
    for reason in ("not_ipv4", "not_forwarded", "bad_checksum", "truncated", "malformed",
                   "not_unicast", "own_address", "no_route", "ttl_expired", "oversize"):
        assert reasons[reason] > 0, reason


def test_the_oracle_forwards_as_scapy_does(tmp_path):
    routes = route_oracle.Routes(TABLE, PORTS)
    packets = [packet for path in flatten(unpack("pcap"), tmp_path / "in")
               for packet in packets_of(path)[1]]
    random.Random(1).shuffle(packets)
    compared = 0
    for frame, wire, _ in packets:
        reason, out, port = route_oracle.route(frame, wire, routes)
        if reason != "none":
            continue
        mac = ":".join(f"{byte:02x}" for byte in out[:6])
        assert out == scapy_forward(frame, port, mac)
        compared += 1
        if compared == 1000:
            return
    pytest.fail(f"only {compared} packets to compare")


def test_times_and_wire_lengths_are_kept(tmp_path):
    captures = flatten(unpack("pcap"), tmp_path / "in")
    path = next(path for path in captures if path.name.startswith("misc-"))
    run_try(["--pcap", path, "--set", f"table={table_file(tmp_path)}",
             "--out", tmp_path / "out.pcap"])
    routes = route_oracle.Routes(TABLE, PORTS)
    expected = [(out, wire, time) for frame, wire, time in packets_of(path)[1]
                for _, out, _ in [route_oracle.route(frame, wire, routes)] if out is not None]
    assert packets_of(tmp_path / "out.pcap")[1] == expected
    assert len(expected) > 50
