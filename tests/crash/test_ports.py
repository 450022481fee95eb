# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""An ingress of a network interface dies: the kernel goes on receiving for the next one."""

import os
import pathlib
import random
import time

import pytest
from flows import FLOWS, Load
from ordeal import ENDINGS
from processes import PATIENCE, wait_until
from test_crash import hung_after
from topology import QUICK_RESTARTS
from wire import Wire

BLOWS = {"kill": 8, "crash": 8, "hang": 3}
LARGE, CUTTING = ", ring: 65536", ", super_frames: true"


def bump(wire, settings, heartbeat=hung_after("kill")):
    return f"""
heartbeat_limit: {heartbeat}
ports:
  a: {{ device: afpacket, interface: {wire.port_a}{settings} }}
  b: {{ device: afpacket, interface: {wire.port_b} }}
paths:
  there: {{ from: a, lanes: 4 }}
  back:  {{ from: b }}
"""


@pytest.mark.parametrize("settings, at_once, ending", [
    (LARGE, 1, "kill"), (LARGE + ", queues: 3", 1, "kill"), (LARGE + ", queues: 3", 1, "hang"),
    (LARGE + ", queues: 3, queues_max: 3", 1, "crash"), (CUTTING, 50, "kill"),
    (CUTTING + ", queues: 3, queues_max: 3", 50, "kill")])
def test_an_ingress_of_an_interface_costs_nothing(tmp_path, seed, settings, at_once, ending):
    """Neither a packet nor the order of a flow, with several queues, and amid super-frames."""
    chance = random.Random(seed)
    with Wire(super_frames=at_once > 1) as wire, wire.between(
            tmp_path, bump(wire, settings, hung_after(ending)), words=QUICK_RESTARTS) as running:
        wire.a.wait_for(wire.b.ip)
        wire.a.neighbour(wire.b.ip, wire.b.mac)
        queues = [actor["name"] for actor in running.status()["actors"]
                  if actor["name"].startswith("ingress.a.")]
        with Load(wire, tmp_path, 4000 if at_once == 1 else 20000, at_once) as load:
            for _ in range(BLOWS[ending]):
                time.sleep(chance.uniform(0.1, 0.4))
                struck = chance.sample(queues, chance.randint(1, len(queues)))
                running.wait_alive(*struck)
                running.kill(*struck, number=ENDINGS[ending])
            running.wait_alive(*queues)
            sent, got = load.end(running)
        assert got == {"count": sent, "overtaken": 0, "flows": FLOWS}
        audit = running.settle()
        assert audit["received"] == audit["transmitted"] and audit["dropped"] == {}, audit


def packet_sockets(running, name):
    """Inodes of the packet sockets that the actor's process has open."""
    process = pathlib.Path(f"/proc/{running.actor(name)['pid']}")
    lines = (process / "net/packet").read_text(encoding="ascii").splitlines()[1:]
    inodes = {line.split()[8] for line in lines}
    opened = {os.readlink(file) for file in (process / "fd").iterdir()}
    return {inode for inode in inodes if f"socket:[{inode}]" in opened}


def test_sockets_outlive_an_ingress_also_when_hub_and_standby_have_died(tmp_path, seed):
    """The standby that comes then has none to have them from but the ingresses."""
    with Wire() as wire, wire.between(tmp_path, bump(wire, LARGE + ", queues: 3"),
                                      words=QUICK_RESTARTS) as running:
        wire.a.wait_for(wire.b.ip)
        wire.a.neighbour(wire.b.ip, wire.b.mac)
        queues = [f"ingress.a.{queue}" for queue in range(3)]
        read_from = set().union(*(packet_sockets(running, queue) for queue in queues))
        assert len(read_from) == len(queues)
        running.kill("hub")
        wait_until(lambda: running.status()["phase"] == "degraded", PATIENCE, "degraded")
        running.kill("standby")
        running.wait_alive("standby")
        with Load(wire, tmp_path, 4000) as load:
            wait_until(lambda: packet_sockets(running, "standby") >= read_from, PATIENCE,
                       "ingresses have left it what they read from")
            for _ in range(3):
                running.kill(*queues)
                running.wait_alive(*queues)
            sent, got = load.end(running)
        assert got == {"count": sent, "overtaken": 0, "flows": FLOWS}
        audit = running.settle()
        assert audit["received"] == audit["transmitted"] and audit["dropped"] == {}, audit
