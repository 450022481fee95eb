# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""More alerts by their real causes, with the rules' own windows: minutes, so MILLRACE_ALERTS=1 asks
for them. test_alerts_provoked.py has them all with shorter waiting times."""

import os
import shutil
import signal
import subprocess

import pytest

import scene
import servers
from processes import PATIENCE, wait_until
from topology import Topology

pytestmark = [
    pytest.mark.skipif(not shutil.which("prometheus"), reason="no prometheus: make deps"),
    pytest.mark.skipif(not os.environ.get("MILLRACE_ALERTS"), reason="MILLRACE_ALERTS=1 asks"),
]
FIRES_SECONDS = 90
RESOLVES_SECONDS = 400


class Case:
    """A topology and a Prometheus with the rules as they are."""

    def __init__(self, folder, text, words=(), **options):
        self.topology = Topology(folder, text, words=words, **options)
        self.topology.endless = True
        self.folder, self.prometheus = folder, None

    def __enter__(self):
        self.topology.__enter__()
        self.prometheus = servers.Prometheus(
            self.folder / "prometheus", patterns=scene.of_topology(self.topology.run_dir)).start()
        wait_until(lambda: scene.scraped(self.prometheus, self.topology.name), PATIENCE, "scraped")
        return self

    def __exit__(self, *how):
        self.prometheus.stop()
        self.topology.__exit__(*how)

    def fires(self, *names):
        wait_until(lambda: set(names) <= self.prometheus.firing(), FIRES_SECONDS, f"{names} fire")

    def resolved(self, *names):
        wait_until(lambda: not set(names) & self.prometheus.firing(), RESOLVES_SECONDS,
                   f"{names} resolved")

    def die(self, name, times=1):
        for _ in range(times):
            self.topology.kill(name)
            self.topology.wait_alive(name)


def test_hub_and_standby_gone(tmp_path):
    with Case(tmp_path, scene.text(tmp_path)) as case:
        case.topology.kill("hub")
        case.fires("MillraceHubDown")
        assert "MillraceNoLeader" not in case.prometheus.firing()
        case.topology.kill("standby")
        case.fires("MillraceNoLeader")
        case.topology.down(check=False)
        case.resolved("MillraceHubDown", "MillraceNoLeader")


def test_a_crash_loop(tmp_path):
    with Case(tmp_path, scene.text(tmp_path)) as case:
        case.die("front.0", times=3)
        case.fires("MillraceCrashLoop")
        case.resolved("MillraceCrashLoop")


def test_a_worker_that_is_not_started_again_and_is_gone_past(tmp_path):
    with Case(tmp_path, scene.text(tmp_path), words=("--restarts", "0")) as case:
        case.topology.kill("side.0")
        case.fires("MillraceWorkerDown", "MillraceBypass")


def test_a_stopped_worker_holds_up_its_stream(tmp_path):
    with Case(tmp_path, scene.text(tmp_path, rate_mpps=0.1)) as case:
        pid = case.topology.lives()["front.0"][0]
        os.kill(pid, signal.SIGSTOP)
        case.fires("MillraceHole", "MillraceStreamStalled", "MillracePoolLow")
        os.kill(pid, signal.SIGCONT)
        case.resolved("MillraceHole", "MillraceStreamStalled", "MillracePoolLow")


@pytest.mark.skipif(os.geteuid() != 0, reason="makes an interface: needs root")
def test_a_port_without_link(tmp_path):
    name = f"dash{os.getpid() % 100000}"
    text = scene.text(tmp_path).replace('{ device: "null" }',
                                        f"{{ device: tap, interface: {name} }}")
    with Case(tmp_path, text) as case:
        subprocess.run(["ip", "link", "set", name, "down"], check=True)
        case.fires("MillracePortDown")
        subprocess.run(["ip", "link", "set", name, "up"], check=True)
        case.resolved("MillracePortDown")
