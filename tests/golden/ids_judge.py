# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Which flows a rule matches: what must be told, and what may be. Shares no code with the path.

What depends on how a stream is cut, or on what follows it, may be told or not.
"""

import bisect
import functools
import hashlib
import ipaddress
import itertools
import re
import urllib.parse
from collections import defaultdict
from dataclasses import dataclass, field

from ids_flows import ACK, ICMP, ICMPV6, SYN, TCP, UDP
from ids_rule import PAYLOAD
from ids_rule_tests import Content, IsDataAt, Pcre, Size, bits_pass, holds

# As `ids` has them, which are Suricata's.
VARIABLES = {"HOME_NET": "[192.168.0.0/16,10.0.0.0/8,172.16.0.0/12]", "EXTERNAL_NET": "!$HOME_NET",
             **dict.fromkeys(("HTTP_SERVERS", "SMTP_SERVERS", "SQL_SERVERS", "DNS_SERVERS",
                              "TELNET_SERVERS", "SIP_SERVERS", "SSH_SERVERS", "FTP_SERVERS"),
                             "$HOME_NET"),
             "AIM_SERVERS": "$EXTERNAL_NET", "HTTP_PORTS": "80", "SHELLCODE_PORTS": "!80",
             "ORACLE_PORTS": "1521", "SSH_PORTS": "22", "SIP_PORTS": "[5060,5061,5600]",
             "FILE_DATA_PORTS": "[$HTTP_PORTS,110,143]", "MAIL_PORTS": "[25,110,143]",
             "FTP_PORTS": "21"}


@dataclass
class Verdict:
    """Numbers of packets with which the rule matches."""

    must: list = field(default_factory=list)
    may: list = field(default_factory=list)


def split_top(text):
    """The items of a list; brackets within stay whole."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def is_in(text, fits):
    """True if the list holds what fits(word) is about."""
    text = text.strip()
    if text.startswith("!"):
        return not is_in(text[1:], fits)
    if text.startswith("$"):
        return is_in(VARIABLES[text[1:]], fits)
    if not text.startswith("["):
        return text == "any" or fits(text)
    parts = split_top(text[1:-1])
    wanted = [part for part in parts if not part.startswith("!")]
    return (not wanted or any(is_in(part, fits) for part in wanted)) and all(
        is_in(part, fits) for part in parts if part.startswith("!"))


@functools.cache
def address_fits(text, address):
    return is_in(text, lambda word: address in ipaddress.ip_network(word, strict=False)
                 if "-" not in word else ipaddress.ip_address(word.split("-")[0]) <= address
                 <= ipaddress.ip_address(word.split("-")[1]))


@functools.cache
def port_fits(text, port):
    def fits(word):
        low, colon, high = word.partition(":")
        if not colon:
            return port == int(word)
        return int(low or 0) <= port <= int(high or 65535)
    return is_in(text, fits)


def use_variables(values):
    """From here on rules' variables have these values."""
    VARIABLES.update(values)
    address_fits.cache_clear()
    port_fits.cache_clear()


def ends_fit(rule, source, target):
    def one_way(source, target):
        return (port_fits(rule.source_ports, source[1]) and port_fits(rule.target_ports, target[1])
                and address_fits(rule.source, source[0]) and address_fits(rule.target, target[0]))
    return one_way(source, target) or (rule.both_ways and one_way(target, source))


def protocol_fits(rule, protocol):
    return {"ip": True, "udp": protocol == UDP, "icmp": protocol in (ICMP, ICMPV6),
            "dns": protocol in (TCP, UDP)}.get(rule.protocol, protocol == TCP)


def directions_of(rule, flow):
    return [direction for direction in (0, 1)
            if not (direction == 1 and "to_server" in rule.flow)
            and not (direction == 0 and "to_client" in rule.flow)
            and ends_fit(rule, *flow.side(direction))]


def literals_of(rule):
    """Contents without which the rule cannot match, the longest first."""
    words = [test.word.lower() for group in rule.groups if not group.transforms
             for test in group.tests if isinstance(test, Content) and not test.negated]
    return sorted(words, key=len, reverse=True)


def minds_the_end(tests):
    """More bytes, or none, can change what the tests say."""
    return any((isinstance(test, Content) and (test.negated or test.ends_with))
               or (isinstance(test, Pcre) and (test.negated or "$" in test.text or "(?" in test.text
                                               or "\\b" in test.text))
               or (isinstance(test, IsDataAt) and test.negated) or isinstance(test, Size)
               or getattr(getattr(test, "number", None), "base", None) is not None
               or "from_end" in getattr(test, "words", ()) for test in tests)


def has_place(rule):
    return any(isinstance(test, Content) and (test.starts or test.offset is not None
                                              or test.depth is not None)
               for group in rule.payloads for test in group.tests)


