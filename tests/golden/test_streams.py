# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Files of `streams` over captures, byte for byte: against what PcapPlusPlus and Zeek have
published of them, and against a slow reading of each capture (stream_oracle.py)."""

import json
import re
import subprocess

import pytest

from capture_records import packets_of
from captures import BUILD, unpack, write_capture
from stream_oracle import connections_of, files_of

RAW_IP = (12, 101, 228, 229)
# Capture: what PcapPlusPlus has put together of its connections.
PUBLISHED = {
    "one_tcp_stream.pcap": ["one_tcp_stream_output.txt"],
    "one_tcp_stream_max_seq.pcap": ["one_tcp_stream_output.txt"],
    "variant_no_syn.pcap": ["one_tcp_stream_output.txt"],
    "variant_retransmission.pcap": ["one_tcp_stream_retransmission_output.txt"],
    "variant_out_of_order.pcap": ["one_tcp_stream_out_of_order_output.txt"],
    "one_http_stream_fin.pcap": ["one_http_stream_fin_output.txt"],
    "one_http_stream_fin2.pcap": ["one_http_stream_fin2_output.txt"],
    "one_http_stream_rst.pcap": ["one_http_stream_rst_output.txt"],
    "three_http_streams.pcap": [f"three_http_streams_conn_{n}_output.txt" for n in (1, 2, 3)],
    "one_ipv6_http_stream.pcap": ["one_ipv6_http_stream.txt"],
    "variant_ipv6_out_of_order.pcap": ["one_ipv6_http_stream.txt"],
    # Of the fourth of its connections nothing is published.
    "four_ipv6_http_streams.pcap": [f"one_ipv6_http_stream{n}.txt" for n in (2, 3, 4)],
}
UNPUBLISHED = {"four_ipv6_http_streams.pcap": 1}  # connections


def written(capture, folder, *settings):
    """{name: (bytes, missing)} of the files that `millrace try` writes."""
    if packets_of(capture)[0] != 1:
        capture = write_capture(folder.parent / "with-headers.pcap", frames_of(capture))
    done = subprocess.run(
        [BUILD / "bin/millrace", "try", "flow,streams", "--json", "--pcap", capture, "--mtu",
         "65000", "--set", f"streams.folder={folder}", "--set", "streams.checksums=trust",
         "--set", "flow.liberal=true", "--set", "max=100000", *settings],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, (capture, done.stderr)
    index = folder / "connections.jsonl"
    lines = map(json.loads, index.read_text().splitlines()) if index.exists() else ()
    missing = {file["file"]: file["missing_bytes"] for line in lines for file in line["streams"]}
    return {name: ((folder / name).read_bytes(), missing[name]) for name in missing}


def unix_lines(text):
    return text.replace(b"\r\n", b"\n")


def frames_of(capture):
    """Of Ethernet, and of IP alone, which gets a header."""
    link_type, packets = packets_of(capture)
    if link_type == 1:
        return [packet[0] for packet in packets]
    assert link_type in RAW_IP, (capture, link_type)
    return [bytes(12) + (b"\x08\x00" if packet[0][:1] < b"\x50" else b"\x86\xdd") + packet[0]
            for packet in packets if packet[0]]


@pytest.mark.parametrize("name", PUBLISHED)
def test_files_are_what_pcapplusplus_has_published(name, tmp_path):
    folder = unpack("pcap") / "reassembly-pcapplusplus"
    connections = connections_of(frames_of(folder / name))
    wanted = [(folder / text).read_bytes() for text in PUBLISHED[name]]
    # The oracle's own proof: both directions in the order in which they could be read.
    read = [b"".join(data for _, data in one.order) for one in connections if one.order]
    assert len(read) == len(wanted) + UNPUBLISHED.get(name, 0)
    assert {unix_lines(text) for text in wanted} <= {unix_lines(text) for text in read}
    assert written(folder / name, tmp_path / "out") == files_of(connections)


# Capture: what PcapPlusPlus has of it, where bytes are missing: a text says how many.
PUBLISHED_WITH_HOLES = {
    "variant_missing_data.pcap": "one_tcp_stream_missing_data_output.txt",
    "variant_ooo_missing.pcap": "one_tcp_stream_missing_data_output_ooo.txt",
}


@pytest.mark.parametrize("name", PUBLISHED_WITH_HOLES)
def test_files_have_zeros_where_pcapplusplus_says_what_is_missing(name, tmp_path):
    folder = unpack("pcap") / "reassembly-pcapplusplus"
    text = (folder / PUBLISHED_WITH_HOLES[name]).read_bytes()
    files = written(folder / name, tmp_path / "out")
    assert files == files_of(connections_of(frames_of(folder / name)))
    holes = [int(number) for number in re.findall(rb"\[(\d+) bytes missing\]", text)]
    assert sum(missing for _, missing in files.values()) == sum(holes)


# Captures of which the oracle's reading is another one: why.
DIFFERS = {
    "bigtransfer.pcap": "its numbers go round within a hole: see the test of Zeek's count",
    "tunnel-direct-bypass.pcap": "one of its connections goes through a tunnel",
    "kday4.pcap": "its clock jumps by years, which ends flows",
    "smb_data_print-segv.pcap": "its clock jumps by years, which ends flows",
    "ndpi_match_string_subprotocol__error.pcapng":
        "a connection ends, and an hour later the answer to a SYN that is not there begins another",
}


@pytest.mark.parametrize("part, least", (("reassembly-pcapplusplus", 10), ("zeek", 10),
                                         ("suricata-verify", 300), ("ndpi", 100),
                                         ("tcpdump", 20)))
def test_files_are_those_of_a_slow_reading(part, least, tmp_path):
    count = 0
    for path in sorted((unpack("pcap") / part).rglob("*")):
        if not path.is_file() or packets_of(path)[0] not in (1, *RAW_IP) or path.name in DIFFERS:
            continue
        wanted = files_of(connections_of(frames_of(path)))
        if not wanted:
            continue
        count += 1
        (tmp_path / str(count)).mkdir()
        got = written(path, tmp_path / str(count) / "out")
        assert got.keys() == wanted.keys(), path
        for name, file in wanted.items():
            assert got[name] == file, (path, name)
    assert count >= least


def test_holes_of_gigabytes_are_as_long_as_zeek_says(tmp_path):
    capture = unpack("pcap") / "zeek/Traces/ftp/bigtransfer.pcap"
    log = unpack("pcap") / "zeek/Baseline/core.tcp.large-file-reassembly/conn.log"
    row = next(line.split("\t") for line in log.read_text().splitlines() if "59764" in line)
    folder = tmp_path / "out"
    subprocess.run([BUILD / "bin/millrace", "try", "flow,streams", "--pcap", capture, "--mtu",
                    "65000", "--set",
                    f"streams.folder={folder}", "--set", "streams.checksums=trust", "--set",
                    "flow.liberal=true"], check=True, capture_output=True)
    lines = map(json.loads, (folder / "connections.jsonl").read_text().splitlines())
    files = {file["file"]: file for line in lines for file in line["streams"]}
    file = files["192.168.56.101.37150-192.168.56.1.59764"]
    assert (str(file["bytes"]), str(file["missing_bytes"])) == (row[10], row[14])
