#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what a reload of the rules of `ids` costs the traffic that passes it: a port of device
`generate` offers numbered datagrams through [flow, ids, route] to `null`, while the rule file gains
and loses a rule and `millrace reload` takes it, several times.

    tests/bench/reload.py                           # the public rules, or 10,000 that are made
    tests/bench/reload.py et-open/*.rules --kpps 50 --times 5

Without files: those of the shared data (`rules.tar.xz`: Snort's community rules, ET Open), where
they lie beside the checkout or at MILLRACE_SHARED; else 10,000 rules of made words, and it says so.

For each reload: `took` seconds of the command; `others`: packets that left meanwhile, of those that
were due; `delayed`: milliseconds that the packet waited that waited longest, as upper bound of its
bucket; `lost`: packets that were dropped: it has to be 0, and the bench ends with 1 where it is
not; `missed`: what the port had no room for, as it has without a reload where cores are few.
`worker`, `builder`: MB of resident memory of the largest one, before and at most; `tables`: how
often what the worker has beyond a worker with one rule fits into its peak: 2 is two tables at once.
The first line is the same time without a reload, the baseline. Audits have to be exact. Nothing
here passes or fails on speed.

Programs: build/release/bin, or MILLRACE_BIN. Needs hugepages (`millrace doctor --fix`), and a core
for each of hub, standby, ingress, worker, egress and builder: with fewer, delays are those of the
kernel that shares them out, and are labelled so.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import sys
import tarfile
import tempfile
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "harness"))

# pylint: disable=wrong-import-position
from audited import audit_line, require_exact  # noqa: E402
from latency import buckets  # noqa: E402
from processes import processes_of, status_megabytes, wait_until  # noqa: E402
from report import print_machine  # noqa: E402
from topology import ROOT, Topology, millrace  # noqa: E402

ACTORS = 6
MADE_RULES = 10_000
SAMPLE_SECONDS = 0.01
START_SECONDS = 120
ONE_MORE = 'alert udp any any -> any any (msg:"one more"; content:"never seen"; sid:99;)\n'
WORKER, BUILDER = "millrace-classifier", "millrace-builder"
TEXT = """
ports:
  in:  {{ device: generate, numbered: true, size: 400, flows: 256, rate_mpps: {rate} }}
  out: {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: 1, dispatch: flow }}
functions:
  flow:  {{ type: flow, on: front }}
  ids:   {{ type: ids, rules: [{rules}], on: front }}
  route: {{ type: route, table: way.routes, answers: false, on: front }}
paths:
  main: {{ from: in, to: out, run: [flow, ids, route] }}
"""


def made_rules():
    chance = random.Random(3)
    word = lambda: "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=6 + chance.randrange(18)))
    buffers = ("", "http.uri; ", "file.data; ", "http.header; ")
    return "".join(
        f'alert {"http" if number % 4 else "tcp"} any any -> any any (msg:"made"; '
        f'{buffers[number % 4]}content:"{word()}"; sid:{1000 + number};)\n'
        for number in range(MADE_RULES))


def rule_sets(options, folder):
    """name -> rule files."""
    if options.rules:
        return {"given": options.rules}
    packed = pathlib.Path(os.environ.get("MILLRACE_SHARED", ROOT.parent / "shared"),
                          "data/rules.tar.xz")
    if not packed.exists():
        print(f"no {packed}: {MADE_RULES} rules of made words")
        (folder / "made.rules").write_text(made_rules())
        return {"made": [folder / "made.rules"]}
    with tarfile.open(packed) as file:
        file.extractall(folder, filter="data")
    files = sorted(folder.glob("rules/**/*.rules"))
    return {"community": [path for path in files if "community" in path.name],
            "ET Open": [path for path in files if path.parent.name == "et-open"]}


def builders_of(supervisor):
    """(pid, executable) of those of its children that build: no run directory names them."""
    for child in pathlib.Path(f"/proc/{supervisor}/task").glob("*/children"):
        for pid in child.read_text(encoding="ascii").split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                path = os.readlink(f"/proc/{pid}/exe")
                if os.path.basename(path) == BUILDER:
                    yield pid, path


def resident_megabytes(running):
    """name of a program -> what its largest process has."""
    largest = {}
    for pid, path in [*processes_of(running.run_dir).items(), *builders_of(running.supervisor())]:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, TypeError):
            name = os.path.basename(path)
            largest[name] = max(largest.get(name, 0), status_megabytes(pid, "VmRSS"))
    return largest


class Sampler(threading.Thread):
    """What processes have at most while it runs."""

    def __init__(self, running):
        super().__init__(daemon=True)
        self.running, self.most, self.ended = running, {}, threading.Event()

    def run(self):
        while not self.ended.wait(SAMPLE_SECONDS):
            for name, size in resident_megabytes(self.running).items():
                self.most[name] = max(self.most.get(name, 0), size)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def look_at(running):
    scrape, now = running.metrics(), time.monotonic()
    return {"now": now, "buckets": buckets(scrape),
            "left": scrape.total("millrace_port_transmitted_packets_total", port="out"),
            "missed": scrape.total("millrace_port_missed_packets_total"),
            "dropped": scrape.total("millrace_drops_total")}


