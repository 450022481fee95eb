# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""An interface that is away while the workers of its port begin anew: they wait for it, all other
ports go on, and it is used again once it is back."""

from processes import PATIENCE, wait_until
from test_interfaces import TAKEN, kinds_of, ports
from topology import QUICK_RESTARTS, Topology
from wire import Wire

import pytest


def to_null(wire, device):
    """What comes by `a` also leaves without `b`, so that it is seen to go on."""
    return ports(wire, device) + """\
  void: { device: "null" }
paths:
  seen:  { from: a, to: void, match: "udp port 9" }
  there: { from: a, to: b }
  back:  { from: b, to: a }
"""


@pytest.mark.parametrize("device", TAKEN)
def test_workers_that_begin_while_an_interface_is_away_use_it_when_it_is_back(tmp_path, device):
    with Wire() as wire, Topology(tmp_path, to_null(wire, device), prefix=wire.prefix,
                                  words=QUICK_RESTARTS) as running:
        wire.a.wait_for(wire.b.ip)
        wire.b.unplug()
        wait_until(lambda: "port_lost" in kinds_of(running), PATIENCE, "the loss seen")
        for part in ("egress.0", "ingress.b.0"):
            running.kill(part)
            running.wait_alive(part)
        wait_until(lambda: any("interface 'portb' is gone; read again" in event["text"]
                               for event in running.status()["events"]), PATIENCE, "it is told")
        sent = running.audit()["transmitted"]
        wire.a.neighbour("10.9.0.9", "02:00:00:00:00:09")
        wire.a.run("bash", "-c", "for i in {1..20}; do echo > /dev/udp/10.9.0.9/9; done")
        wait_until(lambda: running.audit()["transmitted"] >= sent + 20, PATIENCE,
                   "the other port goes on")
        lives = running.lives()
        wire.plug(wire.b, wire.port_b)
        wire.a.wait_for(wire.b.ip)
        assert running.lives()["egress.0"] == lives["egress.0"]
        lost = running.settle()["dropped"]
        assert set(lost) <= {"no_output", "tx_full", "egress_lost", "worker_lost"}, lost
