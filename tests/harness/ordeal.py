# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Kills under load, and what has to hold after each of them."""

import random
import signal
import threading
import time

from processes import wait_until

ENDINGS = {"kill": signal.SIGKILL, "crash": signal.SIGSEGV, "hang": signal.SIGSTOP}
# Recovery takes milliseconds, that of a hung one a second more. Other work on the host may keep
# any of the processes waiting, so this only says: not for ever.
GOES_ON_SECONDS = 15


def twins_of(name):
    """The actors of which one plays this part: both incarnations of a GPU worker."""
    return [name[:-1] + "a", name[:-1] + "b"] if name.startswith("gpu.") else [name]


def ended(audit):
    """Packets that have left or were dropped."""
    return audit["transmitted"] + sum(audit["dropped"].values())


class striking:
    """Something is done again and again by a thread while the block runs."""

    def __init__(self, what, every):
        self.what, self.every, self.error = what, every, None
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.stop.wait(self.every):
                self.what()
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error

    def __enter__(self):
        self.thread.start()

    def __exit__(self, kind, error, trace):
        self.stop.set()
        self.thread.join()
        if self.error is not None and kind is None:
            raise self.error


class Ordeal:
    def __init__(self, topology, seed, count, stateful=()):
        self.topology = topology
        self.chance = random.Random(seed)
        self.count = count  # packets that the sources have
        self.stateful = stateful  # groups whose lanes have state
        self.received = 0  # of them, after the last blow
        self.struck = []

    def blows(self, most, least=1):
        """0, 1, ...: as many blows as begin in the first half of the load, within these bounds.
        The second half is for the last of them, on a host where everything takes long."""
        for number in range(most):
            if number >= least and self.received > self.count / 2:
                return
            yield number

    def strike(self, parts, ending="kill", back=True):
        """The parts' actors end at once. Traffic goes on, the others stay who they are, and those
        who died come back and take batches."""
        topology = self.topology
        time.sleep(self.chance.uniform(0.05, 0.3))
        lives = topology.lives()
        names = [next(twin for twin in twins_of(part) if twin in lives) for part in parts]
        self.hit(names, ending, lives)
        self.struck += names
        received = topology.audit()["received"]
        # What came before has an end, and so has something that came after.
        self.wait_for(lambda: ended(topology.audit()) > received,
                      f"more than {received} packets have an end after {names} ended by {ending}")
        for part in parts if back else ():
            self.wait_back(part, lives)
        after = topology.lives()
        for name, life in lives.items():
            if name not in names:
                assert after.get(name) == life, f"{name} did not survive"
        self.assert_load()

    def hit(self, names, ending, lives):
        self.topology.kill(*names, number=ENDINGS[ending], lives=lives)

    def assert_load(self):
        self.received = self.topology.audit()["received"]
        assert self.received < self.count, "it has to happen under load"

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
        time.sleep(0.1)
        after = batches()
        return max(before, key=lambda name: after[name] - before[name])

    def wait_back(self, part, lives):
        """Somebody new plays the part, and works. `lives`: those when it was struck."""
        topology, seen = self.topology, []

        def works():
            actors = {actor["name"]: actor for actor in topology.status()["actors"]}
            batches = sum(actors[name]["batches"] for name in self.takers(part, actors))
            for twin in twins_of(part):
                new = actors[twin]["pid"] not in (0, lives.get(twin, (0,))[0])
                if new and actors[twin]["state"] == "alive":
                    seen.append(batches)
            return seen and batches > seen[0]

        self.wait_for(works, f"{part} started again and takes batches")

    def wait_for(self, condition, what):
        try:
            wait_until(condition, GOES_ON_SECONDS, what)
        except AssertionError:
            self.assert_load()  # without any, there is nothing to wait for
            raise
