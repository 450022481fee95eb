# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Interfaces that get another name while a topology has them."""

import contextlib

from behind import THEIRS
from processes import PATIENCE, wait_until
from test_interfaces import TAKEN, bump, features_of, kinds_of, links_of
from test_kernel_routes import ANSWER, FAR, NETWORK, NO_ROUTE, following, ip, says
from topology import Topology, millrace
from wire import Wire

import pytest


@pytest.mark.parametrize("device", TAKEN)
def test_an_interface_that_is_renamed_stays_the_ports(tmp_path, device):
    with Wire() as wire:
        wire.in_middle("ip", "link", "set", wire.port_b, "alias", "an alias")
        features, links = features_of(wire), links_of(wire)
        # Nothing may take it for gone, neither now nor when its workers begin anew.
        with Topology(tmp_path, bump(wire, device), prefix=wire.prefix) as running:
            wire.a.wait_for(wire.b.ip)
            rename(wire, wire.port_b, "renamed")
            wait_until(lambda: "port_renamed" in kinds_of(running), PATIENCE, "the new name seen")
            wire.a.ping(wire.b.ip)
            for part in ("ingress.b.0", "egress.0"):
                running.kill(part)
                running.wait_alive(part)
            wire.a.wait_for(wire.b.ip)
            wire.in_middle("ip", "link", "set", "renamed", "mtu", "9000")
            wait_until(lambda: "port_mtu" in kinds_of(running), PATIENCE, "the new MTU seen")
            wire.in_middle("ip", "link", "set", "renamed", "mtu", "1500")
            assert not {"port_lost", "port_taken_again"} & set(kinds_of(running))
            running.settle()
        rename(wire, "renamed", wire.port_b)
        assert features_of(wire) == features and links_of(wire) == links
        # Killed as a whole; `down` mends it under the name that it has by then.
        killed = Topology(tmp_path, bump(wire, device), prefix=wire.prefix)
        with contextlib.ExitStack() as stack:
            stack.callback(killed.down, check=False)
            killed.__enter__()
            killed.kill_everything()
            rename(wire, wire.port_b, "renamed")
            millrace("down", killed.name, prefix=wire.prefix)  # where it sees them
        rename(wire, "renamed", wire.port_b)
        assert features_of(wire) == features and links_of(wire) == links


@pytest.mark.parametrize("placement", ["processes", "fused"])
def test_routes_by_an_interface_of_the_host_that_is_renamed_stay(tmp_path, placement):
    with following(tmp_path, more=f"placement: {placement}") as (wire, running):
        gateway = THEIRS["wan"][0]
        ip(wire, 4, "add", NETWORK[4], "via", gateway, "dev", "mr-wan")
        says(wire, FAR[4], ANSWER)
        rename(wire, "mr-wan", "renamed")
        # Another one of that name has nothing to do with it.
        wire.in_middle("ip", "link", "add", "mr-wan", "type", "veth", "peer", "name", "other")
        # All routes are read again when an address comes, and by a new table and a new process.
        wire.in_middle("ip", "address", "add", "198.18.9.1/24", "dev", "renamed")
        ip(wire, 4, "add", "203.0.113.0/24", "via", gateway, "dev", "renamed")
        wire.b.run("ip", "address", "add", "203.0.113.9/32", "dev", "lo")
        says(wire, "203.0.113.9", ANSWER)
        wire.a.ping(FAR[4], count=5)
        millrace("reload", running.name, "router", prefix=wire.prefix)
        wire.a.ping(FAR[4], count=5)
        if placement == "processes":
            running.kill("classifier.0")
            running.wait_alive("classifier.0")
        says(wire, FAR[4], ANSWER)
        ip(wire, 4, "del", NETWORK[4])
        says(wire, FAR[4], NO_ROUTE[4])
        running.settle()


def rename(wire, name, to):
    wire.in_middle("ip", "link", "set", name, "name", to)
