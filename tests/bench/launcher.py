# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of one topology, without a supervisor: a bench wants few moving parts."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

MFD_HUGE_2MB = 21 << 26
SEGMENT_FD = 3  # kSegmentFd of shared/layout/mapping.hpp
SHM = pathlib.Path("/dev/shm")


class Topology:
    """The processes of one plan. `actors`: (name, kind) in plan order."""

    def __init__(self, binaries, run_dir, name, actors):
        self.binaries = pathlib.Path(binaries)
        self.run_dir = pathlib.Path(run_dir)
        self.name = name
        self.actors = actors
        self.processes = {}
        self.segment = None

    def start(self):
        self.remove_files()
        self.segment = os.memfd_create(f"millrace-{self.name}.segment",
                                       os.MFD_CLOEXEC | os.MFD_HUGETLB | MFD_HUGE_2MB)
        self._spawn(0, "hub")
        self._await(lambda: (self.run_dir / "hub.ready").exists(), "the hub makes the segment")
        order = ["standby", "egress", "classifier", "gpu", "ingress"]
        for kind in order:
            for number, (_, actor_kind) in enumerate(self.actors):
                if actor_kind == kind:
                    self._spawn(number, kind)

    def stop(self):
        for kind in ["ingress", "classifier", "gpu", "egress", "standby", "hub"]:
            mine = [p for (number, p) in self.processes.items() if self.actors[number][1] == kind]
            for process in mine:
                process.send_signal(signal.SIGTERM)
            for process in mine:
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        os.close(self.segment)
        self.remove_files()

    def remove_files(self):
        (SHM / f"millrace-{self.name}.status").unlink(missing_ok=True)
        (self.run_dir / "hub.ready").unlink(missing_ok=True)

    def log(self):
        return "\n".join(p.read_text() for p in sorted((self.run_dir).glob("*.log")))

    def _spawn(self, number, kind):
        program = {
            "hub": "hub",
            "standby": "hub",
            "classifier": "classifier",
            "gpu": "gpu-worker",
            "ingress": "io-worker",
            "egress": "io-worker",
        }[kind]
        command = [
            self.binaries / f"millrace-{program}",
            "--run-dir",
            self.run_dir,
            "--actor",
            str(number),
        ]
        with open(self.run_dir / f"{number}.log", "w", encoding="utf-8") as log:
            self.processes[number] = subprocess.Popen(
                command, stdout=log, stderr=log, close_fds=False,
                preexec_fn=self._hand_segment)

    def _hand_segment(self):
        os.dup2(self.segment, SEGMENT_FD)
        os.set_inheritable(SEGMENT_FD, True)  # dup2 leaves it as it is where both are one

    def _await(self, condition, what):
        deadline = time.monotonic() + 10
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{what}: not within 10 s\n{self.log()}")
            time.sleep(0.01)


def fresh_folder(path):
    """An empty folder at `path`, only ours."""
    shutil.rmtree(path, ignore_errors=True)
    pathlib.Path(path).mkdir(mode=0o700, parents=True)
    return pathlib.Path(path)
