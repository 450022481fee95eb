# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Datagrams that Scapy cuts, repeats and puts into tunnels: ids tells of those with the word."""

import json
import random
import subprocess

from scapy.contrib.geneve import GENEVE
from scapy.contrib.mpls import MPLS
from scapy.contrib.nsh import NSH
from scapy.layers.inet import IP, TCP, UDP, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, fragment6
from scapy.layers.l2 import GRE, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Raw
from scapy.utils import wrpcap

from captures import BUILD

WORD = b"the-word-across"
RULES = f"""
drop udp any any -> any 53 (msg:"datagram"; content:"{WORD.decode()}"; sid:1;)
alert tcp any any -> any 80 (msg:"stream"; flow:established,to_server; \
  content:"{WORD.decode()}"; sid:2;)
"""
DATAGRAMS = 240
CONNECTIONS = 40
LONGEST = 1500  # bytes of a packet in one piece: a capture's longer frames are not looked at
V4 = dict(src="10.1.0.5", dst="192.0.2.9")
V6 = dict(src="2001:db8::5", dst="2001:db8:1::9")
OUTER4 = dict(src="203.0.113.1", dst="203.0.113.2")
OUTER6 = dict(src="2001:db8:ffff::1", dst="2001:db8:ffff::2")
MACS = dict(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")


def wrapped(packet, kind, random_):
    """The packet of IP in a tunnel, as a packet of IP or a frame."""
    if kind == "none":
        return packet
    outer4 = IP(id=random_.getrandbits(16), **OUTER4)
    if kind == "ip4":
        return outer4 / packet
    if kind == "ip6":
        return IPv6(**OUTER6) / packet
    if kind == "gre":
        return outer4 / GRE(key_present=1, key=7, seqnum_present=1) / packet
    if kind == "gre6-ethernet":
        return IPv6(**OUTER6) / GRE() / Ether(**MACS) / packet
    if kind == "vxlan":
        return outer4 / UDP(sport=50000, dport=4789) / VXLAN(vni=5) / Ether(**MACS) / packet
    if kind == "geneve":
        return (IPv6(**OUTER6) / UDP(sport=50000, dport=6081) / GENEVE(vni=5) / Ether(**MACS) /
                Dot1Q(vlan=5) / packet)
    if kind == "mpls":
        return Ether(**MACS) / MPLS(label=5, s=0) / MPLS(label=6, s=1) / packet
    assert kind == "nsh"
    return Ether(**MACS) / NSH(nextproto=1 if IP in packet else 2) / packet


KINDS = ("none", "ip4", "ip6", "gre", "gre6-ethernet", "vxlan", "geneve", "mpls", "nsh")


def cut(packet, random_):
    """Its fragments in any order, some of them twice, none behind the one that completes it."""
    size = random_.choice((200, 576, 1280, 1400))
    if IPv6 in packet and packet.name == "IPv6":
        head = packet.copy()
        payload = head.payload
        head.remove_payload()
        parts = fragment6(head / IPv6ExtHdrFragment(id=random_.getrandbits(32)) / payload,
                          size + 100)
    else:
        parts = fragment(packet, fragsize=size // 8 * 8)
    # From bytes, so that lengths and checksums are made before.
    parts = [type(part)(bytes(part)) for part in parts]
    if random_.random() < 0.5:
        random_.shuffle(parts)
    if len(parts) > 1 and random_.random() < 0.3:
        parts.insert(0, random_.choice(parts[:-1]))
    return parts


def framed(packet):
    return packet if isinstance(packet, Ether) else Ether(**MACS) / packet


def is_ip(packet):
    return isinstance(packet, (IP, IPv6))


def frames_of(packet, random_, counts):
    """The packet in a tunnel, cut inside of it, outside, or neither."""
    kind = random_.choice(KINDS)
    counts[kind] = counts.get(kind, 0) + 1
    is_cut = len(packet) > LONGEST or random_.random() < 0.6
    inner = cut(packet, random_) if is_cut else [packet]
    frames = []
    for part in inner:
        outer = wrapped(part, kind, random_)
        cuts_outer = kind != "none" and is_ip(outer) and random_.random() < 0.3
        frames += [framed(one) for one in (cut(outer, random_) if cuts_outer else [outer])]
    return frames


def datagram(number, random_):
    """(packet, whether it has the word)."""
    at = random_.randrange(3000)
    word = WORD if random_.random() < 0.5 else bytes(reversed(WORD))
    data = (random_.randbytes(at).replace(b"t", b"u") + word).ljust(random_.randrange(60, 3500))
    transport = UDP(sport=10000 + number, dport=53) / Raw(data)
    if random_.random() < 0.5:
        return IP(id=number + 1, **V4) / transport, word == WORD
    options = IPv6ExtHdrDestOpt() if random_.random() < 0.3 else None
    packet = IPv6(**V6) / options / transport if options else IPv6(**V6) / transport
    return packet, word == WORD


def connection(number, random_, counts):
    """(frames, whether the client says the word) of a connection in tunnels."""
    port = 20000 + number
    word = WORD if random_.random() < 0.5 else bytes(reversed(WORD))
    text = random_.randbytes(random_.randrange(500)).replace(b"t", b"u") + word + b" and more"
    kind = random_.choice(KINDS)
    counts[kind] = counts.get(kind, 0) + 1
    there = dict(sport=port, dport=80, window=60000)
    back = dict(sport=80, dport=port, window=60000)
    turned = dict(src=V4["dst"], dst=V4["src"])
    packets = [IP(**V4) / TCP(flags="S", seq=999, **there),
               IP(**turned) / TCP(flags="SA", seq=4999, ack=1000, **back),
               IP(**V4) / TCP(flags="A", seq=1000, ack=5000, **there)]
    at = 0
    while at < len(text):
        size = random_.randrange(1, 200)
        packets.append(IP(id=number * 100 + len(packets), **V4) /
                       TCP(flags="A", seq=1000 + at, ack=5000, **there) /
                       Raw(text[at:at + size]))
        at += size
    frames = []
    for packet in packets:
        parts = [packet]
        if len(packet) > 120 and random_.random() < 0.3:
            parts = [IP(bytes(part)) for part in fragment(packet, fragsize=80)]
        frames += [framed(wrapped(part, kind, random_)) for part in parts]
    return frames, word == WORD


def test_datagrams_and_streams_are_found_however_they_are_cut_and_carried(tmp_path):
    random_ = random.Random(5)
    frames, wanted, counts = [], set(), {}
    for number in range(DATAGRAMS):
        packet, has_word = datagram(number, random_)
        frames += frames_of(packet, random_, counts)
        if has_word:
            wanted.add((1, 10000 + number))
    for number in range(CONNECTIONS):
        made, has_word = connection(number, random_, counts)
        frames += made
        if has_word:
            wanted.add((2, 20000 + number))
    (tmp_path / "own.rules").write_text(RULES)
    wrpcap(str(tmp_path / "made.pcap"), frames)
    command = [BUILD / "bin/millrace", "try", "flow,ids", "--json", "--pcap",
               tmp_path / "made.pcap", "--events", tmp_path / "events.json"]
    for setting in (f"rules={tmp_path / 'own.rules'}", "events=true"):
        command += ["--set", f"ids.{setting}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    events = [json.loads(line) for line in (tmp_path / "events.json").read_text().splitlines()]
    alerts = [(event["alert"]["signature_id"], event["src_port"]) for event in events
              if event["event_type"] == "alert"]
    print(f"{len(frames)} frames, {len(wanted)} with the word; {counts}")
    assert sorted(alerts) == sorted(wanted)
    assert json.loads(done.stdout)["dropped"].get("stream_conflict", 0) == 0
    assert min(counts[kind] for kind in KINDS) > DATAGRAMS // 30
