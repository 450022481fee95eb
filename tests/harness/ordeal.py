# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Kills under load, and what has to hold after each of them."""

import random
import signal
import time

from processes import wait_until

ENDINGS = {"kill": signal.SIGKILL, "crash": signal.SIGSEGV, "hang": signal.SIGSTOP}
GOES_ON_SECONDS = {"kill": 2, "crash": 2, "hang": 4}  # a hung one has to be noticed first


def twins_of(name):
    """The actors of which one plays this part: both incarnations of a GPU worker."""
    return [name[:-1] + "a", name[:-1] + "b"] if name.startswith("gpu.") else [name]


class Ordeal:
    def __init__(self, topology, seed, count):
        self.topology = topology
        self.chance = random.Random(seed)
        self.count = count  # packets that the sources have
        self.struck = []

    def running(self, name):
        """Which of the twins plays the part now."""
        lives = self.topology.lives()
        return next(twin for twin in twins_of(name) if twin in lives)

    def strike(self, parts, ending="kill", back=True):
        """The parts' actors end at once. Traffic goes on, the others stay who they are, and those
        who died come back and take batches."""
        topology = self.topology
        time.sleep(self.chance.uniform(0.05, 0.3))
        names = [self.running(part) for part in parts]
        lives = topology.lives()
        topology.kill(*names, number=ENDINGS[ending])
        self.struck += names
        received = topology.audit()["received"]
        topology.wait_received(received + 1, seconds=GOES_ON_SECONDS[ending])
        for part in parts if back else ():
            self.wait_back(part, lives)
        after = topology.lives()
        for name, life in lives.items():
            if name not in names:
                assert after[name] == life, f"{name} did not survive"
        assert topology.audit()["received"] < self.count, "it has to happen under load"

    def wait_back(self, part, lives):
        """Somebody new plays the part, and works."""
        def successor():
            now = self.topology.lives()
            return next((twin for twin in twins_of(part)
                         if twin in now and now[twin] != lives.get(twin)), None)

        def batches():
            return sum(actor["batches"] for actor in self.topology.status()["actors"]
                       if actor["name"] in twins_of(part))

        wait_until(successor, 10, f"{part} started again")
        before = batches()
        wait_until(lambda: batches() > before, 10, f"{part} takes batches again")