def longest_ms(before, after):
    """Upper bound of the last bucket that has got a packet."""
    counts = sorted((bound, count - before["buckets"].get(bound, 0))
                    for bound, count in after["buckets"].items())
    return next((bound for bound, count in counts if count == counts[-1][1]), 0) * 1e3


def measured(running, work, options):
    """Does it, and says what it has cost."""
    before, held = look_at(running), resident_megabytes(running)
    with Sampler(running) as sampler:
        began = time.monotonic()
        work()
        took = time.monotonic() - began
        time.sleep(1)  # what waited has left
    after = look_at(running)
    return {
        "took_s": took,
        "others": (after["left"] - before["left"]) / (after["now"] - before["now"])
                  / (options.kpps * 1e3),
        "delayed_ms": longest_ms(before, after),
        "lost": after["dropped"] - before["dropped"],
        "missed": after["missed"] - before["missed"],
        "worker_mb": [held[WORKER], sampler.most[WORKER]],
        "builder_mb": sampler.most.get(BUILDER, 0),
    }


def print_row(name, row, tables=""):
    before, most = row["worker_mb"]
    print(f"{name:24} {row['took_s']:7.2f} {row['others']:7.3f} {row['delayed_ms']:9.2f} "
          f"{row['lost']:5} {row['missed']:6} {before:9.1f} -> {most:<8.1f} "
          f"{tables:>6} {row['builder_mb']:8.1f}", flush=True)


def of_set(name, files, bare_mb, options):
    """Rows of one set of rules; `bare_mb`: of a worker with one rule."""
    with tempfile.TemporaryDirectory() as own:
        folder = pathlib.Path(own)
        (folder / "way.routes").write_text("0.0.0.0/0 out 02:00:00:00:00:02\n")
        more = folder / "more.rules"
        more.write_text(ONE_MORE)
        text = TEXT.format(rate=options.kpps / 1000, rules=", ".join(map(str, [*files, more])))
        running = Topology(folder, text)
        running.endless = True
        with running:
            wait_until(lambda: look_at(running)["left"] > 0, START_SECONDS, "packets")
            rows = [measured(running, lambda: time.sleep(options.quiet), options)]
            print_row(f"{name}: no reload", rows[0])
            for number in range(options.times):
                more.write_text(ONE_MORE * (number % 2)
                                + ONE_MORE.replace("99", "100").replace("never", f"{number} never"))
                rows.append(measured(running, lambda: millrace(
                    "reload", running.name, "--accept-shrunk"), options))
                table = max(rows[-1]["worker_mb"][0] - bare_mb, 0.1)
                rows[-1]["tables"] = (rows[-1]["worker_mb"][1] - bare_mb) / table
                print_row(f"{name}: reload {number + 1}", rows[-1], f"{rows[-1]['tables']:.2f}")
            running.endless = False
            audit = running.drain()
    require_exact(audit)
    print(f"    {audit_line(audit)}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", nargs="*", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--times", type=int, default=3, help="reloads of each set; default: 3")
    parser.add_argument("--kpps", type=float, default=20,
                        help="offered load, thousands of packets a second; default: 20")
    parser.add_argument("--quiet", type=float, default=3, help="seconds of the baseline")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    options = parser.parse_args()
    print_machine()
    cores = len(os.sched_getaffinity(0))
    if cores < ACTORS:
        print(f"{cores} cores for {ACTORS} actors: delays are those of the kernel that shares them "
              "out, and say nothing of a host that has enough")
    print(f"offered: {options.kpps:g} kpps\n\n{'rules':24} {'took s':>7} {'others':>7} "
          f"{'delayed':>9} {'lost':>5} {'missed':>6} {'worker, MB':>21} {'tables':>6} "
          f"{'builder':>8}")
    found = {}
    with tempfile.TemporaryDirectory() as name:
        bare = argparse.Namespace(**{**vars(options), "times": 0, "quiet": 1})
        bare_mb = of_set("one rule", [], 0, bare)[0]["worker_mb"][0]
        for kind, files in rule_sets(options, pathlib.Path(name)).items():
            found[kind] = of_set(kind, files, bare_mb, options)
    if options.json:
        options.json.write_text(json.dumps({"command": sys.argv, "cores": cores, "actors": ACTORS,
                                            "bare_mb": bare_mb, "sets": found}, indent=1))
    lost = sum(row["lost"] for rows in found.values() for row in rows)
    if lost:
        sys.exit(f"{lost} packets were lost")


if __name__ == "__main__":
    main()
