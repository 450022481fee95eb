# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Random delays of processes, made from outside."""

import os
import random
import signal
import threading
import time


class Jitter:
    """While it lives, one of the processes after the other is stopped for some milliseconds: far
    less than what counts as hung. Workers fall behind each other as on a host with other work."""

    def __init__(self, seed, pids, longest_seconds=0.02):
        self.chance = random.Random(seed)
        self.pids = list(pids)
        self.longest = longest_seconds
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def run(self):
        while not self.ended.is_set():
            pid = self.chance.choice(self.pids)
            try:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(self.chance.uniform(0.001, self.longest))
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                self.pids.remove(pid)
                if not self.pids:
                    return
            time.sleep(0.002)
