# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The metrics of ports and paths beside what others counted: tcpdump on both hosts, and iperf3."""

import contextlib

import metrics
import pytest

from processes import PATIENCE, wait_until
from wire import Wire


def watched(wire, device):
    """A bump in the wire with a path of its own for UDP, of which one port is blocked."""
    return f"""
ports:
  a: {{ device: {device}, interface: {wire.port_a} }}
  b: {{ device: {device}, interface: {wire.port_b} }}
functions:
  block: {{ type: acl, rules: block.rules }}
paths:
  datagrams: {{ from: [a, b], match: udp, run: [block] }}
  rest:      {{ from: [a, b] }}
"""


MARK = b"MARKED" * 4


@contextlib.contextmanager
def captured(host, file, way):
    """What goes `way` (in, out) through the host's cable meanwhile, as tcpdump writes it."""
    words = ("tcpdump", "-i", "eth", "-Q", way, "-U", "-B", "65536", "-s", "96", "-w", file)
    child = host.start(*words, "--immediate-mode")
    wait_until(lambda: file.exists() and file.stat().st_size >= 24, PATIENCE,
               "tcpdump listens: the file has its header")
    try:
        yield
        wait_until(lambda: MARK in file.read_bytes(), PATIENCE, "tcpdump has read all")
    finally:
        child.terminate()
        child.wait()


def scraped(wire, running):
    """The metrics, as seen in the namespace of the ports: there telemetry listens."""
    url = f"http://{metrics.address_of(running.run_dir)}/metrics"
    return metrics.Metrics(wire.in_middle("curl", "-sS", url).stdout)


def packets_in(file):
    """(length on the wire, first bytes) of each packet of a capture before the mark."""
    text, at, packets = file.read_bytes(), 24, []
    while at < len(text):
        kept, length = (int.from_bytes(text[at + field:at + field + 4], "little")
                        for field in (8, 12))
        frame = text[at + 16:at + 16 + kept]
        if MARK in frame:
            break
        packets.append((length, frame))
        at += 16 + kept
    return packets


def is_udp(frame):
    return frame[12:14] == b"\x08\x00" and frame[23] == 17


def flow_of(frame):
    """The ports of a datagram, whichever way it goes."""
    return frozenset((frame[34:36], frame[36:38]))


@pytest.mark.parametrize("device", ["afpacket"])
def test_ports_and_paths_count_what_tcpdump_and_iperf3_count(tmp_path, device):
    (tmp_path / "block.rules").write_text("drop udp any -> any port 9\n")
    files = {name: tmp_path / f"{name}.pcap" for name in ("a-out", "a-in", "b-out", "b-in")}
    with Wire() as wire:
        # Or kernels say something of their own.
        for run in (wire.a.run, wire.b.run, wire.in_middle):
            run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
        wire.a.neighbour(wire.b.ip, wire.b.mac)
        wire.b.neighbour(wire.a.ip, wire.a.mac)
        with wire.between(tmp_path, watched(wire, device)) as running:
            wire.a.wait_for(wire.b.ip)
            before_audit = running.settle()
            before = scraped(wire, running)
            with contextlib.ExitStack() as watchers:
                for name, file in files.items():
                    watchers.enter_context(captured(getattr(wire, name[0]), file, name[2:]))
                wire.a.ping(wire.b.ip, count=5)
                sums = wire.iperf("-u", "-b", "10M", "-l", "1000", amount="1M")["sum"]
                blocked = wire.a.run("bash", "-c", "for i in 1 2 3 4 5 6 7; do "
                                     f"echo $i >/dev/udp/{wire.b.ip}/9; done")
                assert not blocked.stderr
                audit = running.settle()
                found = scraped(wire, running)
                # A ping and its answer pass each of the files, behind all that was counted.
                wire.a.ping(wire.b.ip, "-p", MARK[:6].hex(), count=1)
        seen = {name: packets_in(file) for name, file in files.items()}

    def moved(metric, **labels):
        return found.total(metric, **labels) - before.total(metric, **labels)

    for port in "ab":
        received = moved("millrace_port_received_packets_total", port=port)
        sent = moved("millrace_port_transmitted_packets_total", port=port)
        assert received == len(seen[f"{port}-out"]) > 0
        assert sent == len(seen[f"{port}-in"]) > 0
        wire_bytes = moved("millrace_port_received_bytes_total", port=port)
        assert wire_bytes == sum(length for length, _ in seen[f"{port}-out"])
    datagrams = [frame for name in ("a-out", "b-out") for _, frame in seen[name]
                 if is_udp(frame)]
    path = found.by("verdict", "millrace_path_packets_total", path="datagrams")
    earlier = before.by("verdict", "millrace_path_packets_total", path="datagrams")
    assert sum(path.values()) - sum(earlier.values()) == len(datagrams)
    assert sum(frame[36:38] == b"\0\x09" for frame in datagrams) == 7
    # iperf3 says hello by a datagram each way, beside those that it counts. One that is lost ends
    # its run, and the last one, from another port, is whole.
    assert sums["packets"] > 100
    last = flow_of([frame for frame in datagrams if frame[36:38] != b"\0\x09"][-1])
    assert sum(flow_of(frame) == last for frame in datagrams) == sums["packets"] + 2
    assert moved("millrace_drops_total", reason="rule") == 7
    assert audit["dropped"].get("rule", 0) - before_audit["dropped"].get("rule", 0) == 7
