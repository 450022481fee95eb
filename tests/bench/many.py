#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A path as wide as a topology can be: 16 streams, 32 workers, 16 egresses, made packets. On a host
with a core for each actor it is measured beside the plain model of the path; on any other one it is
planned and started, so many packets pass, and the audit of them has to be exact. Nothing here
passes or fails on speed.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from audited_sums import problems_of
from cases import Case, routes_text
from launcher import fresh_folder
from path_runs import KINDS, Planned, run_model, run_sums
from report import rate_of
from run import find_binaries, machine, reserve_hugepages

STREAMS, WORKERS = 16, 32
PATIENCE = 300


def topology(name, folder, dispatch, count):
    """`count`: packets of each stream; 0: without an end."""
    table = folder / "many.routes"
    table.write_text(routes_text(0, "out"))
    lanes = WORKERS if dispatch == "flow" else 1
    return f"""millrace: 1
name: {name}
egress: {{ count: {STREAMS} }}
ports:
  in:  {{ device: generate, queues: {STREAMS}, size: 60, flows: 4096, count: {count} }}
  out: {{ device: "null" }}
workers:
  many: {{ kind: classifier, count: {WORKERS}, max: {WORKERS}, dispatch: {dispatch} }}
functions:
  route: {{ type: route, table: {table}, on: many }}
paths:
  main: {{ from: in, run: [route], to: out, lanes: {lanes} }}
"""


def planned_links(binaries, file):
    """How many links there are, and how deep the first ones of an ingress and a worker are."""
    done = subprocess.run([binaries / "millrace", "plan", file, "--json"], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    plan = json.loads(done.stdout)
    depths = [link["depth"] for link in plan["links"]]
    return f"{len(plan['actors'])} actors, {len(depths)} links of {min(depths)} to {max(depths)}"


def pass_some(binaries, folder, dispatch, count):
    """Starts it, waits until all packets have left, and looks at the audit."""
    file = folder / f"many-{dispatch}.yaml"
    file.write_text(topology(f"bench-many-{os.getpid()}", folder, dispatch, count))
    print(f"{dispatch}: {planned_links(binaries, file)}", flush=True)
    began = time.monotonic()
    done = subprocess.run([binaries / "millrace", "up", file, "--until-done", "--json"], text=True,
                          capture_output=True, check=False, timeout=PATIENCE)
    if done.returncode != 0:
        sys.exit(f"{dispatch}: {done.stdout}{done.stderr}")
    audit = json.loads(done.stdout)["audit"]
    wrong = problems_of(audit)
    if audit["received"] != STREAMS * count:
        wrong.append(f"received {audit['received']} of {STREAMS * count}")
    if wrong:
        sys.exit(f"{dispatch}: {'; '.join(wrong)}")
    print(f"{dispatch}: {audit['received']} packets passed, {time.monotonic() - began:.1f} s with "
          "start and end; the audit is exact")


def measure(binaries, folder, dispatch, options):
    case = Case(f"{dispatch}-16x32x16", dispatch, WORKERS if dispatch == "flow" else 1, WORKERS,
                3 * WORKERS if dispatch == "flow" else 16, 0, streams=STREAMS)
    planned = Planned(topology("bench", folder, dispatch, 0), binaries, folder / "run")
    if planned.error:
        sys.exit(planned.error)
    cores = [core for kind in KINDS.values() for core in planned.cores(kind)]
    runs, models = [], []
    for _ in range(options.starts):
        models.append(run_model(binaries, case, cores, options.seconds, shared=True))
        runs.append(planned.start(options.seconds))
        for found in (models[-1], runs[-1]):
            if "error" in found:
                sys.exit(found["error"])
    planned.remove_tables()
    sums = [run_sums(run) for run in runs]
    ratio = (statistics.median(run["mpps"] for run in sums)
             / statistics.median(run["mpps"] for run in models))
    print(f"{case.name}: {rate_of(sums)} Mpps, model {rate_of(models)}: {ratio:.2f} of it; "
          f"generate makes each packet, the model's lie in their buffers")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", help="folder of the executables")
    parser.add_argument("--count", type=int, default=20_000, help="packets of a stream")
    parser.add_argument("--starts", type=int, default=5, help="where it is measured")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    options = parser.parse_args()
    binaries = find_binaries(options.bin)
    cores = len(os.sched_getaffinity(0))
    print(machine())
    folder = fresh_folder(pathlib.Path("/tmp/millrace-bench-many"))
    reserve_hugepages(160)
    for dispatch in ("any", "flow"):
        pass_some(binaries, folder, dispatch, options.count)
        if cores >= 2 * STREAMS + WORKERS:
            measure(binaries, folder, dispatch, options)
    if cores < 2 * STREAMS + WORKERS:
        print(f"{cores} cores for {2 * STREAMS + WORKERS} actors: no rates")


if __name__ == "__main__":
    main()
