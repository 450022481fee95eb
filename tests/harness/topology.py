# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A topology of real processes: started, watched, hurt, and always brought down."""

import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import metrics
import processes
from processes import PATIENCE, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MILLRACE_BUILD", ROOT / "build/release"))
BIN = pathlib.Path(os.environ.get("MILLRACE_BIN", "") or BUILD / "bin")
EXECUTABLES = {"hub": "millrace-hub", "standby": "millrace-hub", "ingress": "millrace-io-worker",
               "egress": "millrace-io-worker", "classifier": "millrace-classifier",
               "gpu": "millrace-gpu-worker"}
# Of the product; beside them lie those that measure it.
PROGRAMS = ("millrace", "millrace-builder", "millrace-classifier", "millrace-fused",
            "millrace-gpu-worker", "millrace-hub", "millrace-io-worker", "millrace-telemetry",
            "millrace-events", "millrace-routes")
SLOW_SECONDS = 0.5
SILENCE = ("does not answer", "there to hear")
# For `up`, where lives are short because a test ends them: no process is given up, nor waits long.
QUICK_RESTARTS = ("--restarts", "100000", "--restart-delay", "20")
NUMBERS = itertools.count(1)


def millrace(*words, check=True, prefix=()):
    """Runs one command, by way of another one (`prefix`) or directly; the finished process."""
    began = time.monotonic()
    done = subprocess.run([*prefix, BIN / "millrace", *map(str, words)], capture_output=True,
                          text=True, check=False, timeout=2 * PATIENCE)
    if time.monotonic() - began > SLOW_SECONDS:  # seen when the test fails
        print(f"slow: {words[0]} took {time.monotonic() - began:.1f} s, {os.getloadavg()[0]:.1f}"
              " were running")
    if check:
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done


