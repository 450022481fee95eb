# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The function `route` as a router, for the cases of tests/golden/router-cases."""

import contextlib

from processes import PATIENCE, wait_until
from router_hosts import Hosts
from router_world import Cables
from topology import Topology

TOPOLOGY = """
batch: {{ capacity: 32 }}
heartbeat_limit: 20s
ports:
{ports}functions:
  router: {{ type: route, table: routes.txt, icmp_rate: 0 }}
paths:
  all: {{ from: [{names}], to: lan, run: [router] }}
"""


def topology_text(world):
    lines = ""
    for name, port in world.ports.items():
        addresses = ", ".join(f'"{address}"' for address in port.families())
        lines += (f'  {name}: {{ device: afpacket, interface: {name}, mtu: {port.mtu}, '
                  f'mac: "{port.mac}", addresses: [{addresses}] }}\n')
    return TOPOLOGY.format(ports=lines, names=", ".join(world.ports))


class MillraceRouter:
    """`with MillraceRouter(world, folder) as router:` a topology routes; `router.hosts` plays the
    hosts, `router.dropped()` says what was dropped since it was last asked. At the end of a block
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
                Topology(self.folder, topology_text(self.world), prefix=cables.prefix))
            self.hosts = Hosts(self.world, cables.peers, self.settle)
            self.hosts.greet()
            self.dropped()
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, kind, error, trace):
        return self.stack.__exit__(kind, error, trace)

    def settle(self):
        """Nothing is in the hands of any process."""
        def quiet():
            audit = self.running.audit()
            return audit["quiet"] and audit["exact"]
        wait_until(quiet, PATIENCE, "quiet and exact")

    def dropped(self):
        now = self.running.audit()["dropped"]
        news = {reason: count - self.told.get(reason, 0) for reason, count in now.items()
                if count != self.told.get(reason, 0)}
        self.told = now
        return news
