# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Random blows at every kind of process, alone and several at once."""

import collections
import contextlib
import os
import time

import processes
from ordeal import ENDINGS, Ordeal, twins_of
from processes import PATIENCE, wait_until
from topology import QUICK_RESTARTS, millrace

PACKET_PARTS = ("ingress.in.0", "egress.0", "front.0", "front.1", "front.2", "gpu.0.a")
OTHER_PARTS = ("standby", "telemetry", "supervisor")


class Matrix(Ordeal):
    """Blows at one topology."""

    def __init__(self, topology, seed):
        super().__init__(topology, seed)
        self.hub_lives = True
        self.blows_by_kind = collections.Counter()
        self.pauses = []  # seconds from a blow until traffic had gone on, as a command sees it

    def choose(self):
        """(part, ending) of each that is struck next: one, two or three at once."""
        parts = [*PACKET_PARTS, *OTHER_PARTS]
        if self.hub_lives and self.chance.random() < 0.1:
            parts = ["hub"] * 4 + parts
        struck = set(self.chance.sample(parts, self.chance.choice((1, 1, 1, 2, 2, 3))))
        return [(part, self.ending_of(part)) for part in sorted(struck)]

    def ending_of(self, part):
        # Hung ones are not looked for among those that move no packets.
        kinds = ("kill", "kill", "crash", "hang") if part in PACKET_PARTS else ("kill", "crash")
        return self.chance.choice(kinds)

    def victim(self, part, lives):
        """(name, pid) of the process that plays the part; None while there is none."""
        if part == "supervisor":
            return part, self.topology.supervisor()
        for name in twins_of(part):
            if name in lives:
                return name, lives[name][0]
        return None

    def blow(self):
        time.sleep(self.chance.uniform(0, 0.2))
        lives = self.topology.lives()
        struck = [(self.victim(part, lives), part, ending) for part, ending in self.choose()]
        struck = [each for each in struck if each[0]]
        began = time.monotonic()
        for (name, pid), part, ending in struck:
            os.kill(pid, ENDINGS[ending])
            self.topology.struck[name] = pid
            self.struck.append(name)
            self.blows_by_kind[f"{part.split('.')[0]} {ending}"] += 1
        self.hub_lives = self.hub_lives and all(part != "hub" for _, part, _ in struck)
        parts = [part for _, part, _ in struck]
        if "supervisor" in parts:  # without one an ingress is not started again
            self.adopt()
        received = self.topology.audit()["received"]
        wait_until(lambda: self.topology.audit()["received"] > received, PATIENCE,
                   f"traffic goes on after {struck}")
        self.pauses.append(time.monotonic() - began)
        for part in parts:
            if part not in ("supervisor", "hub"):
                self.wait_played(part)
        after = self.topology.lives()
        for name, life in lives.items():
            if not any(name in twins_of(part) for part in parts):
                assert after.get(name, (0,))[:2] == life[:2], f"{name} did not survive"
        return len(struck)

    def adopt(self):
        pid = self.topology.struck["supervisor"]
        wait_until(lambda: not processes.is_running(pid), PATIENCE, "supervisor gone")
        millrace("adopt", self.topology.name, "--detach", *QUICK_RESTARTS,
                 prefix=self.topology.prefix)

    def wait_played(self, part):
        """A new process plays the part."""
        def played():
            actors = {actor["name"]: actor for actor in self.topology.status()["actors"]}
            return any(actors[twin]["state"] == "alive" and
                       actors[twin]["pid"] not in (0, self.topology.struck.get(twin))
                       for twin in twins_of(part))
        wait_until(played, PATIENCE, f"{part} is played again")


def shared_memory_bytes(name):
    """What the topology has in /dev/shm and of huge pages."""
    total = sum(entry.stat().st_blocks * 512 for entry in os.scandir("/dev/shm")
                if entry.name.startswith(f"millrace-{name}."))
    for process in filter(str.isdigit, os.listdir("/proc")):
        segment = f"/proc/{process}/fd/3"
        with contextlib.suppress(OSError):  # it has ended, or has none
            if os.readlink(segment).startswith(f"/memfd:millrace-{name}.segment"):
                return total + os.stat(segment).st_blocks * 512
    raise ValueError(f"no process of {name} has its segment")


def private_bytes(pid):
    """What only this process has written. (Its program's pages are others' too, at times.)"""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("Private_Dirty:"):
                return int(line.split()[1]) * 1024
    raise ValueError(f"no Private_Dirty of process {pid}")
