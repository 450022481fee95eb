# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of one case: starts of its topology, and of the path's model (path_model.cpp) before each
and behind the last, on the same cores; what several runs say together."""

import json
import pathlib
import statistics
import subprocess
import time

from cases import topology_of
from launcher import Topology, fresh_folder

KINDS = {"ingress": "ingress", "worker": "classifier", "egress": "egress"}  # of the model, ours


class Planned:
    """A plan with its tables, for topologies that start one after another. `error`: why none."""

    def __init__(self, text, binaries, folder):
        self.binaries, self.folder, self.error = binaries, fresh_folder(folder), None
        self.plan = self.folder / "plan.bin"
        yaml = self.folder / "topology.yaml"
        yaml.write_text(text)
        planned = subprocess.run([binaries / "millrace-bench-plan", yaml, self.plan], text=True,
                                 capture_output=True, check=False)
        if planned.returncode != 0:
            self.error = planned.stderr.strip()
            return
        lines = [line.split() for line in planned.stdout.splitlines()]
        # number, kind, starts, core, name
        self.rows = [line[1:] for line in lines if line[0] == "actor"]
        for table in (line[1] for line in lines if line[0] == "table"):
            subprocess.run([binaries / "millrace-builder", "--plan", self.plan, "--function",
                            table], check=True, capture_output=True)

    def cores(self, kind):
        return [int(row[3]) for row in self.rows if row[1] == kind and row[2] == "1"]

    def start(self, seconds):
        """Figures of one start, or the reason why there are none."""
        if self.error:
            return {"error": self.error}
        actors = [(row[4], row[1] if row[2] == "1" else "spare") for row in self.rows]
        topology = Topology(self.binaries, self.folder, "bench", actors)
        try:
            topology.start()
            time.sleep(0.5)
            output = subprocess.run(
                [self.binaries / "millrace-figures", self.plan, str(seconds)], text=True,
                capture_output=True, check=False)
            if output.returncode != 0:
                return {"error": output.stderr + topology.log()}
            figures = json.loads(output.stdout)
            if not any(stream["mpps"] for stream in figures["streams"]):
                return {"error": "nothing flows\n" + topology.log()}
            return figures
        finally:
            topology.stop()

    def remove_tables(self):
        for image in pathlib.Path("/dev/shm").glob("millrace-bench.*.image"):
            image.unlink()


def run_model(binaries, case, cores, seconds, restore=False, shared=False):
    """Figures of the model in the shape of a case, on `cores` in the order of its actors.
    `shared`: all streams have all workers."""
    lanes = case.lanes if case.dispatch == "flow" else 1
    words = ["--streams", case.streams, "--workers", case.workers, "--lanes", lanes,
             "--slots", case.slots, "--buffers", case.buffers, "--prefixes", case.prefixes,
             "--rate-mpps", case.rate_mpps, "--seconds", seconds,
             "--cores", ",".join(map(str, cores))]
    words += ["--flow"] if case.dispatch == "flow" else []
    words += ["--own-workers"] if case.streams > 1 and not shared else []
    words += ["--restore"] if restore else []
    done = subprocess.run([binaries / "millrace-path-model", *map(str, words)], text=True,
                          capture_output=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()}


def measure_case(case, binaries, folder, options):
    """Of `options.starts` starts: figures, and the model's. Nothing is read from a single one."""
    planned = Planned(topology_of(case, folder), binaries, folder / "run")
    if planned.error:
        return {"error": planned.error}
    cores = [core for kind in KINDS.values() for core in planned.cores(kind)]
    runs, models, restoring = [], [], []

    def model():
        models.append(run_model(binaries, case, cores, options.model_seconds))

    try:
        for _ in range(options.starts):
            model()
            runs.append(planned.start(options.seconds))
            if "error" in runs[-1]:
                return runs[-1]
            if not options.quick:
                restoring.append(run_model(binaries, case, cores, options.model_seconds, True))
        model()
    finally:
        planned.remove_tables()
    failed = [run for run in models + restoring if "error" in run]
    if failed:
        return failed[0]
    return {"runs": [run_sums(run) for run in runs], "actors": actor_medians(runs),
            "models": models, "model_actors": actor_medians(models), "restoring": restoring}


def run_sums(figures):
    """One start: all streams together, latency of the slowest."""
    streams = figures["streams"]
    worst = max(streams, key=lambda stream: stream["p99_us"])
    sums = {key: sum(stream[key] for stream in streams) for key in
            ("mpps", "missed_mpps", "unaccounted")}
    sums["fill"] = statistics.mean(stream["fill"] for stream in streams)
    sums |= {key: worst[key] for key in ("p50_us", "p99_us", "p999_us")}
    return sums


def actor_medians(runs):
    """By kind of actor: medians over the runs of what its actors have on average."""
    medians = {}
    for kind in ("ingress", "classifier", "egress"):
        mine = [[actor for actor in run["actors"]
                 if kind == actor.get("kind", KINDS.get(actor["actor"]))] for run in runs]
        if not all(mine):
            continue
        medians[kind] = {key: median_of(mine, key) for key in
                         ("busy_share", "busy_ns_per_packet", "instructions_per_packet")}
    return medians


def median_of(runs, key):
    values = [[actor[key] for actor in actors] for actors in runs]
    if any(value is None for actors in values for value in actors):
        return None
    return statistics.median(statistics.mean(actors) for actors in values)


def spread_of(runs, key):
    """Median, least, most."""
    values = [run[key] for run in runs]
    return statistics.median(values), min(values), max(values)