def transformed(data, names):
    for name in names:
        if name == "to_lowercase":
            data = data.lower()
        elif name == "to_uppercase":
            data = data.upper()
        elif name == "strip_whitespace":
            data = re.sub(rb"[ \t-\r]", b"", data)
        elif name == "compress_whitespace":
            data = re.sub(rb"([ \t-\r])[ \t-\r]+", rb"\1", data)
        elif name == "url_decode":
            data = urllib.parse.unquote_to_bytes(data.replace(b"+", b" "))
        elif name == "dotprefix":
            data = b"." + data
        else:
            data = hashlib.new(name[3:], data).digest()
    return data


def headers_pass(rule, packet):
    return all(name in packet.fields and test(packet.fields[name]) for name, test in rule.headers
               ) and all(name in packet.fields and bits_pass(how, bits, ignored,
                         packet.fields[name] & (0xE000 if name == "fragbits" else 0xFF))
                         for name, how, bits, ignored in rule.bits)


def state_fits(rule, flow, packet):
    """(must, may) of what `flow` asks for of the connection."""
    before = [one for one in flow.packets if one.number <= packet.number]
    seen = {one.direction for one in before}
    if flow.protocol == TCP:
        handshake = {one.direction for one in before if one.flags & SYN}
        established = handshake == {0, 1} and not packet.flags & SYN
        is_third = established and not any(one.flags & ACK and not one.flags & SYN
                                           for one in before[:-1])
    else:
        established, is_third = seen == {0, 1}, False
    if "established" in rule.flow:
        return established and not is_third, established
    if "not_established" in rule.flow:
        return not established, not established or is_third
    return True, True


def payload_holds(rule, data):
    return all(holds(group.tests, data) for group in rule.payloads)


def judge_packets(rule, flow, directions, verdict, is_sure=True):
    """Packets one by one."""
    for packet in flow.packets:
        if packet.direction not in directions or not headers_pass(rule, packet):
            continue
        if rule.payloads and (not packet.payload or not payload_holds(rule, packet.payload)):
            continue
        must, may = state_fits(rule, flow, packet)
        if must and is_sure:
            verdict.must.append(packet.number)
        if may:
            verdict.may.append(packet.number)


def judge_stream(rule, flow, direction, verdict):
    """What its receiver has read by each segment."""
    stream, cuts = flow.streams[direction], flow.cuts[direction]
    tests = [test for group in rule.payloads for test in group.tests]
    whole = payload_holds(rule, stream) if stream else False
    if not minds_the_end(tests):
        if whole:  # and with each longer begin
            first = next(number for number, end in cuts if payload_holds(rule, stream[:end]))
            verdict.must.append(first)
            verdict.may.append(first)
        return
    found = [number for number, end in cuts if payload_holds(rule, stream[:end])]
    verdict.may += found
    if whole and flow.is_whole and found == [number for number, _ in cuts][-len(found):]:
        verdict.must.append(found[0])


def values_of(message, group):
    values = message.values.get(group.buffer, ())
    return None if values is None else [transformed(value, group.transforms) for value in values]


def judge_messages(rule, flow, directions, verdict):
    """Transactions; None: what is asked for is not read."""
    if flow.messages is None:
        return None
    for message in flow.messages:
        if message.direction not in directions:
            continue
        found = True
        for group in rule.groups:
            if group.buffer == PAYLOAD:
                found = found and holds(group.tests, flow.streams[message.direction])
                continue
            values = values_of(message, group)
            if values is None:
                return None
            found = found and any(holds(group.tests, value) for value in values)
        if found:
            place = message.end
            if flow.protocol == TCP:
                place = next((number for number, end in flow.cuts[message.direction]
                              if end >= message.end), None)
            verdict.may.append(place)
            # The stream goes on behind the message, and the transaction's part of it is not told.
            if not rule.payloads or len(flow.cuts[message.direction]) == 1:
                verdict.must.append(place)
    return verdict


def judge_rule(rule, flow):
    """A Verdict without flowbits and thresholds, or None: not judged."""
    verdict = Verdict()
    if not protocol_fits(rule, flow.protocol):
        return verdict
    directions = directions_of(rule, flow)
    if not directions or (rule.app and flow.app not in (rule.app, None)):
        return verdict
    if rule.app and flow.app is None:
        return None
    if rule.has_buffers:
        return judge_messages(rule, flow, directions, verdict)
    if rule.app and (not rule.groups or rule.of_packets):
        return None  # with which packet a protocol is recognised
    is_stream = flow.protocol == TCP and rule.payloads and not rule.of_packets
    if not is_stream:
        judge_packets(rule, flow, directions, verdict)
        return verdict
    for direction in directions:
        judge_stream(rule, flow, direction, verdict)
    if has_place(rule) and "only_stream" not in rule.flow:
        judge_packets(rule, flow, directions, verdict, is_sure=not rule.app)
    return verdict


