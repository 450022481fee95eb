# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The topologies that come with Millrace, brought up as they are between real hosts: only names of
interfaces and addresses of neighbours are those of the test."""

import pathlib
import re
import time

import pytest

from processes import PATIENCE, wait_until
from topology import Topology
from vlan_switch import VlanSwitch
from wire import Wire, run, wait_heard

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "orchestration/topologies"
ROUTER = {"addresses": ("10.1.0.2/24", "192.0.2.2/24")}


def text_of(folder, name, ports):
    """Sections of a topology of ours; tables and rules that it names lie beside it."""
    text = (FOLDER / f"{name}.yaml").read_text()
    for file in set(re.findall(r"[a-z-]+\.(?:routes|rules)", text)):
        table = (FOLDER / file).read_text()
        for ours, theirs in (("02:00:00:00:01:02", "02:00:00:00:0a:01"),
                             ("02:00:00:00:02:02", "02:00:00:00:0b:01")):
            table = table.replace(ours, theirs)
        (folder / file).write_text(table)
    for ours, theirs in ports.items():
        text = text.replace(f"interface: {ours}", f"interface: {theirs}")
    return re.sub(r"^(millrace|name):.*\n", "", text, flags=re.M)


def between(folder, name, wire):
    return Topology(folder, text_of(folder, name, {"eth1": wire.port_a, "eth2": wire.port_b}),
                    prefix=wire.prefix)


def introduce(wire, gateway_a, gateway_b):
    wire.a.route("default", gateway_a)
    wire.b.route("default", gateway_b)


@pytest.mark.parametrize("name, queues", [("bump", 1), ("fused", 1), ("afxdp-server", 4)])
def test_a_bump_in_the_wire(tmp_path, name, queues):
    with Wire(queues=queues) as wire, between(tmp_path, name, wire) as running:
        wire.a.wait_for(wire.b.ip)
        wire.fetch(tmp_path, 3)
        assert running.settle()["transmitted"] > 2000


def test_a_router(tmp_path):
    with Wire(**ROUTER) as wire:
        introduce(wire, "10.1.0.1", "192.0.2.1")
        with between(tmp_path, "router", wire) as running:
            wait_until(lambda: running.audit()["generated"].get("announce") == 4, PATIENCE,
                       "two announcements of two addresses")
            wire.a.wait_for(wire.b.ip)
            assert "ttl=63" in wire.a.hears(wire.b.ip)
            wire.fetch(tmp_path, 3)


def test_a_router_for_the_programs_of_its_host(tmp_path):
    with Wire(**ROUTER) as wire:
        text = text_of(tmp_path, "tap-router", {"eth1": wire.port_b})
        with Topology(tmp_path, text, prefix=wire.prefix) as running:
            wire.b.route("default", "192.0.2.1")
            wire.in_middle("ip", "route", "add", "192.0.2.0/24", "via", "10.1.0.1")
            wait_heard(wire.in_middle, wire.b.ip, "ttl=63")
            assert running.settle()["transmitted"] >= 2
        assert "mill-lan" not in wire.in_middle("ip", "link").stdout


def test_a_router_with_a_trunk(tmp_path):
    hosts = {"office": ("8100000a", ("10.10.0.5/24",), ("10.10.0.1",)),
             "customer": ("88a8006481000014", ("10.30.0.5/24",), ("10.30.0.1",))}
    with (Wire(**ROUTER) as wire, VlanSwitch(wire.a, hosts) as vlans,
          between(tmp_path, "router-vlans", wire) as running):
        wire.b.route("default", "192.0.2.1")
        for host in vlans.values():
            wait_heard(host.run, wire.b.ip, "ttl=63")
        running.settle()


def test_a_router_with_the_host_behind_it(tmp_path):
    with Wire(**ROUTER) as wire, between(tmp_path, "router-host", wire) as running:
        wire.a.route("default", "10.1.0.1")
        wire.b.route("default", "192.0.2.1")
        wire.a.wait_for(wire.b.ip)
        wire.fetch(tmp_path, 3)
        for host in (wire.a, wire.b):
            wait_heard(wire.in_middle, host.ip)
        assert running.settle()["generated"]["punt"] >= 2


def test_two_paths_have_workers_of_their_own(tmp_path):
    with Wire(**ROUTER) as wire:
        introduce(wire, "10.1.0.1", "192.0.2.1")
        with between(tmp_path, "branch", wire) as running:
            def packets(group):
                return sum(actor["packets"] for actor in running.status()["actors"]
                           if actor["name"].startswith(group))
            wire.a.wait_for(wire.b.ip)
            wire.fetch(tmp_path, 3)
            wait_until(lambda: packets("deep.") > 2000, PATIENCE, "the page is counted")
            before = packets("fast.")
            assert before < 50  # names are looked up by the server
            send = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM);"
                    f"[s.sendto(bytes(100), ('{wire.b.ip}', 53)) for _ in range(50)]")
            wire.a.run("python3", "-c", send)
            wait_until(lambda: packets("fast.") >= before + 50, PATIENCE, "50 urgent packets")
            running.settle()


class Switch:
    """The two cables end in a switch, at which a router has one arm."""

    def __init__(self, wire):
        self.wire = wire
        commands = ["link add switch type bridge", "link set switch up",
                    "link add arm type veth peer name socket", "link set arm up",
                    "link set socket master switch up"]
        for port in (wire.port_a, wire.port_b):
            commands.append(f"link set {port} master switch")
        for command in commands:
            run("ip", "-n", wire.middle, *command.split())
        wire.in_middle("ethtool", "-K", "socket", "tso", "off", "gso", "off", "gro", "off")


def test_a_router_with_one_arm(tmp_path):
    with Wire(addresses=("10.1.0.2/24", "10.2.0.2/24")) as wire:
        Switch(wire)
        introduce(wire, "10.1.0.1", "10.2.0.1")
        text = text_of(tmp_path, "one-armed", {"eth1": "arm"})
        with Topology(tmp_path, text, prefix=wire.prefix) as running:
            wire.a.wait_for(wire.b.ip)
            assert "ttl=63" in wire.a.hears(wire.b.ip)
            wire.fetch(tmp_path, 3)
            assert running.settle()["transmitted"] > 2000


def is_up(wire, port):
    flags = wire.in_middle("cat", f"/sys/class/net/{port}/flags").stdout
    return int(flags, 16) & 1 == 1


def has_carrier(host):
    return "NO-CARRIER" not in run("ip", "-n", host.namespace, "link", "show", "eth").stdout


def link(host, state):
    run("ip", "-n", host.namespace, "link", "set", "eth", state)


def test_the_link_of_one_side_goes_with_that_of_the_other(tmp_path):
    with Wire() as wire, between(tmp_path, "bump", wire) as running:
        wire.a.wait_for(wire.b.ip)
        lives = running.lives()
        for here, there, far in ((wire.a, wire.b, wire.port_b), (wire.b, wire.a, wire.port_a)):
            link(here, "down")
            wait_until(lambda far=far: not is_up(wire, far), PATIENCE, "the other side down")
            wait_until(lambda there=there: not has_carrier(there), PATIENCE, "which sees it")
            time.sleep(1.5)  # it stays so: what we hold down is no reason for the other side
            assert not is_up(wire, far) and is_up(
                wire, wire.port_a if far == wire.port_b else wire.port_b)
            link(here, "up")
            wait_until(lambda far=far: is_up(wire, far), PATIENCE, "the other side up")
            wire.a.wait_for(wire.b.ip)
        assert running.lives() == lives
        events = [event["kind"] for event in running.status()["events"]]
        assert events.count("link_held_down") == 2 and events.count("link_let_up") == 2
        running.settle()


def test_what_was_held_down_is_up_again_at_the_end(tmp_path):
    with Wire() as wire:
        with between(tmp_path, "bump", wire) as running:
            wire.a.wait_for(wire.b.ip)
            link(wire.a, "down")
            wait_until(lambda: not is_up(wire, wire.port_b), PATIENCE, "the other side down")
            running.adopt_after_kill()
            time.sleep(1.5)
            assert not is_up(wire, wire.port_b)
            link(wire.a, "up")
            wait_until(lambda: is_up(wire, wire.port_b), PATIENCE, "the other side up")
            link(wire.a, "down")
            wait_until(lambda: not is_up(wire, wire.port_b), PATIENCE, "down again")
        assert is_up(wire, wire.port_b)
        assert "millrace" not in wire.in_middle("ip", "link", "show", wire.port_b).stdout
