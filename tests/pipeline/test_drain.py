# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`drain`: no port is read until `undrain`, whatever dies or changes meanwhile."""

import signal
import subprocess

import frames
import processes
from processes import PATIENCE, wait_until
from topology import BIN, Topology, ask, millrace
from wire import Wire

import pytest

PORTS = "in: {{ device: generate, numbered: true, flows: 64, seed: {seed}, rate_mpps: 0.01 }}"


def endless(folder, seed):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
batch: {{ capacity: 32 }}
ports:
  {PORTS.format(seed=seed)}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 2, max: 3, dispatch: any }}
  gpu:   {{ kind: gpu, device: software, seed: {seed}, delay_us: 500, reorder: true }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
  scan: {{ type: match, rules: all.rules, on: gpu }}
paths:
  main: {{ from: in, to: out, run: [look, scan], lanes: 1 }}
"""


def drained(name):
    """What `drain` answers."""
    return ask("drain", name, "--patience", PATIENCE)


def assert_drained(audit):
    assert audit["quiet"] and audit["exact"] and audit["in_flight"] == 0
    assert audit["slots"]["in_use"] == 0 and audit["buffers"]["in_use"] == 0
    assert audit["received"] == audit["transmitted"] + sum(audit["dropped"].values())


def test_it_holds_whatever_dies_or_changes_until_undrain(tmp_path, seed):
    with Topology(tmp_path, endless(tmp_path, seed)) as running:
        running.wait_received(1000)
        assert not running.status()["drained"]
        audit = drained(running.name)
        assert_drained(audit)
        assert running.status()["drained"]
        assert "millrace undrain" in millrace("status", running.name).stdout
        ended = ("front.0", "ingress.in.0", "egress.0", "gpu.0.a", "hub")
        running.kill(*ended)
        running.wait_alive("front.0", "ingress.in.0", "egress.0", "gpu.0.b")
        wait_until(lambda: running.status()["phase"] == "degraded", PATIENCE, "the hub is missed")
        running.scale("front", 3)
        running.adopt_after_kill()
        assert running.status()["drained"]
        again = drained(running.name)
        assert again["by"] == "standby" and again["received"] == audit["received"]
        assert ask("undrain", running.name)["was_drained"]
        running.wait_received(audit["received"] + 1000)
        assert not running.status()["drained"]
        assert not ask("undrain", running.name)["was_drained"]
        kinds = [event["kind"] for event in running.status()["events"]]
        assert kinds.count("undrained") == 1
        last = drained(running.name)
        assert_drained(last)
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(last["received"]))


def test_a_source_stands_still_meanwhile(tmp_path, seed):
    """What it would have sent is neither sent in one burst nor missed."""
    text = endless(tmp_path, seed).replace("rate_mpps: 0.01", "rate_mpps: 1")
    with Topology(tmp_path, text) as running:
        running.wait_received(1000)
        drained(running.name)
        missed = lambda: running.metrics().total("millrace_port_missed_packets_total", port="in")
        before = missed()
        running.kill("front.0")  # takes longer than 4,096 packets of 1 us
        running.wait_alive("front.0")
        assert missed() == before
        ask("undrain", running.name)
        drained(running.name)


def test_what_does_not_end_is_named(tmp_path, seed):
    with Topology(tmp_path, endless(tmp_path, seed)) as running:
        running.wait_received(1000)
        workers = ("front.0", "front.1")
        running.kill(*workers, number=signal.SIGSTOP)
        wait_until(lambda: running.audit()["slots"]["free"] == 0, PATIENCE, "all wait for workers")
        refused = millrace("drain", running.name, "--patience", 1, check=False)
        assert refused.returncode == 1, refused.stdout
        assert "not drained within 1 s" in refused.stderr
        assert "in flight, received by port in into lane 0" in refused.stderr
        assert running.status()["drained"], "no port is read, also now"
        running.kill(*workers, number=signal.SIGCONT)
        audit = drained(running.name)
        assert_drained(audit)
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(audit["received"]))


def test_until_done_is_done_when_drained(tmp_path, seed):
    topology = Topology(tmp_path, endless(tmp_path, seed))
    with subprocess.Popen([BIN / "millrace", "up", topology.file, "--until-done"],
                          stdout=subprocess.DEVNULL) as up:
        try:
            wait_until(lambda: millrace("audit", topology.name, check=False).returncode == 0,
                       PATIENCE, "it runs")
            topology.wait_received(1000)
            run_dir = topology.status()["run_dir"]
            audit = drained(topology.name)
            assert_drained(audit)
            wait_until(lambda: up.poll() is not None, PATIENCE, "it ends by itself")
            assert up.returncode == 0 and not processes.processes_of(run_dir)
        finally:
            up.terminate()
            up.wait()
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(audit["received"]))


@pytest.mark.parametrize("device", ["afpacket", "afxdp", "tap"])
def test_an_interface_goes_on_receiving(tmp_path, device):
    """Pings wait in the interface's queue, and are answered when it is read on."""
    text = f"""
ports:
  porta: {{ device: {device}, interface: porta }}
  portb: {{ device: {device}, interface: portb }}
paths:
  there: {{ from: porta, to: portb }}
  back:  {{ from: portb, to: porta }}
"""
    with Wire(device=device) as wire, wire.between(tmp_path, text) as running:
        wire.a.wait_for(wire.b.ip)
        for host, other in ((wire.a, wire.b), (wire.b, wire.a)):
            host.neighbour(other.ip, other.mac)
        audit = drained(running.name)
        assert_drained(audit)
        ping = wire.a.start("ping", "-c", "20", "-i", "0.05", "-W", PATIENCE, wire.b.ip)
        sent = lambda: int(wire.a.run("nstat", "-asz", "IcmpOutEchos").stdout.split()[-2])
        before = sent()
        wait_until(lambda: sent() > before + 3, PATIENCE, "pings are sent")
        assert running.audit()["received"] == audit["received"]
        ask("undrain", running.name)
        assert ping.wait(timeout=PATIENCE) == 0
        running.wait_received(audit["received"] + 40)