def with_flowbits(rules, verdicts):
    """Leaves of one flow's verdicts {number of the rule: Verdict} what flowbits allow."""
    writers = defaultdict(list)
    for number in verdicts:
        for command, names in rules[number].flowbits:
            if command in ("set", "unset", "toggle"):
                for name in names:
                    writers[name].append((command, number))
    done = {}

    def settled(number, above):
        """The Verdict of the rule with its flowbits."""
        if number in done or number in above:
            return done.get(number, Verdict())
        verdict = verdicts[number]
        must, may = list(verdict.must), list(verdict.may)
        for command, names in rules[number].flowbits:
            if command not in ("isset", "isnotset"):
                continue
            setters = [settled(one, above | {number}) for name in names
                       for what, one in writers[name] if what != "unset" and one != number]
            unset = any(what != "set" for name in names for what, _ in writers[name])
            set_at = min((at for one in setters for at in one.must), default=None)
            may_at = min((at for one in setters for at in one.may), default=None)
            if command == "isset":
                must = [at for at in must if set_at is not None and set_at <= at and not unset]
                may = [at for at in may if may_at is not None]
            else:
                must = [at for at in must if may_at is None]
                may = [at for at in may if set_at is None or set_at >= at or unset]
        done[number] = Verdict(must, may)
        return done[number]

    return {number: settled(number, frozenset()) for number in verdicts}


def track_of(rule, flow, direction):
    source, target = flow.side(direction)
    return {"by_src": source[0], "by_dst": target[0], "by_rule": None, "by_flow": id(flow),
            "by_both": tuple(sorted((source[0], target[0])))}[rule.threshold.track]


def with_threshold(rule, events):
    """`events`: (flow, Verdict) in the order of their packets. (flows that must be told, those that
    may be)."""
    if rule.threshold is None:
        return ({id(flow) for flow, verdict in events if verdict.must},
                {id(flow) for flow, verdict in events if verdict.must or verdict.may})
    must, may, counts, unsure = set(), set(), defaultdict(int), set()
    limit = rule.threshold
    for flow, verdict in events:
        directions = directions_of(rule, flow)
        track = track_of(rule, flow, directions[0])
        count = len(set(verdict.must))
        if len(directions) != 1 or set(verdict.must) != set(verdict.may):
            unsure.add(track)
        may.add(id(flow))
        before, counts[track] = counts[track], counts[track] + count
        told = {"limit": before < limit.count and count > 0,
                "threshold": counts[track] // limit.count > before // limit.count,
                "both": before < limit.count <= counts[track],
                "filter": counts[track] > limit.count and count > 0}[limit.kind]
        if track in unsure:
            continue
        if told:
            must.add(id(flow))
        else:
            may.discard(id(flow))
    return must, may | must


class Index:
    """Finds the flows that have all contents of a rule somewhere."""

    def __init__(self, flows):
        self.flows = flows
        self.ends = list(itertools.accumulate(len(flow.text) + 2 for flow in flows))
        self.all = b"\n\n".join(flow.text for flow in flows)
        self.unread = {place for place, flow in enumerate(flows) if flow.messages is None}

    def candidates(self, rule):
        words = literals_of(rule)
        if not words:
            return range(len(self.flows))
        found, at = set(), self.all.find(words[0])
        while at >= 0:
            place = bisect.bisect_right(self.ends, at)
            if all(word in self.flows[place].text for word in words[1:]):
                found.add(place)
            at = self.all.find(words[0], self.ends[place])
        return sorted(found | (self.unread if rule.has_buffers else set()))


def judge(rules, flows):
    """({(sid, number of the flow)} that must be told, those that may be, those not judged)."""
    verdicts = [{} for _ in flows]
    skipped, index = set(), Index(flows)
    for number, rule in enumerate(rules):
        for place in index.candidates(rule):
            verdict = judge_rule(rule, flows[place])
            if verdict is None:
                skipped.add((rule.sid, place))
            elif verdict.may or verdict.must:
                verdicts[place][number] = verdict
    events = defaultdict(list)
    for place, flow in enumerate(flows):
        for number, verdict in with_flowbits(rules, verdicts[place]).items():
            if verdict.may or verdict.must:
                events[number].append((flow, verdict))
    places = {id(flow): place for place, flow in enumerate(flows)}
    must, may = set(), set()
    for number, of_rule in events.items():
        if rules[number].no_alert:
            continue
        told, perhaps = with_threshold(rules[number], of_rule)
        must |= {(rules[number].sid, places[one]) for one in told}
        may |= {(rules[number].sid, places[one]) for one in perhaps}
    return must - skipped, may, skipped