def start(*words):
    """One command, which goes on while the test does."""
    return subprocess.Popen([BIN / "millrace", *map(str, words)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def copy_programs(folder):
    """A new folder with the product's executables."""
    folder.mkdir()
    for name in PROGRAMS:
        shutil.copy(BIN / name, folder)


def with_program(folder, program, name):
    """A folder of executables in which a program of the tests has the place of a real one."""
    copy_programs(folder)
    shutil.copy(BIN.parent / "test" / program, folder / name)
    return folder


def ask(*words):
    """Runs one command with --json; what it answers, which may be bad news."""
    def heard():
        done = millrace(*words, "--json", check=False)
        # On a host that has no time for either, the asked one may be late, and the asker gives up.
        silent = words[0] in ("status", "audit") and any(word in done.stdout for word in SILENCE)
        return None if silent else done

    done = wait_until(heard, PATIENCE, f"an answer to {words}")
    answer = json.loads(done.stdout or '{"ok": false, "error": "no answer"}')
    assert answer.get("ok", True) or words[0] == "up", f"{words}: {done.stdout}{done.stderr}"
    return answer


def assert_nothing_left(audit):
    """Every packet has an end, every slot and buffer is free."""
    assert audit["unaccounted"] == 0 and audit["in_flight"] == 0 and not audit["problems"], audit
    assert audit["slots"]["in_use"] == 0 and audit["buffers"]["in_use"] == 0, audit
    begun = audit["received"] + sum(audit["generated"].values())
    ended = (audit["transmitted"] + sum(audit["dropped"].values())
             + sum(audit["consumed"].values()))
    assert begun == ended, audit


class Topology:
    """`with Topology(folder, text) as running:` at the end of a block that did not fail nothing may
    be in flight any more and the audit has to be exact; then the topology is brought down."""

    # Of texts that say none; None: the product's own.
    heartbeat_limit = None

    def __init__(self, folder, text, name=None, prefix=(), words=()):
        self.words = words  # for `up`
        self.prefix = prefix  # of the command that starts it: where its interfaces are
        self.name = name or f"test-{os.getpid()}-{next(NUMBERS)}"
        self.file = folder / f"{self.name}.yaml"
        self.write(text)
        self.run_dir = None
        self.said = ""  # by `up`
        self.struck = {}  # pid that an actor had when it was last sent a signal
        self.endless = False  # nothing settles: the source has no end, or everything was killed

    def write(self, text):
        """What its file says from now on."""
        if self.heartbeat_limit and not re.search("^heartbeat_limit:", text, re.M):
            text = f"heartbeat_limit: {self.heartbeat_limit}\n{text}"
        self.file.write_text(f"millrace: 1\nname: {self.name}\n{text}", encoding="utf-8")

    def __enter__(self):
        try:
            self.said = millrace("up", self.file, "--detach", *self.words,
                                 prefix=self.prefix).stdout
            self.run_dir = self.status()["run_dir"]
        except BaseException:
            self.down(check=False)
            raise
        return self

    def __exit__(self, kind, error, trace):
        try:
            if kind is None and not self.endless:
                self.settle()
            elif kind is not None:
                self.tell()
        finally:
            self.down(check=kind is None)

    def tell(self):
        """For the report of a failed test: what all processes had to say."""
        for words in (("status", self.name), ("audit", self.name)):
            done = millrace(*words, check=False)
            print(f"-- {' '.join(words)}\n{done.stdout}{done.stderr}")
        for log in sorted(pathlib.Path(self.run_dir, "logs").glob("*.log")):
            print(f"-- {log.name}\n{log.read_text(errors='replace')[-1500:]}")

    def down(self, check=True):
        """Asked again where the supervisor has no time to hear, and stops later all the same."""
        asked = []

        def heard():
            asked.append(millrace("down", self.name, check=False))
            return not check or not any(word in asked[-1].stderr for word in SILENCE)
        wait_until(heard, PATIENCE, lambda: f"an answer to down: {asked[-1].stderr}")
        if check:
            has_ended = len(asked) > 1 and "does not run" in asked[-1].stderr
            assert asked[-1].returncode == 0 or has_ended, asked[-1].stdout + asked[-1].stderr
            processes.wait_none(self.run_dir)
            assert not os.path.exists(self.run_dir)

    # What it says.

    def plan(self):
        return ask("plan", self.file)

    def status(self):
        return ask("status", self.name)

    def audit(self):
        return ask("audit", self.name)

    def metrics(self):
        return metrics.scrape(metrics.address_of(self.run_dir))

    def actor(self, name):
        return next(actor for actor in self.status()["actors"] if actor["name"] == name)

    def lives(self):
        """name -> (pid, start time, restarts) of every actor that is alive."""
        return {actor["name"]: (actor["pid"], processes.start_time(actor["pid"]),
                                actor["restarts"])
                for actor in self.status()["actors"]
                if actor["pid"] and actor["state"] == "alive" and
                processes.is_running(actor["pid"])}

    def planned_executables(self):
        """name of executable -> how many of them the plan starts."""
        counts = {"millrace-telemetry": 1}
        for actor in self.plan()["actors"]:
            if actor["at_start"]:
                name = EXECUTABLES[actor["kind"]]
                counts[name] = counts.get(name, 0) + 1
        return counts

    def running_executables(self):
        """The same as /proc has it; all of them out of the folder of this build."""
        counts = {}
        for path in processes.processes_of(self.run_dir).values():
            assert os.path.realpath(os.path.dirname(path)) == os.path.realpath(BIN)
            counts[os.path.basename(path)] = counts.get(os.path.basename(path), 0) + 1
        counts.pop("millrace", None)
        return counts

    # What is done to it.

    def scale(self, group, count):
        return millrace("scale", self.name, f"{group}={count}")

    def kill(self, *names, number=signal.SIGKILL, lives=None):
        """A signal to actors, as close together as can be. `lives`: as lives() said just now."""
        lives = lives or self.lives()
        for name in names:
            os.kill(lives[name][0], number)
            self.struck[name] = lives[name][0]

    def supervisor(self):
        """Pid of the process that `millrace up --detach` left behind."""
        return int(pathlib.Path(self.run_dir, "supervisor.lock").read_text(encoding="ascii"))

    def kill_everything(self):
        """SIGKILL to the supervisor and all processes at once."""
        pids = [self.supervisor(), *processes.processes_of(self.run_dir)]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # a builder, which ends by itself
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not any(map(processes.is_running, pids)), PATIENCE, "all gone")
        self.endless = True

    def kill_supervisor(self):
        pid = self.supervisor()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not processes.is_running(pid), PATIENCE, "supervisor gone")
        return pid

    def adopt_after_kill(self):
        """The supervisor dies; `adopt` starts another one."""
        pid = self.kill_supervisor()
        millrace("adopt", self.name, "--detach", prefix=self.prefix)
        assert self.supervisor() != pid

    # What is waited for.

    def wait_received(self, count, seconds=PATIENCE):
        return wait_until(lambda: self.audit()["received"] >= count, seconds,
                          f"{count} packets received")

    def wait_alive(self, *names, seconds=PATIENCE):
        def alive():
            # Another process than the one that was struck, which may still look alive.
            actors = {actor["name"]: actor for actor in self.status()["actors"]}
            return all(actors[name]["state"] == "alive"
                       and actors[name]["pid"] not in (0, self.struck.get(name))
                       for name in names)
        wait_until(alive, seconds, f"{names} alive")

    def drain(self):
        """No port is read any more. Waits until nothing is in flight; asserts the audit; returns
        it: nothing is received after it."""
        audit = ask("drain", self.name, "--patience", PATIENCE)
        assert audit["exact"] and audit["quiet"], audit
        assert_nothing_left(audit)
        return audit

    def settle(self, received=None, seconds=PATIENCE):
        """Waits until everything has arrived and nothing moves; asserts the audit; keeps it."""
        def quiet():
            audit = self.audit()
            if not audit["quiet"] or received is not None and audit["received"] < received:
                return None
            time.sleep(0.05)
            again = self.audit()
            return again if again["received"] == audit["received"] and again["exact"] else None

        audit = wait_until(quiet, seconds, lambda: f"quiet and exact: {self.audit()}")
        assert_nothing_left(audit)
        if received is not None:
            assert audit["received"] == received
        return audit
