# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""inspect finds words that lie across segments, in captures of which others have published what the
reassembled stream is (PcapPlusPlus)."""

import json
import subprocess

import pytest

from capture_records import packets_of
from captures import BUILD, unpack

HALF = 6  # bytes of a word on each side of a boundary
WORDS = 4  # of a capture
STREAMS = {
    "one_tcp_stream": "one_tcp_stream_output",
    "one_tcp_stream_max_seq": "one_tcp_stream_output",
    "variant_no_syn": "one_tcp_stream_output",
    "variant_retransmission": "one_tcp_stream_retransmission_output",
    "variant_out_of_order": "one_tcp_stream_out_of_order_output",
}


def payload_of(frame):
    """(ports, sequence, data) of a TCP packet over IPv4 without VLAN tags, or None."""
    ip = frame[14:]
    if frame[12:14] != b"\x08\x00" or ip[9] != 6:
        return None
    tcp = ip[(ip[0] & 15) * 4:int.from_bytes(ip[2:4])]
    return tcp[:4], int.from_bytes(tcp[4:8]), tcp[(tcp[12] >> 4) * 4:]


def words_across_segments(capture, stream):
    """Pieces of the stream that no packet holds."""
    segments = [found for packet in packets_of(capture)[1] if (found := payload_of(packet[0]))]
    begins = {(ports, sequence): data for ports, sequence, data in segments}
    words = []
    for ports, sequence, data in segments:
        behind = begins.get((ports, (sequence + len(data)) % 2**32), b"")
        word = data[-HALF:] + behind[:HALF]
        if len(data) >= HALF and len(behind) >= HALF and word in stream and word not in words:
            if not any(word in other for _, _, other in segments):
                words.append(word)
    return words[::max(1, len(words) // WORDS)][:WORDS]


@pytest.mark.parametrize("name", STREAMS)
def test_words_across_segments_are_found(name, tmp_path):
    folder = unpack("pcap") / "reassembly-pcapplusplus"
    capture = folder / f"{name}.pcap"
    words = words_across_segments(capture, (folder / f"{STREAMS[name]}.txt").read_bytes())
    assert words
    rules = tmp_path / "words.rules"
    for word in words:
        rules.write_text(f'drop "|{word.hex(" ")}|"\n')
        for function, found in (("match", False), ("flow,inspect", True)):
            last = function.split(",")[-1]
            more = ["--set", "inspect.checksums=trust"] if found else []
            done = subprocess.run(
                [BUILD / "bin/millrace", "try", function, "--json", "--pcap", capture, "--set",
                 f"{last}.rules={rules}", *more], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert ("rule" in json.loads(done.stdout)["dropped"]) == found, (function, word)
