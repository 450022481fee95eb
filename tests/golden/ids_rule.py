# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Public rules of Snort 3 and Suricata as tests for a slow search. Shares no code with the path.

suricataparser splits a rule into options. What the search cannot judge raises NotJudged.
"""

import re
from dataclasses import dataclass, field

import ids_rule_tests as tests_
from ids_rule_tests import NotJudged

PAYLOAD = "payload"
# Of Suricata: sticky buffers have these names, with dots or, in old rules, with underscores.
HTTP_REQUEST = {"http.method", "http.uri", "http.uri.raw", "http.host", "http.host.raw",
                "http.user_agent", "http.referer", "http.accept", "http.accept_enc",
                "http.accept_lang", "http.request_line", "http.request_body"}
HTTP_RESPONSE = {"http.stat_code", "http.stat_msg", "http.location", "http.server",
                 "http.response_line", "http.response_body"}
HTTP_BOTH = {"http.header", "http.header.raw", "http.header_names", "http.cookie", "http.protocol",
             "http.start", "http.connection", "http.content_len", "http.content_type", "file.data"}
TLS_REQUEST, TLS_RESPONSE = {"tls.sni"}, {"tls.certs"}
DNS_REQUEST = {"dns.query"}
OWNERS = {**dict.fromkeys(HTTP_REQUEST | HTTP_RESPONSE | HTTP_BOTH, "http"),
          **dict.fromkeys(TLS_REQUEST | TLS_RESPONSE, "tls"), "dns.query": "dns"}
OF_REQUEST = HTTP_REQUEST | TLS_REQUEST | DNS_REQUEST
OF_RESPONSE = HTTP_RESPONSE | TLS_RESPONSE
# Names in front of those with dots: modifiers of a content (Suricata), or sticky (Snort 3).
OLD_NAMES = {"http_uri": "http.uri", "http_raw_uri": "http.uri.raw", "http_method": "http.method",
             "http_header": "http.header", "http_raw_header": "http.header.raw",
             "http_cookie": "http.cookie", "http_raw_cookie": "http.cookie",
             "http_client_body": "http.request_body", "http_stat_code": "http.stat_code",
             "http_stat_msg": "http.stat_msg", "http_user_agent": "http.user_agent",
             "http_host": "http.host", "http_raw_host": "http.host.raw",
             "http_server_body": "http.response_body"}
STICKY = {**{name: name for name in OWNERS}, "file_data": "file.data", "pkt_data": PAYLOAD,
          "raw_data": PAYLOAD, "tls_sni": "tls.sni", "dns_query": "dns.query",
          "http_referer": "http.referer", "http_content_type": "http.content_type",
          "http_header_names": "http.header_names", "http_start": "http.start",
          "http_request_line": "http.request_line", "http_content_len": "http.content_len",
          "http_protocol": "http.protocol", "http_version": "http.protocol"}
PCRE_BUFFERS = {"U": "http.uri", "I": "http.uri.raw", "P": "http.request_body",
                "Q": "http.response_body", "H": "http.header", "D": "http.header.raw",
                "M": "http.method", "C": "http.cookie", "S": "http.stat_code",
                "Y": "http.stat_msg", "V": "http.user_agent", "W": "http.host",
                "Z": "http.host.raw"}
TRANSFORMS = {"to_lowercase", "to_uppercase", "strip_whitespace", "compress_whitespace",
              "url_decode", "dotprefix", "to_md5", "to_sha1", "to_sha256"}
NO_MEANING = {"msg", "reference", "classtype", "sid", "rev", "metadata", "priority", "gid", "tag",
              "target", "service", "fast_pattern", "rawbytes", "noalert"}
MODIFIERS = {"nocase", "offset", "depth", "distance", "within", "startswith", "endswith",
             "fast_pattern", "fast_pattern_offset", "fast_pattern_length"}
HEADER_NUMBERS = {"dsize", "ttl", "id", "itype", "icode", "icmp_id", "icmp_seq", "seq", "ack",
                  "window", "fragoffset"}
PROTOCOLS = {"ip", "tcp", "tcp-pkt", "udp", "icmp", "http", "tls", "dns", "ssh", "smtp", "ftp",
             "smb"}
MANY = {"dns.query", "tls.certs"}  # each naming of these asks for a value of its own


@dataclass
class Group:
    """What a rule asks of one buffer."""

    buffer: str
    transforms: tuple
    tests: list = field(default_factory=list)


@dataclass
class Threshold:
    kind: str
    track: str
    count: int
    seconds: int


@dataclass
class Rule:
    sid: int
    gid: int
    protocol: str
    source: str
    source_ports: str
    both_ways: bool
    target: str
    target_ports: str
    groups: list = field(default_factory=list)
    headers: list = field(default_factory=list)  # (keyword, test of a number)
    bits: list = field(default_factory=list)  # (keyword, how, bits, ignored)
    flow: set = field(default_factory=set)
    flowbits: list = field(default_factory=list)  # (command, [names])
    threshold: Threshold | None = None
    no_alert: bool = False
    app: str = ""  # what the flow has to carry

    @property
    def payloads(self):
        return [group for group in self.groups if group.buffer == PAYLOAD]

    @property
    def has_buffers(self):
        return any(group.buffer != PAYLOAD for group in self.groups)

    @property
    def of_packets(self):
        """It asks for what packets have and streams do not."""
        return bool(self.headers or self.bits or self.protocol == "tcp-pkt"
                    or "no_stream" in self.flow)


class Reader:
    """Reads the options of one rule in their order."""

    def __init__(self, rule, is_snort):
        self.rule, self.is_snort = rule, is_snort
        self.buffer, self.transforms = PAYLOAD, ()
        self.last = self.last_group = None
        self.begins = False

    def group(self, buffer, transforms=()):
        if not self.begins:
            for one in reversed(self.rule.groups):
                if (one.buffer, one.transforms) == (buffer, transforms):
                    return one
        self.begins = False
        self.rule.groups.append(Group(buffer, transforms))
        return self.rule.groups[-1]

    def add(self, test):
        group = self.group(self.buffer, self.transforms)
        # Suricata: relative to the test in front of it, whose modifier may have moved that.
        is_free = self.buffer == PAYLOAD and not self.is_snort
        if is_free and getattr(test, "relative", False) and not isinstance(test, tests_.Pcre):
            group = self.last_group or group
        group.tests.append(test)
        self.last_group = group
        if isinstance(test, tests_.Content):
            self.last = test

    def move(self, buffer):
        """The last content is about this buffer."""
        for group in self.rule.groups:
            if any(test is self.last for test in group.tests):
                group.tests = [test for test in group.tests if test is not self.last]
        self.last_group = self.group(buffer)
        self.last_group.tests.append(self.last)

    def stick(self, buffer):
        self.buffer, self.transforms, self.begins = buffer, (), buffer in MANY

    def content(self, value):
        negated, text, rest = tests_.quoted(value)
        self.add(tests_.Content(tests_.pattern_bytes(text), negated=negated))
        for part in filter(None, (word.strip() for word in rest.lstrip(",").split(","))):
            name, _, number = part.partition(" ")
            self.modify(name, number.strip())

    def modify(self, name, value):
        if name == "nocase":
            self.last.nocase = True
        elif name == "startswith":
            self.last.starts = True
        elif name == "endswith":
            self.last.ends_with = True
        elif name in ("offset", "depth", "distance", "within"):
            setattr(self.last, name, tests_.number_or_name(value))

    def pcre(self, value):
        test, letters = tests_.pcre_of(value)
        named = [PCRE_BUFFERS[letter] for letter in letters if letter in PCRE_BUFFERS]
        if named and self.buffer == PAYLOAD:
            self.last_group = self.group(named[0])
            self.last_group.tests.append(test)
        else:
            self.add(test)

    def option(self, name, value):
        rule = self.rule
        if name == "content":
            self.content(value)
        elif name == "pcre":
            self.pcre(value)
        elif name in MODIFIERS:
            self.modify(name, value)
        elif name in OLD_NAMES and not self.is_snort:
            self.move(OLD_NAMES[name])
        elif name in STICKY or name in OLD_NAMES:
            self.stick(STICKY.get(name) or OLD_NAMES[name])
        elif name in TRANSFORMS:
            self.transforms += (name,)
        elif name in tests_.BYTES:
            self.add(tests_.BYTES[name](value, self.is_snort))
        elif name in ("bsize", "bufferlen"):
            self.add(tests_.Size(tests_.number_test(value)))
        elif name == "urilen":
            size, _, kind = value.partition(",")
            self.group("http.uri.raw" if kind.strip() == "raw" else "http.uri").tests.append(
                tests_.Size(tests_.number_test(size)))
        elif name in HEADER_NUMBERS:
            rule.headers.append((name, tests_.number_test(value)))
        elif name == "ip_proto" and value.strip("!<>= ").isdigit():
            rule.headers.append((name, tests_.number_test(value)))
        elif name in ("flags", "fragbits"):
            rule.bits.append((name, *tests_.bits_of(value)))
        elif not self.about_flow(name, value) and name not in NO_MEANING:
            raise NotJudged(f"keyword {name}")
        rule.no_alert = rule.no_alert or name == "noalert"

    def about_flow(self, name, value):
        rule = self.rule
        if name == "flow":
            words = {word.strip().lower() for word in value.split(",")}
            if words - {"to_server", "to_client", "from_server", "from_client", "established",
                        "stateless", "no_stream", "only_stream", "not_established"}:
                raise NotJudged("flow of fragments")
            rule.flow = {word.replace("from_server", "to_client")
                         .replace("from_client", "to_server") for word in words}
        elif name == "flowbits":
            command, _, names = (part.strip() for part in value.partition(","))
            if command == "noalert":
                rule.no_alert = True
            elif "&" in names and command in ("set", "unset", "isset"):
                rule.flowbits += [(command, [one.strip()]) for one in names.split("&")]
            else:
                rule.flowbits.append((command, [one.strip() for one in names.split("|")]))
        elif name in ("threshold", "detection_filter"):
            words = dict(part.split(None, 1) for part in value.split(","))
            rule.threshold = Threshold(words.get("type", "filter").strip(),
                                       words["track"].strip(), int(words["count"]),
                                       int(words["seconds"]))
        else:
            return False
        return True


def value_text(option):
    """suricataparser takes metadata apart; no other value."""
    return option.value if isinstance(option.value, str) else ""


def settle(rule):
    """What its buffers say of the protocol and the direction of a rule."""
    rule.groups = [group for group in rule.groups if group.tests]
    owners = {OWNERS[group.buffer] for group in rule.groups if group.buffer != PAYLOAD}
    if len(owners) > 1:
        raise NotJudged("buffers of several protocols")
    rule.app = owners.pop() if owners else ""
    if rule.protocol not in ("ip", "tcp", "tcp-pkt", "udp", "icmp"):
        rule.app = rule.protocol
    if any(group.buffer in OF_REQUEST for group in rule.groups):
        rule.flow |= {"to_server"}
    if any(group.buffer in OF_RESPONSE for group in rule.groups):
        rule.flow |= {"to_client"}
    if rule.app in ("ssh", "smtp", "ftp", "smb") and rule.has_buffers:
        raise NotJudged(f"buffers of {rule.app}")


def read_rule(parsed, is_snort):
    """Of suricataparser's rule."""
    words = re.findall(r"(?:\[[^\]]*\]|\S)+", parsed.header)
    options = {option.name: value_text(option) for option in parsed.options}
    protocol = words[0]
    if len(words) == 1:
        words = [protocol, "any", "any", "->", "any", "any"]
    if len(words) != 6 or protocol not in PROTOCOLS:
        raise NotJudged(f"head {parsed.header}")
    rule = Rule(int(parsed.sid), int(options.get("gid", "1")), protocol, words[1], words[2],
                words[3] == "<>", words[4], words[5])
    reader = Reader(rule, is_snort)
    for option in parsed.options:
        reader.option(option.name, value_text(option))
    settle(rule)
    return rule
