# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reads tests/golden/flow-cases (README.md there has the format), and plays them side by side: the
first packet of all cases, then the second of all. So many cases need one router, and no waiting."""

import ast
import collections
import contextlib
import dataclasses
import pathlib
import struct
import subprocess

import pytest
from scapy.all import conf

from flow_frames import Frames
from router_cases import KernelRouter
from router_world import World

FOLDER = pathlib.Path(__file__).resolve().parent / "flow-cases"
FILES = sorted(path.stem for path in FOLDER.glob("*.cases"))
AT_ONCE = 64  # frames between two looks at what came out
# Settings of the kernel's conntrack.
# Millrace has its own for them (flow_millrace.py).
POLICIES = {"": {}, "strict": {"netfilter/nf_conntrack_tcp_loose": 0},
            "liberal": {"netfilter/nf_conntrack_tcp_be_liberal": 1}}
# Seconds of all time-outs: no case waits for one, and a host that stands still between two packets
# of a case ends no flow.
LASTING = 7200
TIMES = ("tcp_syn_sent", "tcp_syn_recv", "tcp_fin_wait", "tcp_close_wait", "tcp_last_ack",
         "tcp_time_wait", "tcp_close", "tcp_unacknowledged", "tcp_max_retrans", "udp", "udp_stream",
         "icmp", "icmpv6", "generic")
RULES = """
table inet filter {
  chain first { type filter hook prerouting priority raw
    udp sport 9 udp dport 9 notrack  # markers of the test
  }
  chain forward { type filter hook forward priority filter; policy drop
    udp sport 9 udp dport 9 accept
    meta l4proto ipv6-icmp ct state untracked accept  # discovery of neighbours
    ct state invalid drop
    ct state established,related accept
    iifname lan ct state new accept
  }
}
"""


@dataclasses.dataclass
class Packet:
    line: int
    direction: str  # ">" from the inside, "<" from the outside
    text: str
    passes: bool


@dataclasses.dataclass
class Case:
    name: str
    line: int
    file: str = ""
    packets: list = dataclasses.field(default_factory=list)
    families: tuple = (4, 6)
    policy: str = ""  # "", "strict" or "liberal"
    differs: str = ""  # why Linux does otherwise
    ours: str = ""  # why Millrace does otherwise


def read_file(path):
    cases, policy = [], ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        word, _, rest = line.partition(" ")
        if not line or word == "#":
            continue
        if word == "case":
            assert rest not in [case.name for case in cases], f"{path.name}:{number}: name twice"
            cases.append(Case(rest, number, path.name, policy=policy))
            continue
        if word == "policy":
            assert not cases and rest in POLICIES, f"{path.name}:{number}: {line}"
            policy = rest
            continue
        case = cases[-1]
        if word in ("<", ">"):
            text, _, verdict = rest.rpartition(" = ")
            assert verdict in ("pass", "drop"), f"{path.name}:{number}: pass or drop"
            case.packets.append(Packet(number, word, text, verdict == "pass"))
        elif word == "family":
            case.families = (int(rest),)
        elif word in ("linux", "millrace") and rest.startswith("differs "):
            why = ast.literal_eval(rest.partition(" ")[2])
            setattr(case, "differs" if word == "linux" else "ours", why)
        else:
            raise ValueError(f"{path.name}:{number}: {line}")
    return cases


def read_cases():
    conf.verb = 0
    return [case for name in FILES for case in read_file(FOLDER / f"{name}.cases")]


def key_of(frame):
    """What make() has put into the packet, and the other end of it: it is found by that."""
    if frame[12:14] == b"\x08\x00":
        return 4, frame[26:34], struct.unpack(">H", frame[18:20])[0]
    if frame[12:14] == b"\x86\xdd":
        return 6, frame[22:54], struct.unpack(">I", frame[14:18])[0] & 0xFFFFF
    return None


class Play:
    """One case in one family."""

    def __init__(self, case, family, number, world):
        self.case, self.family, self.number = case, family, number
        self.frames, self.wrong = Frames(number, family, world), []

    def send(self, at):
        """[(port, frame)] of its packet."""
        packet = self.case.packets[at]
        try:
            key = 1 + at + 40 * (self.number % 1600)
            frames = self.frames.make(packet.direction, packet.text, key)
        except Exception as error:
            raise ValueError(f"{self.case.file}:{packet.line}: {packet.text}: {error}") from error
        return [("lan" if packet.direction == ">" else "wan", frame) for frame in frames]

    def judge(self, at, sent, came):
        """`sent`: of send(); `came`: how many frames of each port and key have come out."""
        packet = self.case.packets[at]
        out = "wan" if packet.direction == ">" else "lan"
        count = came[out, key_of(sent[0][1])]
        if count != (len(sent) if packet.passes else 0):
            what = {0: "is dropped", len(sent): "passes"}.get(count, "passes in part")
            self.wrong.append(f"{packet.line}: {packet.direction} {packet.text}: {what}")


def play(cases, hosts, world):
    """[Play] of all, with what was otherwise than the case says."""
    plays = []
    for case in cases:
        for family in case.families:
            plays.append(Play(case, family, len(plays), world))
    for at in range(max(len(case.packets) for case in cases)):
        here = [one for one in plays if at < len(one.case.packets)]
        for first in range(0, len(here), AT_ONCE):
            some = [(one, one.send(at)) for one in here[first:first + AT_ONCE]]
            came = collections.Counter(
                (port, key_of(frame)) for port, frame in
                hosts.step([frame for _, frames in some for frame in frames]))
            for one, frames in some:
                one.judge(at, frames, came)
    return plays


def kernels_name(time):
    protocol, _, state = time.partition("_")
    return f"netfilter/nf_conntrack_{protocol}_timeout" + (f"_{state}" if state else "")


@contextlib.contextmanager
def kernel_filter(policy=""):
    """A kernel that routes and filters by its connections."""
    with KernelRouter(World()) as router:
        router.cables.write(POLICIES[policy] | dict.fromkeys(map(kernels_name, TIMES), LASTING))
        load_rules(router.cables)
        yield router


def load_rules(cables):
    """Into that namespace; what `nft -j list ruleset` says of them."""
    done = subprocess.run([*cables.prefix, "nft", "-f", "-"], input=RULES, text=True,
                          capture_output=True, check=False)
    if "not supported" in done.stderr:
        pytest.skip(f"this kernel follows no connections: {done.stderr}")
    assert done.returncode == 0, done.stderr
    return subprocess.run([*cables.prefix, "nft", "-j", "list", "ruleset"], text=True,
                          capture_output=True, check=True).stdout


def failures(plays, reason):
    """Lines about the plays that are otherwise than their case says; `reason(case)`: it must be."""
    lines = []
    for one in plays:
        where = f"{one.case.file}:{one.case.line}: {one.case.name} (IPv{one.family})"
        if reason(one.case):
            if not one.wrong:
                lines.append(f"{where}: the same, though it differs: {reason(one.case)}")
        elif one.wrong:
            lines.append(where + "\n     " + "\n     ".join(one.wrong))
    return lines
