# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""While a topology does not run its bypass takes the packets."""

import contextlib
import json
import pathlib
import signal

import processes
from processes import PATIENCE, wait_until
from test_running import numbered
from topology import Topology, ask, millrace
from wire import Wire

import pytest


def wall(folder, wire, device="afpacket", bypass="bridge: [a, b]"):
    """Lets no ping through."""
    (folder / "no-ping.rules").write_text("drop icmp any -> any\n")
    return f"""
bypass: {{ {bypass} }}
ports:
  a: {{ device: {device}, interface: {wire.port_a} }}
  b: {{ device: {device}, interface: {wire.port_b} }}
functions:
  wall: {{ type: acl, rules: no-ping.rules }}
paths:
  main: {{ from: [a, b], run: [wall] }}
"""


def passes(wire):
    return wire.a.run("ping", "-c", "1", "-W", "0.5", wire.b.ip, check=False).returncode == 0


def wait_blocked(wire, running):
    """No ping passes, and one has been dropped for that: the first may still ask for the other
    host."""
    def dropped():
        assert not passes(wire)
        return running.audit()["dropped"].get("rule")
    wait_until(dropped, PATIENCE, "a ping that the rule drops")


def told(running):
    """What Prometheus finds."""
    path = pathlib.Path(running.run_dir + ".telemetry.json")
    return json.loads(path.read_text(encoding="utf-8"))[0]["labels"] if path.exists() else None


def bridges(wire):
    text = wire.in_middle("ip", "-br", "link", "show", "type", "bridge").stdout
    return [line.split()[0] for line in text.splitlines()]


@contextlib.contextmanager
def cleaned(running):
    """Whatever happens, neither the topology nor its bypass is left."""
    try:
        yield running
    finally:
        millrace("down", running.name, check=False, prefix=running.prefix)
        millrace("bypass", running.name, "off", check=False, prefix=running.prefix)
        if running.run_dir:
            pathlib.Path(running.run_dir + ".bypass").unlink(missing_ok=True)


@pytest.mark.parametrize("device", ["afpacket", "afxdp"])
def test_pings_pass_whenever_the_topology_does_not_run(tmp_path, device):
    with Wire() as wire, cleaned(Topology(tmp_path, wall(tmp_path, wire, device),
                                          prefix=wire.prefix)) as running:
        for _ in range(2):
            with running:
                wait_blocked(wire, running)
                assert not bridges(wire)
                assert not ask("bypass", running.name)["on"]
                wait_until(lambda: told(running) == {"topology": running.name}, PATIENCE, "found")
                refused = millrace("bypass", running.name, "on", check=False, prefix=wire.prefix)
                assert refused.returncode != 0 and "runs" in refused.stdout + refused.stderr
                running.settle()
            wire.a.wait_for(wire.b.ip)
            assert ask("bypass", running.name)["on"] and len(bridges(wire)) == 1
            assert told(running)["bypass"] == "on"
        # Killed whole: the clean-up turns it on.
        running.__enter__()
        assert not passes(wire)
        running.kill_everything()
        assert not passes(wire)
        millrace("down", running.name, prefix=wire.prefix)
        wire.a.wait_for(wire.b.ip)
        millrace("bypass", running.name, "off", prefix=wire.prefix)
        assert not bridges(wire) and not ask("bypass", running.name)["on"]
        assert told(running) is None


def test_who_cannot_move_packets_any_more_leaves_them_to_the_bypass(tmp_path):
    with Wire() as wire, cleaned(Topology(tmp_path, wall(tmp_path, wire), prefix=wire.prefix,
                                          words=("--restarts", "0"))) as running:
        running.__enter__()
        pid = running.supervisor()
        assert not passes(wire)
        running.kill("egress.0")
        wait_until(lambda: not processes.is_running(pid), PATIENCE, "it has ended")
        wire.a.wait_for(wire.b.ip)
        processes.wait_none(running.run_dir)
        # Why it ended can be read until a user brings it down, or up again.
        refused = millrace("status", running.name, check=False)
        assert refused.returncode == 1 and f"millrace logs {running.name}" in refused.stderr
        said = millrace("logs", running.name).stdout
        assert "given_up: egress.0" in said and f"stay in {running.run_dir}" in said
        assert len(ask("history", running.name)["generations"]) == 1
        assert "its logs are removed" in millrace("down", running.name).stdout
        assert not pathlib.Path(running.run_dir).exists()
        wire.a.wait_for(wire.b.ip)
        millrace("bypass", running.name, "off", prefix=wire.prefix)


