# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that the kernel ends for want of memory, in a control group of their own."""

import itertools
import os
import pathlib
import subprocess
import sys

from ordeal import Ordeal
from processes import PATIENCE, is_running, wait_until

ROOT = pathlib.Path("/sys/fs/cgroup")
LIMIT_BYTES = 64 << 20
# What it eats is in no process, so it is not itself what the kernel picks.
HOG = """import os
file, block = os.memfd_create("hog"), bytes(1 << 20)
while True: os.write(file, block)"""
NUMBERS = itertools.count(1)


class Unavailable(Exception):
    """This host lends no memory group; the text says why."""


class MemoryGroup:
    """A control group with a limit of memory, of version 1 or 2, whichever the host has."""

    def __init__(self):
        self.path, limit, self.events = self.place()
        try:
            self.path.mkdir()
            for file, text in limit.items():
                if (self.path / file).exists():  # swap is accounted for only where there is some
                    (self.path / file).write_text(text)
        except OSError as error:
            if self.path.is_dir():
                self.path.rmdir()
            raise Unavailable(f"no memory group in {self.path.parent}: {error.strerror}") from error

    @staticmethod
    def place():
        name = f"millrace-test-{os.getpid()}-{next(NUMBERS)}"
        if (ROOT / "memory/memory.limit_in_bytes").exists():
            limit = {"memory.limit_in_bytes": str(LIMIT_BYTES),
                     "memory.memsw.limit_in_bytes": str(LIMIT_BYTES)}
            return ROOT / "memory" / name, limit, "memory.oom_control"
        control = ROOT / "cgroup.subtree_control"
        if not control.exists() or "memory" not in control.read_text(encoding="ascii").split():
            raise Unavailable("no memory controller in /sys/fs/cgroup")
        limit = {"memory.max": str(LIMIT_BYTES), "memory.swap.max": "0"}
        return ROOT / name, limit, "memory.events"

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        wait_until(self.remove, PATIENCE, f"{self.path} removed")

    def remove(self):
        try:
            self.path.rmdir()
        except OSError:  # a process in it has not quite gone
            return False
        return True

    def add(self, pid):
        (self.path / "cgroup.procs").write_text(str(pid))

    def kills(self):
        """How many the kernel has ended here."""
        words = (self.path / self.events).read_text(encoding="ascii").split()
        return int(words[words.index("oom_kill") + 1])

    def exhaust(self, pid):
        """The process shares the group with one that eats all of it, and is what the kernel picks
        first; then the eater itself."""
        pathlib.Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
        self.add(pid)

        def join():
            self.add(os.getpid())

        with subprocess.Popen([sys.executable, "-c", HOG], preexec_fn=join) as hog:
            try:
                wait_until(lambda: not is_running(pid), PATIENCE, f"{pid} ended for want of memory")
            finally:
                hog.kill()
        assert self.kills() >= 1, "it ended, but not by the kernel"


class WantOfMemory(Ordeal):
    """Blows that are the kernel's."""

    def hit(self, names, ending, lives):
        with MemoryGroup() as group:
            for name in names:
                self.topology.struck[name] = lives[name][0]
                group.exhaust(lives[name][0])
