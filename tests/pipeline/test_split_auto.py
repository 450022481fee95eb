# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`on: auto`: the share of a GPU and of the classifiers beside it is measured."""

import contextlib
import os
import signal
import threading
import time

import frames
from ordeal import Ordeal
from processes import PATIENCE, wait_until
from topology import Topology

CAPACITY = 16


def balanced(folder, seed, gpu):
    (folder / "x.rules").write_text('alert "a" name "any a"\n')
    return f"""
batch: {{ capacity: {CAPACITY} }}
heartbeat_limit: 20s
ports:
  in:  {{ device: generate, numbered: true, seed: {seed}, rate_mpps: 0.02 }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  gpu:  {{ kind: gpu, {gpu} }}
  deep: {{ kind: classifier, count: 2, max: 2 }}
functions:
  scan: {{ type: match, rules: x.rules, on: auto }}
paths:
  main: {{ from: in, to: out, run: [scan] }}
"""


def software(seed, delay_us):
    return f"device: software, seed: {seed}, delay_us: {delay_us}, reorder: true"


def share_of(running):
    return running.status()["offload"].get("gpu", "no known")


def wait_share(running, wanted, what):
    def is_wanted():
        share = running.status()["offload"].get("gpu")  # none before the first look
        return share is not None and wanted(share)
    wait_until(is_wanted, 3 * PATIENCE, lambda: f"{what}; the GPU gets {share_of(running)} %")


@contextlib.contextmanager
def slowed(running, names):
    """These actors stand still for most of the time, and never as long as one that hangs."""
    over = threading.Event()
    pids = [running.actor(name)["pid"] for name in names]

    def tell(number):
        for pid in pids:
            os.kill(pid, number)

    def work():
        while not over.is_set():
            for number, seconds in ((signal.SIGSTOP, 0.3), (signal.SIGCONT, 0.03)):
                tell(number)
                time.sleep(seconds)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        tell(signal.SIGCONT)


def assert_all_arrived(folder, audit, lost=0):
    assert audit["exact"] and not audit["dropped"]
    arrived = frames.numbers_in(folder / "out.pcap")
    assert len(arrived) == audit["transmitted"] == audit["received"] - lost
    assert all(first < second for first, second in zip(arrived, arrived[1:]))


def test_the_share_follows_the_side_that_is_sooner(tmp_path, seed):
    """The device keeps a batch for up to 60 ms. Classifiers are sooner until they are slowed."""
    text = balanced(tmp_path, seed, software(seed, 60000))
    with Topology(tmp_path, text) as running:
        wait_share(running, lambda share: share <= 1, "the classifiers are sooner")
        with slowed(running, ["deep.0", "deep.1"]):
            wait_share(running, lambda share: share >= 50, "the classifiers are slow")
        wait_share(running, lambda share: share <= 1, "the classifiers are sooner again")
        metrics = running.metrics()
        audit = running.drain()
    ratio, = metrics.values("millrace_gpu_group_offload_ratio")
    assert ratio <= 0.01
    assert metrics.total("millrace_completions_total") > 0
    assert metrics.total("millrace_stand_in_seconds_total") > 0
    assert_all_arrived(tmp_path, audit)


def test_either_side_may_die_and_nothing_is_lost_but_what_was_in_hand(tmp_path, seed):
    with Topology(tmp_path, balanced(tmp_path, seed, software(seed, 500))) as running:
        ordeal = Ordeal(running, seed)
        for blow in range(4):
            ordeal.strike(["deep.0", "deep.1"] if blow % 2 else ["gpu.0.a"])
        audit = ordeal.drain()
    lost = audit["dropped"].pop("worker_lost", 0)
    assert lost <= CAPACITY * sum(name.startswith("deep") for name in ordeal.struck)
    assert_all_arrived(tmp_path, audit, lost)


def test_the_share_outlives_a_worker_less_and_the_supervisor(tmp_path, seed):
    text = balanced(tmp_path, seed, software(seed, 20000))
    with Topology(tmp_path, text) as running:
        wait_share(running, lambda share: share <= 1, "the classifiers are sooner")
        running.scale("deep", 1)
        wait_share(running, lambda share: share <= 1, "one is sooner, too")
        running.adopt_after_kill()
        known = wait_until(lambda: running.status()["offload"], PATIENCE, "a share is known")
        assert known["gpu"] <= 1, "one that does not know it begins with all"
        audit = running.drain()
    assert_all_arrived(tmp_path, audit)


def test_a_group_that_found_no_gpu_gets_nothing_and_says_so(tmp_path, seed):
    with Topology(tmp_path, balanced(tmp_path, seed, "devices: [63]")) as running:
        wait_share(running, lambda share: share == 0, "there is no GPU with that number")
        texts = [event["text"] for event in running.status()["events"]]
        audit = running.drain()
    assert any("gets no batch, as it found no GPU" in text for text in texts), texts
    assert_all_arrived(tmp_path, audit)