def test_it_can_be_turned_on_by_hand_after_everything_was_killed(tmp_path):
    with Wire() as wire, cleaned(Topology(tmp_path, wall(tmp_path, wire),
                                          prefix=wire.prefix)) as running:
        running.__enter__()
        wait_blocked(wire, running)
        running.settle()
        running.kill_everything()
        assert not passes(wire), "it is not turned on"
        millrace("bypass", running.name, "on", prefix=wire.prefix)
        wire.a.wait_for(wire.b.ip)
        millrace("down", running.name, prefix=wire.prefix)
        millrace("bypass", running.name, "off", prefix=wire.prefix)


def relay(folder, then=""):
    """A bypass that writes down what it is told."""
    script = folder / "relay"
    script.write_text(f"#!/bin/sh\necho \"$@\" >> {folder}/told\n{then}\n")
    script.chmod(0o700)
    return script


def test_a_command_is_told(tmp_path):
    told = tmp_path / "told"
    with Wire() as wire:
        text = wall(tmp_path, wire, bypass=f"command: [{relay(tmp_path)}, --card, '3']")
        running = Topology(tmp_path, text, prefix=wire.prefix)
        with running:
            pass
        with running:
            running.kill("front.0" if "front.0" in running.lives() else "egress.0",
                         number=signal.SIGKILL)
        wait_until(lambda: ask("bypass", running.name)["on"], PATIENCE, "on")
        said = told.read_text().splitlines()
        assert said == ["--card 3 off", "--card 3 on"] * 2, "off also before the first start"
        millrace("bypass", running.name, "off", prefix=wire.prefix)
        pathlib.Path(running.run_dir + ".bypass").unlink()


@pytest.mark.parametrize("then, status", [('[ "$1" = off ]', 1), ("sleep 1", 0)])
def test_down_tells_whether_the_command_failed(tmp_path, then, status):
    script = relay(tmp_path, then)
    running = Topology(tmp_path, f"bypass: {{ command: [{script}] }}\n{numbered(tmp_path, 1000)}")
    with running:
        running.settle(received=1000)
        done = millrace("down", running.name, check=False)
        assert done.returncode == status, done.stderr
        assert (f"millrace bypass {running.name} on" in done.stderr) == (status == 1)
        assert (tmp_path / "told").read_text().splitlines() == ["off", "on"]
        assert not pathlib.Path(running.run_dir).exists()
        relay(tmp_path)  # mended
        millrace("bypass", running.name, "on")
        assert ask("bypass", running.name)["on"]
        running.__enter__()
    millrace("bypass", running.name, "off")
    pathlib.Path(running.run_dir + ".bypass").unlink()


def test_what_cannot_be_a_bypass_is_refused(tmp_path):
    cases = {
        "bridge: [a, c]": "found 'c' as port",
        "bridge: [a]": "two ports",
        "bridge: [a, a]": "twice",
        "bridge: [a, n]": "interface of the kernel",
        "command: [relay]": "path from /",
        "bridge: [a, b], command: [/x]": "a bypass",
    }
    for bypass, said in cases.items():
        file = tmp_path / "x.yaml"
        file.write_text(f"""millrace: 1
bypass: {{ {bypass} }}
ports:
  a: {{ device: afpacket, interface: x }}
  b: {{ device: afpacket, interface: y }}
  n: {{ device: "null" }}
paths:
  main: {{ from: a, to: b }}
""")
        refused = millrace("validate", file, check=False)
        assert refused.returncode != 0 and said in refused.stdout + refused.stderr, bypass
