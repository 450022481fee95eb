# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of suricata-verify (OISF): rules and a capture, and which alerts Suricata gives."""

import ipaddress
import json
import pathlib
import re
import struct
import subprocess
from dataclasses import dataclass

import yaml

from capture_records import ETHERNET, packets_of
from captures import BUILD, unpack

# What an alert line of ours has, beside these keys of `alert`. A check of anything else is judged
# without it.
ALERT_KEYS = {"alert.signature_id", "alert.gid", "alert.rev", "alert.signature", "alert.category",
              "alert.severity", "alert.action"}
LINE_KEYS = {"event_type", "src_ip", "dest_ip", "src_port", "dest_port", "proto",
             "tunnel.src_ip", "tunnel.dest_ip", "tunnel.src_port", "tunnel.dest_port",
             "tunnel.proto", "tunnel.depth"}
ADDRESSES = {"src_ip", "dest_ip", "tunnel.src_ip", "tunnel.dest_ip"}
PPP = 9
FRONT = {0: 4, 12: 0, 101: 0, 113: 16, 228: 0, 229: 0}  # link type: bytes in front of IP
VERSION = (7, 0)  # of Suricata: some checks are of one version
# Rules that other versions of Suricata refuse, or settings that change what is detected.
UNLIKE = re.compile(r"async-oneside|error-policy|exception-policy|midstream-policy|dp=|"
                    r"urgent\.policy|bypass")
ALERTS_MAX = 15  # of a packet, where a case says nothing


@dataclass
class Case:
    name: str
    level: str
    capture: pathlib.Path
    folder: pathlib.Path
    checks: list  # (match, count)
    arguments: str


@dataclass
class Judgement:
    result: str  # "right", "wrong", "cannot judge"
    why: str = ""


def version(text):
    """Its first two numbers."""
    return tuple(int(part) for part in (str(text).split(".") + ["0"])[:2])


def is_of_version(requires):
    low, high = requires.get("min-version"), requires.get("lt-version")
    return (low is None or version(low) <= VERSION) and (high is None or VERSION < version(high))


def checks_of(folder, is_about):
    """(match, count) of each check for which is_about(match) holds, and of this version."""
    found = []
    for check in yaml.safe_load((folder / "test.yaml").read_text()).get("checks") or []:
        one = check.get("filter") or {}
        match = dict(one.get("match") or {})
        requires = {**(check.get("requires") or {}), **(one.get("requires") or {})}
        if is_about(match) and is_of_version(requires):
            found.append((match, one["count"]))
    return found


def is_about_alerts(match):
    about = match.pop("event_type", "")
    return about == "alert" or (not about and any(key.startswith("alert.") for key in match))


