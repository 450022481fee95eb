# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of suricata-verify (OISF): which lines of http, dns, tls, ssh, smtp and drop Suricata
gives."""

import re

from ids_verify import (ALERT_KEYS, LINE_KEYS, UNLIKE, Judgement, agrees, checks_of, lines_of,
                        refused_sids)

TYPES = ("http", "dns", "tls", "ssh", "smtp", "drop")
# Keys of ours. What a check asks for beside them is not judged.
APP_KEYS = re.compile(
    r"http\.(hostname|http_port|url|http_user_agent|http_content_type|http_refer|http_method|"
    r"protocol|status|redirect|length)$|"
    r"dns\.(type|id|flags|qr|aa|tc|rd|ra|z|opcode|rrname|rrtype|rcode|tx_id|version)$|"
    r"dns\.answers\[\d+\]\.(rrname|rrtype|ttl|rdata)$|dns\.grouped\.\w+\[\d+\]$|"
    r"tls\.(version|sni|subject|issuerdn|serial|fingerprint|notbefore|notafter|ja4)$|"
    r"tls\.ja3s?\.(hash|string)$|ssh\.(client|server)\.(proto|software)_version$|"
    r"smtp\.(helo|mail_from|rcpt_to\[\d+\])$|drop\.reason$|tx_id$")
OTHER_FORMAT = re.compile(r"dns\.quer(y|ies)\[|http\.http2|\.__")
NO_RULE = "alert icmp any any -> any any (itype:255; icode:255; sid:1;)\n"


def is_about_lines(match):
    return match.get("event_type") in TYPES


def is_known(key):
    return key in ALERT_KEYS | LINE_KEYS or APP_KEYS.match(key)


def judge(case, folder):
    checks = [(match, count) for match, count in checks_of(case.folder, is_about_lines)
              if not any(OTHER_FORMAT.match(key) for key in match)]
    if not checks:
        return Judgement("cannot judge", "no checks of these lines")
    if unlike := UNLIKE.search(case.arguments):
        return Judgement("cannot judge", f"argument {unlike[0]}")
    if case.name.startswith("firewall/"):
        return Judgement("cannot judge", "rules of a firewall, of Suricata 8")
    rules = case.folder / "test.rules"
    if not rules.is_file():
        rules = folder / "no.rules"
        rules.write_text(NO_RULE)
    elif any(match["event_type"] == "drop" for match, _ in checks) and (
            refused := refused_sids(rules)):
        return Judgement("cannot judge", "refused rule: " + next(iter(refused.values())))
    lines, why = lines_of(case, rules, folder, [f"ids.log={one}" for one in TYPES])
    if lines is None:
        return Judgement("cannot judge", why)
    for match, count in checks:
        known = {key: wanted for key, wanted in match.items() if is_known(key)}
        found = sum(agrees(line, known) for line in lines)
        if found < count if len(known) < len(match) else found != count:
            return Judgement("wrong", f"{known}: {found} instead of {count}")
    return Judgement("right")
