# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Topologies of benches: sources without an end are stopped, and what they gave is audited; what
computed what is of a GPU group is said, loudly when it was no GPU."""

import json
import subprocess

import topology
from audited_sums import problems_of
from processes import wait_until

START_SECONDS = 120


class Audited(topology.Topology):
    """Behind the block its sources are stopped, what is in flight leaves, and `final` is the audit
    of then, which is checked."""

    final = None

    def __init__(self, folder, text):
        super().__init__(folder, text)
        self.endless = True  # for the harness: nothing settles by itself
        self.process = None
        self.told = folder / f"{self.name}.json"

    def __enter__(self):
        with open(self.told, "w", encoding="utf-8") as told:
            self.process = subprocess.Popen(
                [topology.BIN / "millrace", "up", self.file, "--until-done", "--json"],
                stdout=told, stderr=subprocess.STDOUT)
        try:
            self.run_dir = wait_until(self.running, START_SECONDS,
                                      lambda: "it runs: " + self.story())
        except BaseException:
            self.down(check=False)
            self.process.kill()
            self.process.wait()
            raise
        return self

    def running(self):
        """Its run directory when all have started."""
        assert self.process.poll() is None, self.story()
        done = topology.millrace("status", self.name, "--json", check=False)
        status = json.loads(done.stdout or "{}")
        return status.get("phase") == "running" and status["run_dir"]

    def story(self):
        return self.told.read_text(encoding="utf-8", errors="replace")

    def __exit__(self, kind, error, trace):
        super().__exit__(kind, error, trace)
        self.process.wait(START_SECONDS)
        if kind is None:
            self.final = json.loads(self.story())["audit"]
            require_exact(self.final)


def require_exact(audit):
    wrong = problems_of(audit)
    assert not wrong, f"the audit is NOT EXACT: {'; '.join(wrong)}: {audit}"


def audit_line(audit):
    """Of an exact one."""
    drops = ", ".join(f"{reason} {count}" for reason, count in sorted(audit["dropped"].items()))
    return (f"audit exact: received {audit['received']} = transmitted {audit['transmitted']} + "
            f"dropped {sum(audit['dropped'].values())} ({drops or 'none'}); in flight 0, no "
            "slot or buffer in use")


def backends_of(running):
    """What the GPU workers that live compute with: `cuda`, `software`."""
    found = wait_until(lambda: running.metrics().by("backend", "millrace_gpu_info"), 30,
                       "a GPU worker says what it computes with")
    return sorted(found)


def backend_line(backends):
    if backends == ["cuda"]:
        return "backend: cuda, a GPU"
    return f"backend: {' and '.join(backends)}. NOT A GPU: the figures say nothing of one"


def require_order(running, function):
    """`record` has seen numbered packets, each lane's in their order. Returns how many."""
    counts = running.metrics().by("number", "millrace_function_number_hits_total",
                                  function=function)
    assert counts.get("0", 0) > counts.get("2", 0), f"{function} saw no numbered packet: {counts}"
    assert counts["1"] == 0, f"{counts['1']:.0f} packets out of order"
    return int(counts["0"])
