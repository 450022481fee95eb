# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs parts of the tests on a machine that is busy and stands still, to see that only faults fail.

    stress.py [--runs N] [--busy N] [--freeze SECONDS] PART...

PART: unit, or a folder of tests/ (pipeline, crash, dashboards, golden). Beside each run N
processes compute all the time, and at random moments, by a printed seed, all processes of the run
stand still for so many seconds, as on a host that gives its processors to others. Says what failed;
exit status 1 if anything did. Needs root to freeze.
"""

import argparse
import contextlib
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CGROUPS = pathlib.Path("/sys/fs/cgroup")
LONGEST_PAUSE = 60  # seconds between two freezes


def command_of(part):
    if part == "unit":
        return ["ctest", "--test-dir", ROOT / "build/release", "--output-on-failure", "-j2"]
    return [ROOT / "build/venv/bin/python", ROOT / "tests/runner/share_out.py", "--workers",
            "2" if part == "pipeline" else "1", ROOT / "tests" / part]


class Freezer:
    """A control group, of version 1 or 2, that stands still when told."""

    def __init__(self):
        first = (CGROUPS / "freezer").is_dir()
        self.file, self.words = ("freezer.state", ("THAWED", "FROZEN")) if first else (
            "cgroup.freeze", ("0", "1"))
        self.path = CGROUPS / ("freezer" if first else ".") / f"millrace-stress-{os.getpid()}"

    def __enter__(self):
        self.path.mkdir()
        return self

    def __exit__(self, *how):
        self.set(False)
        with contextlib.suppress(OSError):  # what still ends in it keeps it
            self.path.rmdir()

    def take(self, pid):
        (self.path / "cgroup.procs").write_text(str(pid))

    def set(self, frozen):
        (self.path / self.file).write_text(self.words[frozen])


def freeze_now_and_then(freezer, seconds, chance, ended):
    while not ended.wait(chance.uniform(5, LONGEST_PAUSE)):
        freezer.set(True)
        time.sleep(seconds)
        freezer.set(False)


def run_part(part, freeze, chance):
    """True if it passed."""
    environment = os.environ | {"MILLRACE_BUILD": str(ROOT / "build/release")}
    with contextlib.ExitStack() as stack:
        # It waits for its group before it starts anything.
        process = subprocess.Popen(["sh", "-c", 'read -r _; exec "$@"', "sh",
                                    *map(str, command_of(part))], stdin=subprocess.PIPE,
                                   env=environment, cwd=ROOT)
        if freeze:
            freezer, ended = stack.enter_context(Freezer()), threading.Event()
            freezer.take(process.pid)
            watcher = threading.Thread(target=freeze_now_and_then,
                                       args=(freezer, freeze, chance, ended))
            watcher.start()
            stack.callback(watcher.join)
            stack.callback(ended.set)
        process.communicate(b"\n")
        return process.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--freeze", type=float, default=0)
    parser.add_argument("parts", nargs="+", metavar="PART")
    options = parser.parse_args()
    seed = int(os.environ.get("MILLRACE_SEED") or int.from_bytes(os.urandom(4), "big"))
    print(f"stress: MILLRACE_SEED={seed}", flush=True)
    chance, failed = random.Random(seed), []
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(options.busy)]
    try:
        for number in range(options.runs):
            for part in options.parts:
                began = time.monotonic()
                passed = run_part(part, options.freeze, chance)
                failed += [] if passed else [f"{part} (run {number + 1})"]
                print(f"stress: run {number + 1}, {part}: {'passed' if passed else 'FAILED'} in "
                      f"{time.monotonic() - began:.0f} s", flush=True)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    print("stress: " + (f"failed: {', '.join(failed)}" if failed else "nothing failed"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
