#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what an attacker costs others: a port of device `generate` offers numbered datagrams,
which pass [flow, ids, route], while a second port replays an attack through the same functions and
workers (tests/harness/attacks.py makes them; `syn` is the port `generate` itself).

    syn          SYNs of random sources, never answered
    one byte     requests of HTTP whose every byte is a segment
    holes        single bytes in random order, with holes between them: lists as long as can be
    far ahead    segments at the end of the window and far behind it
    bomb         responses of 4 KB that inflate to 4 MB of zeros
    costly pcre  text for expressions that take thousands of steps at each place
    held data    connections that keep data behind a hole (--held)
    fragments    datagrams whose second fragment never comes

Each attack stands between two measurements without it. `others`: packets of the first port that
left, of those that were due; `ratio`: that, beside the median of what they were without: 0.9 is the
goal. `took`: packets of the attack that went in a second, thousands; `each`: microseconds of `ids`
for a packet, as its worker times them. `memory`: MB that the processes have for themselves, before
the attack and behind it, and of the one that has most; `pages`: huge pages of the whole topology,
which do not change. `drops`: by reason, of the attack. Each topology is drained, and its audit has
to be exact: with one that is not, the bench ends. Nothing here passes or fails on speed.

    tests/bench/hostile.py                          # all attacks
    tests/bench/hostile.py --only bomb --attack-kpps 5
    tests/bench/hostile.py --rules et/*.rules --json build/hostile.json

Programs: build/release/bin, or MILLRACE_BIN. Needs hugepages (`millrace doctor --fix`), and a core
for each of hub, standby, two ingresses, workers and egress: with fewer, the ratio says how the
kernel divides its cores, and is labelled so.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import statistics
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
import attacks  # noqa: E402
from audited import audit_line, require_exact  # noqa: E402
from frames import write_capture  # noqa: E402
from processes import processes_of, status_megabytes, wait_until  # noqa: E402
from report import print_machine  # noqa: E402
from topology import Topology  # noqa: E402

ACTORS_BESIDE_WORKERS = 5  # hub, standby, two ingresses, egress
WARM_SECONDS = 1
TEXT = """
events: {{ file: {folder}/eve.json }}
ports:
  good: {{ device: generate, numbered: true, size: 400, flows: 256, destinations: [10.0.0.0/8],
          rate_mpps: {good} }}
  evil: {{ {evil} }}
  out:  {{ device: "null" }}
  sink: {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: {workers}, dispatch: flow }}
functions:
  flow:  {{ type: flow, max: 262144, on: front }}
  ids:   {{ type: ids, rules: [{rules}], events: true, streams: 131072, on: front }}
  route: {{ type: route, table: way.routes, answers: false, on: front }}
paths:
  main: {{ from: [good, evil], to: out, run: [flow, ids, route], lanes: {lanes},
          buffers: {buffers} }}
"""
ROUTES = ("10.0.0.0/8 out 02:00:00:00:00:02\n203.0.113.0/24 sink 02:00:00:00:00:5f\n"
          "198.18.0.0/15 sink 02:00:00:00:00:5f\n")
QUIET = "device: generate, count: 1, destinations: [203.0.113.0/24]"
BUFFERS_MIN = 4096


def text_of(folder, attack, options):
    """The topology, with a capture of the attack beside it."""
    rate = f", rate_mpps: {options.attack_kpps / 1000}" if options.attack_kpps else ""
    evil, frames = QUIET, []
    if attack == "syn":
        evil = f"device: generate, syn: true, destinations: [203.0.113.0/24]{rate}"
    elif attack is not None:
        made = attacks.ATTACKS[attack]
        how = {"connections": options.held} if attack == "held data" else {}
        frames = made(options.chance(), **how)
        write_capture(folder / "evil.pcap", frames)
        evil = f"device: replay, file: {folder}/evil.pcap{rate}"
    (folder / "way.routes").write_text(ROUTES)
    (folder / "own.rules").write_text(attacks.COSTLY_RULES)
    rules = ", ".join(str(path) for path in [folder / "own.rules", *options.rules])
    return TEXT.format(folder=folder, good=options.good_kpps / 1000, evil=evil, rules=rules,
                       workers=options.workers, lanes=4 * options.workers,
                       buffers=max(BUFFERS_MIN, len(frames) + BUFFERS_MIN))


def own_megabytes(running):
    """By process: what it has for itself, without what all share."""
    own = {}
    for pid, path in processes_of(running.run_dir).items():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            own[f"{os.path.basename(path)}:{pid}"] = status_megabytes(pid, "RssAnon")
    return own


def pages():
    text = pathlib.Path("/proc/meminfo").read_text(encoding="ascii")
    total, free = (int(re.search(rf"HugePages_{word}:\s+(\d+)", text)[1])
                   for word in ("Total", "Free"))
    return total - free


def look_at(running):
    scrape, now = running.metrics(), time.monotonic()
    return {
        "now": now,
        "others": scrape.total("millrace_port_transmitted_packets_total", port="out"),
        "attack": scrape.total("millrace_port_received_packets_total", port="evil"),
        "ids_s": sum(scrape.values("millrace_function_timed_seconds_total", function="ids")),
        "ids": scrape.total("millrace_function_timed_packets_total", function="ids"),
    }


def measure(attack, options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        running = Topology(folder, text_of(folder, attack, options))
        running.endless = True
        with running:
            wait_until(lambda: look_at(running)["others"] > 0, 60, "others")
            time.sleep(WARM_SECONDS)
            memory, held, before = own_megabytes(running), pages(), look_at(running)
            time.sleep(options.seconds)
            after, last, held_last = look_at(running), own_megabytes(running), pages()
            running.endless = False
            audit = running.drain()
    require_exact(audit)
    spent = after["now"] - before["now"]
    timed = max(after["ids"] - before["ids"], 1)
    most = max(last, key=last.get)
    return {
        "others": (after["others"] - before["others"]) / spent / (options.good_kpps * 1e3),
        "took_kpps": (after["attack"] - before["attack"]) / spent / 1e3,
        "each_us": (after["ids_s"] - before["ids_s"]) * 1e6 / timed,
        "memory_mb": [sum(memory.values()), sum(last.values())],
        "most": [most.split(":")[0], memory.get(most, 0.0), last[most]],
        "pages": [held, held_last],
        "drops": audit["dropped"],
        "audit": audit_line(audit),
    }


def print_row(name, result, ratio=""):
    before, after = result["memory_mb"]
    who, then, now = result["most"]
    drops = ", ".join(f"{reason} {count}" for reason, count in sorted(result["drops"].items()))
    print(f"{name:12} {result['others']:7.3f} {ratio:>6} {result['took_kpps']:9.2f} "
          f"{result['each_us']:9.2f} {before:7.1f} -> {after:<7.1f} "
          f"{who.removeprefix('millrace-'):>11} {then:6.1f} -> {now:<6.1f} "
          f"{result['pages'][0]:5} -> {result['pages'][1]:<5} {drops or 'none'}", flush=True)


def compare(names, options):
    """Each attack between two measurements without one."""
    rows = [("none", measure(None, options), None)]
    print_row("none", rows[0][1])
    for name in names:
        found = measure(name, options)
        rows.append(("none", measure(None, options), None))
        ratio = found["others"] / statistics.median(
            [one["others"] for kind, one, _ in rows if kind == "none"][-2:])
        rows.append((name, found, ratio))
        print_row(name, found, f"{ratio:.2f}")
        print_row("none", rows[-2][1])
    return rows


def parsed():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="attacks whose name holds this")
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement; default: 3")
    parser.add_argument("--workers", type=int, default=1, help="default: 1")
    parser.add_argument("--good-kpps", type=float, default=10,
                        help="what others send, thousands of packets a second; default: 10")
    parser.add_argument("--attack-kpps", type=float, default=10,
                        help="the same of the attack; 0: all that is taken; default: 10")
    parser.add_argument("--held", type=int, default=100_000,
                        help="connections with data that is kept; each needs three packet buffers "
                             "of 2,304 bytes; default: 100000")
    parser.add_argument("--rules", nargs="*", type=lambda path: pathlib.Path(path).resolve(),
                        default=[], help="rule files, beside those that the attacks are made for")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    return parser.parse_args()


def main():
    options = parsed()
    options.chance = lambda: random.Random(options.seed)
    names = [name for name in ("syn", *attacks.ATTACKS) if options.only in name]
    print_machine()
    cores, actors = len(os.sched_getaffinity(0)), ACTORS_BESIDE_WORKERS + options.workers
    if cores < actors:
        print(f"{cores} cores for {actors} actors: ratios say how these share cores, and nothing "
              "of what an attack costs on a host that has enough")
    print(f"others offer {options.good_kpps:g} kpps, an attack "
          + (f"{options.attack_kpps:g} kpps" if options.attack_kpps else "all it can") + "\n")
    print(f"{'attack':12} {'others':>7} {'ratio':>6} {'took kpps':>9} {'each us':>9} "
          f"{'memory, MB':>18} {'most of it, MB':>28} {'pages':>14} drops")
    rows = compare(names, options)
    print(f"\nbaseline: the rows `none`. The last one: {rows[-1][1]['audit']}")
    if options.json:
        options.json.write_text(json.dumps(
            {"command": sys.argv, "cores": cores, "actors": actors, "enough_cores": cores >= actors,
             "rows": [{"attack": kind, "ratio": ratio, **found} for kind, found, ratio in rows]},
            indent=1))


if __name__ == "__main__":
    main()
