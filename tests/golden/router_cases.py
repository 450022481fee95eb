# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reads tests/golden/router-cases (README.md there has the format), and runs them against a
backend: KernelRouter here, MillraceRouter in router_millrace.py."""

import ast
import dataclasses
import os
import pathlib
import struct

from scapy.all import (ARP, ICMP, IP, TCP, UDP, Dot1Q, Dot3, Ether, ICMPv6DestUnreach,
                       ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA,
                       ICMPv6ND_RS, ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr,
                       ICMPv6NDOptUnknown, ICMPv6PacketTooBig, ICMPv6ParamProblem,
                       ICMPv6TimeExceeded, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                       IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, PadN, Raw, RouterAlert, conf)

import router_match
import router_match6
from router_hosts import Hosts, question
from router_match import Sent
from router_world import Cables, Host, World, ip as run_ip

FOLDER = pathlib.Path(__file__).resolve().parent / "router-cases"
FILES = sorted(path.stem for path in FOLDER.glob("*.cases"))
LAYERS = (ARP, ICMP, IP, TCP, UDP, Dot1Q, Dot3, Ether, ICMPv6DestUnreach, ICMPv6EchoReply,
          ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA, ICMPv6ND_RS,
          ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr, ICMPv6NDOptUnknown, ICMPv6PacketTooBig,
          ICMPv6ParamProblem, ICMPv6TimeExceeded, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
          IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, PadN, Raw, RouterAlert)
MATCHES = ("exactly", "forwarded", "error", "error6", "echo_reply", "fragments", "pieces",
           "tcp_reset", "arp_request", "either", "waited")
MATCHES6 = ("neighbour_advertisement", "neighbour_solicitation", "redirect6", "echo_reply6",
            "router_advertisement")


@dataclasses.dataclass
class Step:
    ins: list = dataclasses.field(default_factory=list)  # (port, frame)
    outs: list = dataclasses.field(default_factory=list)  # (port, Match)


@dataclasses.dataclass
class Case:
    name: str
    line: int
    steps: list = dataclasses.field(default_factory=list)
    sources: list = dataclasses.field(default_factory=list)  # what `rfc` lines say
    drops: list = dataclasses.field(default_factory=list)  # reasons that Millrace counts
    hosts: list = dataclasses.field(default_factory=list)  # they answer from now on
    differs: str = ""  # why Linux does otherwise
    ours: str = ""  # why Millrace does otherwise
    late: bool = False  # the router waits for something itself before it does this


# The words of expressions.

def data(size):
    """So many bytes, none like its neighbours."""
    return bytes((7 * number + number // 251) & 0xFF for number in range(size))


def v4(destination, source="10.1.0.5", **fields):
    return IP(src=source, dst=destination, **{"id": 0x1234, "ttl": 64, **fields})


def v6(destination, source="2001:db8:1::5", **fields):
    return IPv6(src=source, dst=destination, **{"hlim": 64, **fields})


def udp(size=20, **fields):
    return UDP(**{"sport": 4000, "dport": 53, **fields}) / Raw(data(size))


def echo(size=20, **fields):
    return ICMP(**{"type": 8, "id": 7, "seq": 1, **fields}) / Raw(data(size))


def echo6(size=20, **fields):
    return ICMPv6EchoRequest(**{"id": 7, "seq": 1, **fields, "data": data(size)})


def opt(text):
    """Options of an IPv4 header, as they stand there; Scapy pads them with zeros."""
    return [Raw(bytes.fromhex(text))]


def cut(frame, size):
    return bytes(frame)[:size]


def poke(frame, at, text):
    """The frame with these bytes (hex) in place of its own."""
    raw, new = bytes(frame), bytes.fromhex(text)
    return raw[:at] + new + raw[at + len(new):]


def words_of(world):
    """The names that expressions may use."""
    words = {layer.__name__: layer for layer in LAYERS}
    words |= {name: getattr(router_match, name) for name in MATCHES}
    words |= {name: getattr(router_match6, name) for name in MATCHES6}
    words |= {word.__name__: word for word in (data, v4, v6, udp, echo, echo6, opt, cut, poke)}
    for name, host in world.hosts.items():
        words[name] = Ether(src=host.mac, dst=world.ports[host.port].mac)
        words[name.upper()] = host.mac
    words |= {name.upper(): port.mac for name, port in world.ports.items()}
    words |= {f"{name.upper()}_LOCAL": port.local for name, port in world.ports.items()}
    return words | {"ALL": "ff:ff:ff:ff:ff:ff"}


class Reader:
    """One file of cases."""

    def __init__(self, path):
        self.path, self.world, self.cases, self.number = path, World(), [], 0
        lines = self.logical_lines(path.read_text(encoding="utf-8"))
        for self.number, line in lines:
            word, _, rest = line.partition(" ")
            try:
                getattr(self, f"read_{word}")(rest.strip())
            except Exception as error:
                raise ValueError(f"{path.name}:{self.number}: {line}: {error}") from error
        for case in self.cases:
            if not case.sources or not case.steps or not any(step.ins for step in case.steps):
                raise ValueError(f"{path.name}:{case.line}: '{case.name}' is not whole")

    @staticmethod
    def logical_lines(text):
        """Lines that begin with a blank go on the one before."""
        lines = []
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith(" ") and lines:
                lines[-1] = (lines[-1][0], f"{lines[-1][1]} {line.strip()}")
            elif line and not line.startswith("#"):
                lines.append((number, line.rstrip()))
        return lines

    def value(self, text):
        return eval(text, words_of(self.world))  # pylint: disable=eval-used

    def ports(self, text):
        """(port, value) of "PORT EXPRESSION"."""
        port, _, expression = text.partition(" ")
        if port not in self.world.ports:
            raise ValueError(f"no port '{port}'")
        return port, self.value(expression)

    # The world, before the first case.

    def read_mtu(self, text):
        port, mtu = text.split()
        self.world.ports[port].mtu = int(mtu)

    def read_route(self, text):
        prefix, port, gateway = text.replace(" via ", " ").split()
        self.world.routes.append((prefix, port, gateway))

    def read_proxy_arp(self, text):
        self.world.proxy_arp += text.split()

    def read_advertise(self, text):
        self.world.advertise += text.split()

    # Cases.

    def read_case(self, text):
        if any(case.name == text for case in self.cases):
            raise ValueError("a name twice")
        self.cases.append(Case(text, self.number))

    def read_rfc(self, text):
        self.cases[-1].sources.append(text)

    def read_host(self, text):
        port, mac, *ips = text.split()
        self.cases[-1].hosts.append(Host(port, mac, tuple(ips)))

    def read_in(self, text):
        case = self.cases[-1]
        if not case.steps or case.steps[-1].outs or getattr(case.steps[-1], "closed", False):
            case.steps.append(Step())
        port, frames = self.ports(text)
        for frame in frames if isinstance(frames, list) else [frames]:
            case.steps[-1].ins.append((port, bytes(frame)))

    def read_out(self, text):
        if text == "nothing":
            self.cases[-1].steps[-1].closed = True
            return
        port, match = self.ports(text)
        if not isinstance(match, router_match.Match):
            match = router_match.exactly(match)
        self.cases[-1].steps[-1].outs.append((port, match))

    def read_drop(self, text):
        self.cases[-1].drops.append(text)

    def read_late(self, _):
        self.cases[-1].late = True

    def read_linux(self, text):
        word, _, why = text.partition(" ")
        if word not in ("same", "differs") or (word == "differs") != bool(why):
            raise ValueError("same, or differs and why")
        self.cases[-1].differs = ast.literal_eval(why) if why else ""

    def read_millrace(self, text):
        word, _, why = text.partition(" ")
        if word != "differs" or not why:
            raise ValueError("differs and why")
        self.cases[-1].ours = ast.literal_eval(why)


def read_cases(name):
    """(world, cases) of a file."""
    conf.verb = 0
    reader = Reader(FOLDER / f"{name}.cases")
    return reader.world, reader.cases


# What came out against what has to.

def without_repeats(outputs):
    """A question for a neighbour may be asked again."""
    kept = []
    for port, frame in outputs:
        if question(frame) is None or (port, frame) not in kept:
            kept.append((port, frame))
    return kept


def related(frames):
    """Frames of one packet: of the same addresses, protocol and identification."""
    groups = {}
    for frame in frames:
        key = frame[:14], frame[18:20] + frame[23:24] + frame[26:34] \
            if frame[12:14] == b"\x08\x00" else frame[22:54]
        groups.setdefault(key, []).append(frame)
    return groups.values()


def verdict(match, frames, sent):
    """What is wrong with these frames; what Scapy cannot even read is wrong, too."""
    try:
        return match.check(frames if match.group else frames[0], sent)
    except (struct.error, ValueError, IndexError, TypeError, AttributeError) as error:
        return f"not to be read: {error!r}"


def compare(step, outputs, world, before=()):
    """What is wrong with what came out: a list of texts."""
    left, wrong = without_repeats(outputs), []
    usual = {host.port: host.mac for host in reversed(world.hosts.values())}
    for port, match in step.outs:
        sent = Sent([frame for _, frame in step.ins], list(before), world.ports[port],
                    usual[port])
        here = [frame for at, frame in left if at == port]
        candidates = related(here) if match.group else [[frame] for frame in here]
        reasons = []
        for frames in candidates:
            reason = verdict(match, frames, sent)
            if not reason:
                for frame in frames:
                    left.remove((port, frame))
                break
            reasons.append(reason)
        else:
            wrong.append(f"out {port} {match.name}: " + ("; ".join(reasons) or "nothing"))
    return wrong + [f"not expected at {port}: {Ether(frame).summary()} {frame.hex()}"
                    for port, frame in left]


def run_case(case, hosts, world):
    """What is wrong with what came out in all steps; [] when it is as the case says."""
    for host in case.hosts:
        hosts.neighbours |= World(hosts={"": host}).neighbours()
    wrong, before = [], []
    for step in case.steps:
        def done(outputs, step=step):
            return not compare(step, outputs, world, before)

        try:
            outputs = hosts.step(step.ins, done if case.late else None)
        except TimeoutError as error:
            wrong.append(str(error))
            outputs = hosts.outputs()
        wrong += compare(step, outputs, world, before)
        before += [frame for _, frame in step.ins]
    return wrong


class KernelRouter:
    """`with KernelRouter(world) as router:` the kernel forwards; `router.hosts` plays the hosts."""

    SETTINGS = {"ipv4/ip_forward": 1, "ipv6/conf/all/forwarding": 1,
                "ipv4/icmp_ratelimit": 0, "ipv4/icmp_ratemask": 0, "ipv6/icmp/ratelimit": 0,
                "ipv4/conf/all/rp_filter": 0, "ipv4/conf/default/rp_filter": 0,
                # Of several next hops by ports too.
                "ipv4/fib_multipath_hash_policy": 1, "ipv6/fib_multipath_hash_policy": 1,
                # Redirects as in RFC 1812 5.2.7.2, not 1620.
                "ipv4/conf/all/shared_media": 0}
    # Quick to give a neighbour up, quick to believe one.
    OF_PORTS = {"ipv4/neigh/{}/retrans_time_ms": 60, "ipv6/neigh/{}/retrans_time_ms": 60,
                "ipv4/neigh/{}/locktime": 0, "ipv6/neigh/{}/locktime": 0,
                "ipv4/conf/{}/rp_filter": 0, "ipv4/conf/{}/send_redirects": 1,
                "ipv4/conf/{}/shared_media": 0}

    def __init__(self, world):
        self.world, self.cables, self.hosts = world, Cables(world), None
        self.processors = os.sched_getaffinity(0)

    def __enter__(self):
        self.cables.__enter__()
        try:
            self.lay()
            # What is sent on one processor is forwarded there, one after the other.
            os.sched_setaffinity(0, {min(self.processors)})
            self.hosts = Hosts(self.world, self.cables.peers)
            self.hosts.greet()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def lay(self):
        where, settings = self.cables.namespace, dict(self.SETTINGS)
        for name, port in self.world.ports.items():
            settings |= {key.format(name): value for key, value in self.OF_PORTS.items()
                         if not (key.startswith("ipv6") and len(port.families()) == 1)}
            if name in self.world.proxy_arp:
                settings |= {f"ipv4/conf/{name}/proxy_arp": 1, f"ipv4/neigh/{name}/proxy_delay": 0}
            for address in port.families():
                how = ("nodad",) if ":" in address else ()
                run_ip("address", "add", address, "dev", name, *how, namespace=where)
        self.cables.write(settings)
        for prefix, port, gateway in self.world.families():
            if port:
                run_ip("route", "add", prefix, "via", gateway, "dev", port, namespace=where)
            else:
                run_ip("route", "add", "unreachable", prefix, namespace=where)
        for prefix, hops in self.world.groups:
            run_ip("route", "add", prefix, *(word for port, gateway, weight in hops for word in
                                             ("nexthop", "via", gateway, "dev", port, "weight",
                                              weight)), namespace=where)

    def __exit__(self, kind, error, trace):
        os.sched_setaffinity(0, self.processors)
        self.cables.__exit__(kind, error, trace)
