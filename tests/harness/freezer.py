# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A process that SIGKILL does not end for a while, as one that waits in a broken driver: frozen by
a control group of version 1. (One of version 2 lets it die.)"""

import os
import pathlib

from processes import PATIENCE, wait_until

ROOT = pathlib.Path("/sys/fs/cgroup/freezer")


def is_there():
    return os.geteuid() == 0 and (ROOT / "cgroup.procs").exists()


class Frozen:
    """Frozen in the body of `with`, and let go after it."""

    def __init__(self, pid):
        self.pid = pid
        self.path = ROOT / f"millrace-test-{os.getpid()}"

    def __enter__(self):
        self.path.mkdir()
        self.set("cgroup.procs", str(self.pid))
        self.set("freezer.state", "FROZEN")
        wait_until(lambda: (self.path / "freezer.state").read_text() == "FROZEN\n", PATIENCE,
                   "frozen")
        return self

    def __exit__(self, kind, error, trace):
        self.set("freezer.state", "THAWED")
        try:
            (ROOT / "cgroup.procs").write_text(str(self.pid))
        except ProcessLookupError:  # it has ended: a kill that waited took effect
            pass
        wait_until(self.remove, PATIENCE, f"{self.path} removed")

    def set(self, file, text):
        (self.path / file).write_text(text)

    def remove(self):
        try:
            self.path.rmdir()
        except OSError:  # the process in it has not quite gone
            return False
        return True
