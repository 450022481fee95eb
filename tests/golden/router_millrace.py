# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The function `route` as a router, for the cases of tests/golden/router-cases."""

import contextlib

from processes import PATIENCE, wait_until
from router_hosts import Hosts
from router_world import Cables
from topology import Topology

ANSWERED = "answered"
TOPOLOGY = """
batch: {{ capacity: 32 }}
heartbeat_limit: 60s
ports:
{ports}functions:
  router: {{ type: route, table: routes.txt, icmp_rate: 0, proxy_arp: [{proxy_arp}],
    advertise: [{advertise}] }}
paths:
  all: {{ from: [{names}], to: lan, run: [router] }}
"""


def topology_text(world):
    lines = ""
    for name, port in world.ports.items():
        addresses = ", ".join(f'"{address}"' for address in port.families())
        lines += (f'  {name}: {{ device: afpacket, interface: {name}, mtu: {port.mtu}, '
                  f'mac: "{port.mac}", addresses: [{addresses}] }}\n')
    return TOPOLOGY.format(ports=lines, names=", ".join(world.ports),
                           proxy_arp=", ".join(world.proxy_arp),
                           advertise=", ".join(world.advertise))


class MillraceRouter:
    """`with MillraceRouter(world, folder) as router:` a topology routes; `router.hosts` plays the
    hosts, `router.ended()` says what has ended since it was last asked. At the end of a block
    that did not fail the audit has to be exact."""

    def __init__(self, world, folder):
        self.world, self.folder = world, folder
        self.stack = contextlib.ExitStack()
        self.hosts = self.running = None
        self.told = {}

    def __enter__(self):
        with self.stack:
            cables = self.stack.enter_context(Cables(self.world))
            (self.folder / "routes.txt").write_text(self.world.table())
            self.running = self.stack.enter_context(
                Topology(self.folder, self.topology(cables), prefix=cables.prefix))
            self.hosts = Hosts(self.world, cables.peers, self.settle)
            self.hosts.greet()
            self.ended()
            self.stack = self.stack.pop_all()
        return self

    def topology(self, _):
        """What runs between the cables' ends."""
        return topology_text(self.world)

    def __exit__(self, kind, error, trace):
        return self.stack.__exit__(kind, error, trace)

    def settle(self):
        """Nothing is in the hands of any process."""
        received = None

        def quiet():
            """Packets that wait for a neighbour are in flight, and not in a slot."""
            nonlocal received
            audit = self.running.audit()
            before, received = received, audit["received"]
            return received == before and audit["slots"]["in_use"] == 0
        wait_until(quiet, PATIENCE, "nothing in a slot")

    def ended(self):
        """Packets dropped since it was last asked, by reason, and how many were answered."""
        audit = self.running.audit()
        now = {**audit["dropped"], ANSWERED: audit["consumed"].get(ANSWERED, 0)}
        news = {reason: count - self.told.get(reason, 0) for reason, count in now.items()
                if count != self.told.get(reason, 0)}
        self.told = now
        return news, news.pop(ANSWERED, 0)
