# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Kills under load, and what has to hold after each of them."""

import os
import random
import signal
import time

from processes import PATIENCE, wait_until

ENDINGS = {"kill": signal.SIGKILL, "crash": signal.SIGSEGV, "hang": signal.SIGSTOP}
# Times that a test of chance runs, each with a seed of its own: more by hand (`make soak`).
SEEDS = range(int(os.environ.get("MILLRACE_SEEDS", "1")))
# More packets than the open batches of all lanes and a burst hold: when so many more are received,
# what an ingress that died had read and not handed on has come again.
AGAIN = 3000


def twins_of(name):
    """The actors of which one plays this part: both incarnations of a GPU worker."""
    return [name[:-1] + "a", name[:-1] + "b"] if name.startswith("gpu.") else [name]


def ended(audit):
    """Packets that were received and have an end."""
    ends = audit["transmitted"] + sum(audit["dropped"].values()) + sum(audit["consumed"].values())
    return ends - sum(audit["generated"].values())


class Ordeal:
    """Blows at a topology whose sources have no end: there is load until drain()."""

    def __init__(self, topology, seed, stateful=()):
        self.topology = topology
        self.chance = random.Random(seed)
        self.stateful = stateful  # groups whose lanes have state
        self.struck = []

    def drain(self):
        """The audit when all that was received has an end."""
        self.topology.wait_received(self.topology.audit()["received"] + AGAIN)
        return self.topology.drain()

    def strike(self, parts, ending="kill", back=True):
        """The parts' actors end at once. Traffic goes on, the others stay the same, and those
        that died come back and take batches."""
        topology = self.topology
        time.sleep(self.chance.uniform(0.05, 0.3))
        lives = wait_until(lambda: self.lives_with(parts), PATIENCE, f"{parts} alive")
        names = [next(twin for twin in twins_of(part) if twin in lives) for part in parts]
        self.hit(names, ending, lives)
        self.struck += names
        received = topology.audit()["received"]
        # What came before has an end, and so has something that came after.
        wait_until(lambda: ended(topology.audit()) > received, PATIENCE,
                   f"more than {received} packets have an end after {names} ended by {ending}")
        for part in parts if back else ():
            self.wait_back(part, lives)
        after = topology.lives()
        for name, life in lives.items():
            if name not in names:
                assert after.get(name) == life, f"{name} did not survive"

    def lives_with(self, parts):
        lives = self.topology.lives()
        played = all(any(twin in lives for twin in twins_of(part)) for part in parts)
        return lives if played else None

    def hit(self, names, ending, lives):
        self.topology.kill(*names, number=ENDINGS[ending], lives=lives)

    def takers(self, part, names):
        """Whose batches show that the part is played: where lanes have state they stay with the
        worker that they went to, and the new one has none."""
        group = part.partition(".")[0]
        return [name for name in names if name.partition(".")[0] == group
                ] if group in self.stateful else twins_of(part)

    def busiest(self, group):
        """The worker of the group that takes the most batches now."""
        def batches():
            return {actor["name"]: actor["batches"] for actor in self.topology.status()["actors"]
                    if actor["name"].partition(".")[0] == group}
        before = batches()
        wait_until(lambda: sum(batches().values()) > sum(before.values()) + 20, PATIENCE,
                   f"{group} takes batches")
        after = batches()
        return max(before, key=lambda name: after[name] - before[name])

    def wait_back(self, part, lives):
        """A new process plays the part, and works. `lives`: those when it was struck."""
        topology, seen = self.topology, []

        def works():
            actors = {actor["name"]: actor for actor in topology.status()["actors"]}
            batches = sum(actors[name]["batches"] for name in self.takers(part, actors))
            for twin in twins_of(part):
                new = actors[twin]["pid"] not in (0, lives.get(twin, (0,))[0])
                if new and actors[twin]["state"] == "alive":
                    seen.append(batches)
            return seen and batches > seen[0]

        wait_until(works, PATIENCE, f"{part} started again and takes batches")
