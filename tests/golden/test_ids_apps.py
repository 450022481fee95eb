# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What sessions of `ids` read in the captures, against nDPI's published results, ja4plus, Scapy and
cryptography."""

import functools
import re
import struct
import subprocess
from collections import Counter, defaultdict

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID
from ja4plus.fingerprinters.ja4 import generate_ja4
from ja4plus.utils.tls_utils import parse_tls_handshake
from scapy.layers.dns import DNS

from capture_records import ethernet_captures, packets_of
from captured_flows import TCP, UDP, flows_of
from captures import BUILD, unpack

DNS_PORT = 53
NAME_BYTES_MAX = 253  # RFC 1035 2.3.4
LETTERS = {NameOID.COMMON_NAME: "CN", NameOID.COUNTRY_NAME: "C", NameOID.LOCALITY_NAME: "L",
           NameOID.STATE_OR_PROVINCE_NAME: "ST", NameOID.ORGANIZATION_NAME: "O",
           NameOID.ORGANIZATIONAL_UNIT_NAME: "OU", NameOID.DOMAIN_COMPONENT: "DC",
           NameOID.EMAIL_ADDRESS: "Email"}


def item(kind, direction, port, data=b""):
    return struct.pack("=cBHI", kind, direction, port, len(data)) + data


class Reading:
    """What the dump says of one flow."""

    def __init__(self):
        self.protocol = None
        self.values = defaultdict(list)  # by direction and buffer

    def one(self, direction, buffer):
        values = self.values[direction, buffer]
        assert len(values) <= 1, (buffer, values)
        return values[0] if values else None


def readings_of(flows):
    data = b""
    for flow in flows:
        kind = b"s" if flow.protocol == TCP else b"d"
        data += b"".join(item(kind, direction, flow.server[1], bytes_)
                         for direction, bytes_ in flow.pieces) + item(b"e", 0, 0)
    out = subprocess.run([BUILD / "test/ids_apps_dump"], input=data, capture_output=True,
                         check=True).stdout.decode()
    readings, reading = [], Reading()
    for line in out.splitlines():
        words = line.split(" ")
        if words[0] == "protocol":
            reading.protocol = words[1]
            readings.append(reading)
            reading = Reading()
        else:
            reading.values[int(words[1]), words[2]].append(bytes.fromhex(words[3]))
    assert len(readings) == len(flows)
    return readings


@functools.cache
def all_flows():
    """(capture, flow, reading) of every capture."""
    found = []
    for path in ethernet_captures(unpack("pcap")):
        flows = flows_of(packet[0] for packet in packets_of(path)[1])
        found += [(path, *pair) for pair in zip(flows, readings_of(flows))]
    return found


def expected_of_ndpi(text):
    """{(end, end): {field: value}} of the TCP flows of a result."""
    found = {}
    for line in text.splitlines():
        ends = re.match(r"\s+\d+\s+TCP (\S+):(\d+) <?-> (\S+):(\d+) ", line)
        if ends:
            key = frozenset((ends[at].strip("[]"), int(ends[at + 1])) for at in (1, 3))
            fields = dict(re.findall(r"\[(JA3C|JA3S|JA4|Certificate SHA-1): ([^\] ]*)", line))
            if fields and key in found:
                found[key] = {}  # two connections of one tuple
            elif fields:
                found[key] = fields
    return found


@functools.cache
def ndpi_results():
    folder = unpack("pcap") / "ndpi-expected"
    return {path.name.removesuffix(".out"): expected_of_ndpi(path.read_text(errors="replace"))
            for path in folder.glob("*.out")}


def unlike_ndpi(reading, fields, seen):
    """Fields that differ. Of JA4 the hashes: nDPI writes the letters in front of them otherwise."""
    ours = {"JA3C": reading.one(0, "ja3.hash"), "JA3S": reading.one(1, "ja3s.hash"),
            "JA4": reading.one(0, "ja4"),
            "Certificate SHA-1": (reading.one(1, "sha1") or b"").upper()}
    seen.update(list(fields))
    return [(name, value, ours[name]) for name, value in fields.items()
            if (ours[name] or b"").decode().split("_")[name == "JA4":] !=
            value.split("_")[name == "JA4":]]


def test_fingerprints_equal_ndpis():
    seen, unlike = Counter(), []
    for path, flow, reading in all_flows():
        results = ndpi_results().get(path.name)
        if results is None or flow.protocol != TCP or path.parent.name != "ndpi":
            continue
        key = frozenset((str(address), port) for address, port in (flow.client, flow.server))
        fields = results.get(key, {})
        if fields and reading.protocol != "tls":
            seen["TLS behind another protocol"] += 1
        elif fields:
            unlike += [(path.name, flow.client, *found)
                       for found in unlike_ndpi(reading, fields, seen)]
    print(dict(seen))
    assert not unlike
    assert seen["JA3C"] > 80 and seen["JA4"] > 80 and seen["JA3S"] > 70
    assert seen["Certificate SHA-1"] > 35


def test_ja4_equals_ja4plus():
    seen = Counter()
    for path, flow, reading in all_flows():
        if reading.protocol != "tls":
            continue
        info = parse_tls_handshake(b"".join(handshake_records(flow.text(0))))
        ours = reading.one(0, "ja4")
        if info is None or info["type"] != "client_hello":
            seen["no hello"] += 1
            continue
        seen["compared"] += 1
        assert ours == generate_ja4(info).encode(), (path.name, flow.client)
        assert (reading.one(0, "tls.sni") or b"").decode() == (info.get("sni") or "")
    print(dict(seen))
    assert seen["compared"] > 90


def handshake_records(text):
    """One record of what stands in the handshake records at the begin of a stream."""
    content = b""
    while len(text) >= 5 and text[0] == 22:
        end = 5 + int.from_bytes(text[3:5])
        content += text[5:end]
        text = text[end:]
    yield b"\x16\x03\x01" + min(len(content), 0xFFFF).to_bytes(2) + content


def written(name):
    """A distinguished name in the order and form of Suricata."""
    return ", ".join(" + ".join(f"{LETTERS[attribute.oid]}={attribute.value}" for attribute in rdn)
                     for rdn in name.rdns)


def test_certificates_equal_those_of_cryptography():
    seen = Counter()
    for path, _, reading in all_flows():
        for direction in (0, 1):
            chain = reading.values[direction, "tls.certs"]
            if not chain:
                continue
            certificate = x509.load_der_x509_certificate(chain[0])
            serial = certificate.serial_number
            digits = serial.to_bytes(serial.bit_length() // 8 + 1).hex(":").upper()
            assert reading.one(direction, "serial").decode() == digits, path.name
            for buffer, name in (("subject", certificate.subject), ("issuer", certificate.issuer)):
                if all(attribute.oid in LETTERS for attribute in name):
                    seen[buffer] += 1
                    assert (reading.one(direction, buffer) or b"").decode() == written(name)
                else:
                    seen[f"{buffer} with other attributes"] += 1
    print(dict(seen))
    assert seen["subject"] > 40 and seen["issuer"] > 40


def asked_names(message):
    """Names of a query as Scapy reads them, or None where it gives up."""
    try:
        query = DNS(message)
        return [record.qname.removesuffix(b".") for record in query.qd] if query.qr == 0 else None
    except Exception:  # Scapy's own, on malformed messages
        return None


@pytest.mark.parametrize("protocol", [UDP, TCP])
def test_names_equal_scapys(protocol):
    seen = Counter()
    for path, flow, reading in all_flows():
        if flow.protocol != protocol or flow.server[1] != DNS_PORT or reading.protocol != "dns":
            continue
        messages = [data for direction, data in flow.pieces if direction == 0]
        if protocol == TCP:
            messages = list(messages_of(flow.text(0)))
        names = [asked_names(message) for message in messages]
        if None in names:
            seen["Scapy gave up"] += 1
            continue
        expected = [name for of_query in names for name in of_query]
        if any(len(name) > NAME_BYTES_MAX for name in reading.values[0, "dns.query"]):
            seen["names that loop"] += 1
            continue
        seen["flows"] += 1
        assert reading.values[0, "dns.query"] == expected, path.name
    print(dict(seen))
    assert seen["flows"] > (5 if protocol == TCP else 300)


def messages_of(text):
    while len(text) >= 2:
        end = 2 + int.from_bytes(text[:2])
        if len(text) >= end:
            yield text[2:end]
        text = text[end:]


def test_versions_of_ssh_are_the_first_lines():
    seen = Counter()
    for path, flow, reading in all_flows():
        if flow.protocol != TCP:
            continue
        for direction in (0, 1):
            line = re.match(rb"SSH-([^-\r\n]*)-([^ \r\n]*)[^\n]*\n", flow.text(direction))
            if line:
                seen["lines"] += 1
                assert reading.protocol == "ssh", path.name
                assert reading.one(direction, "ssh.proto") == line[1]
                assert (reading.one(direction, "ssh.software") or b"") == line[2]
    print(dict(seen))
    assert seen["lines"] > 20
