# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""While a topology does not run its bypass takes the packets."""

import json
import pathlib
import signal

import processes
from processes import wait_until
from topology import Topology, ask, millrace
from wire import Wire

import pytest


def wall(folder, wire, device="afpacket", bypass="bridge: [a, b]"):
    """Lets no ping through."""
    (folder / "no-ping.rules").write_text("drop icmp any -> any\n")
    return f"""
heartbeat_limit: 20s
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


def told(running):
    """What Prometheus finds."""
    path = pathlib.Path(running.run_dir + ".telemetry.json")
    return json.loads(path.read_text(encoding="utf-8"))[0]["labels"] if path.exists() else None


def bridges(wire):
    text = wire.in_middle("ip", "-br", "link", "show", "type", "bridge").stdout
    return [line.split()[0] for line in text.splitlines()]


@pytest.mark.parametrize("device", ["afpacket", "afxdp"])
def test_pings_pass_whenever_the_topology_does_not_run(tmp_path, device):
    with Wire() as wire:
        running = Topology(tmp_path, wall(tmp_path, wire, device), prefix=wire.prefix)
        for _ in range(2):
            with running:
                assert not passes(wire) and not bridges(wire)
                assert not ask("bypass", running.name)["on"]
                wait_until(lambda: told(running) == {"topology": running.name}, 20, "found")
                refused = millrace("bypass", running.name, "on", check=False, prefix=wire.prefix)
                assert refused.returncode != 0 and "runs" in refused.stdout + refused.stderr
                assert running.settle()["dropped"]["rule"] > 0
            wait_until(lambda: passes(wire), 30, "pings pass")
            assert ask("bypass", running.name)["on"] and len(bridges(wire)) == 1
            assert told(running)["bypass"] == "on"
        # Killed whole: whoever cleans up turns it on.
        running.__enter__()
        assert not passes(wire)
        running.kill_everything()
        assert not passes(wire)
        millrace("down", running.name, prefix=wire.prefix)
        wait_until(lambda: passes(wire), 30, "pings pass")
        millrace("bypass", running.name, "off", prefix=wire.prefix)
        assert not bridges(wire) and not ask("bypass", running.name)["on"]
        assert told(running) is None
        pathlib.Path(running.run_dir + ".bypass").unlink()


def test_who_cannot_move_packets_any_more_leaves_them_to_the_bypass(tmp_path):
    with Wire() as wire:
        running = Topology(tmp_path, wall(tmp_path, wire), prefix=wire.prefix,
                           words=("--restarts", "0"))
        running.__enter__()
        pid = running.supervisor()
        assert not passes(wire)
        running.kill("egress.0")
        wait_until(lambda: not processes.is_running(pid), 20, "it has ended")
        wait_until(lambda: passes(wire), 30, "pings pass")
        assert not processes.processes_of(running.run_dir)
        millrace("bypass", running.name, "off", prefix=wire.prefix)
        pathlib.Path(running.run_dir + ".bypass").unlink()


def test_a_command_is_told(tmp_path):
    told = tmp_path / "told"
    script = tmp_path / "relay"
    script.write_text(f"#!/bin/sh\necho \"$@\" >> {told}\n")
    script.chmod(0o700)
    with Wire() as wire:
        text = wall(tmp_path, wire, bypass=f"command: [{script}, --card, '3']")
        running = Topology(tmp_path, text, prefix=wire.prefix)
        with running:
            pass
        with running:
            running.kill("front.0" if "front.0" in running.lives() else "egress.0",
                         number=signal.SIGKILL)
        said = told.read_text().splitlines()
        assert said == ["--card 3 on", "--card 3 off", "--card 3 on"]
        millrace("bypass", running.name, "off", prefix=wire.prefix)
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