def cases(levels):
    """All cases of these levels, in the order of the index."""
    root = unpack("pcap") / "suricata-verify"
    lines = (root / "index.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    found = []
    for row in rows:
        if row[1] in levels:
            folder = root / "tests" / row[0]
            found.append(Case(row[0], row[1], root / row[2], folder,
                              checks_of(folder, is_about_alerts),
                              " ".join(json.loads(row[9] or "[]"))))
    assert found
    return found


def configuration(case):
    """Suricata's own configuration of the case; an empty one where there is none."""
    path = case.folder / "suricata.yaml"
    if not path.is_file():
        return {}
    return yaml.safe_load(path.read_text()) or {}


def classification(case):
    """The case's own; else that of public rules, which Suricata brings along."""
    own = case.folder / "classification.config"
    return own if own.is_file() else unpack("rules") / "et-open/classification.config"


def settings(case, rules):
    """Settings of flow and ids that say what the arguments of the case say."""
    config = configuration(case)
    midstream = "stream.midstream=true" in case.arguments or str(
        (config.get("stream") or {}).get("midstream", False)).lower() in ("true", "yes")
    found = [f"ids.rules={rules}", "ids.events=true",
             f"flow.pickup={'true' if midstream else 'false'}",
             f"ids.mode={'ips' if '--simulate-ips' in case.arguments else 'ids'}"]
    if "-k none" in case.arguments:
        found.append("ids.checksums=trust")
    if layers := re.search(r"response-body-decompress-layer-limit=(\d+)", case.arguments):
        found.append(f"ids.inflate_layers={layers[1]}")
    variables = config.get("vars") or {}
    for group in ("address-groups", "port-groups"):
        for name, value in (variables.get(group) or {}).items():
            found.append(f"ids.variables={name}={value}")
    alerts = re.search(r"packet-alert-max=(\d+)", case.arguments)
    found.append("ids.alerts_max=" +
                 str(alerts[1] if alerts else config.get("packet-alert-max", ALERTS_MAX)))
    for action in config.get("action-order") or []:
        found.append(f"ids.action_order={action}")
    found.append(f"ids.classification={classification(case)}")
    thresholds = case.folder / "threshold.config"
    if thresholds.is_file():
        found.append(f"ids.thresholds={thresholds}")
    return found


def value_of(event, key):
    """Of a key as cases write them: "alert.metadata.a[0]"."""
    for part in re.findall(r"[^.\[\]]+", key):
        if isinstance(event, list) and part.isdigit():
            event = event[int(part)] if int(part) < len(event) else None
        else:
            event = event.get(part) if isinstance(event, dict) else None
    return event


def same(key, value, wanted):
    """Addresses are the same in any of their spellings."""
    if key in ADDRESSES and value is not None:
        return ipaddress.ip_address(value) == ipaddress.ip_address(wanted)
    return str(value) == str(wanted)


def agrees(event, match):
    return all(same(key, value_of(event, key), wanted) for key, wanted in match.items())


def front_of(link_type, packet):
    """Bytes in front of IP."""
    if link_type != PPP:
        return FRONT[link_type]
    at = 2 if packet[:2] == b"\xff\x03" else 0  # address and control may be left out,
    return at + (1 if packet[at:at + 1] and packet[at] & 1 else 2)  # and a zero byte


def as_ethernet(capture, folder):
    """The capture, or a copy whose packets have a header of Ethernet in front of IP."""
    link_type, packets = packets_of(capture)
    if link_type not in FRONT and link_type != PPP:
        return capture
    path = folder / "ethernet.pcap"
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, ETHERNET))
        for packet, _, time in packets:
            ip = packet[front_of(link_type, packet):]
            kind = b"\x86\xdd" if ip[:1] and ip[0] >> 4 == 6 else b"\x08\x00"
            frame = bytes(12) + kind + ip
            out.write(struct.pack("<IIII", time // 10**9, time % 10**9 // 1000, len(frame),
                                  len(frame)))
            out.write(frame)
    return path


def lines_of(case, rules, folder, more=()):
    """(lines of events, "") or (None, why there are none). `more`: settings."""
    out = folder / "events.json"
    command = [BUILD / "bin/millrace", "try", "flow,ids", "--json", "--pcap",
               as_ethernet(case.capture, folder), "--events", out]
    for setting in [*settings(case, rules), *more]:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        raise AssertionError(f"{case.name}: ended by signal {-done.returncode}: {done.stderr}")
    told = json.loads(done.stdout)
    if "error" in told:
        return None, told["error"]
    return [json.loads(line) for line in out.read_text().splitlines()], ""


def alerts_of(case, rules, folder):
    """(alert lines, "") or (None, why there are none)."""
    lines, why = lines_of(case, rules, folder)
    if lines is not None:
        lines = [line for line in lines if line["event_type"] == "alert"]
    return lines, why


def refused_sids(rules):
    """sid -> why, of the rules that are refused."""
    done = subprocess.run([BUILD / "bin/millrace", "rules", "--json", rules], capture_output=True,
                          text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return {one["sid"]: f"{one['keyword']}: {one['reason']}"
            for one in json.loads(done.stdout)["refusals"]}


def judge(case, tmp_path):
    rules = case.folder / "test.rules"
    if not rules.is_file():
        return Judgement("cannot judge", "no rules")
    if unlike := UNLIKE.search(case.arguments):
        return Judgement("cannot judge", f"argument {unlike[0]}")
    if refused := refused_sids(rules):
        return Judgement("cannot judge", "refused rule: " + next(iter(refused.values())))
    alerts, why = alerts_of(case, rules, tmp_path)
    if alerts is None:
        return Judgement("cannot judge", why)
    judged = 0
    for match, count in case.checks:
        known = {key: wanted for key, wanted in match.items() if key in ALERT_KEYS | LINE_KEYS}
        if match and len(known) < len(match) and not any(
                key in ALERT_KEYS for key in known):
            continue  # all that it tells apart by is what our lines do not have
        if len(known) < len(match):
            # Lines that it would tell apart are counted together: only a lower bound holds.
            right = sum(agrees(event, known) for event in alerts) >= count
        else:
            right = sum(agrees(event, known) for event in alerts) == count
        judged += 1
        if not right:
            found = sum(agrees(event, known) for event in alerts)
            return Judgement("wrong", f"{json.dumps(known)}: {found} instead of {count}")
    return Judgement("right") if judged else Judgement("cannot judge", "what the lines lack")
