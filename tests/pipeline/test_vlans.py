# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Ports of device `vlan`: a router whose networks share a cable, by tags of 802.1Q and 802.1ad."""

import contextlib
import os

import pytest

from processes import PATIENCE, wait_until
from topology import Topology, millrace
from vlan_switch import VlanSwitch
from wire import Wire, hears, wait_heard

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
# Name of a host: its tags, its addresses, its gateways.
HOSTS = {
    "office": ("8100000a", ("10.10.0.5/24", "2001:db8:10::5/64"), ("10.10.0.1", "2001:db8:10::1")),
    "guests": ("81000014", ("10.20.0.5/24",), ("10.20.0.1",)),
    "customer": ("88a8006481000014", ("10.30.0.5/24",), ("10.30.0.1",)),
    "stranger": ("8100001e", ("10.10.0.6/24",), ("10.10.0.1",)),  # VLAN 30, which no port has
    "urgent": ("81006000", ("10.1.0.6/24",), ("10.1.0.1",)),  # VLAN 0 with a priority
}
TEXT = """
{more}
ports:
  trunk: {{ device: afpacket, interface: {trunk}, addresses: [10.1.0.1/24] }}
  wan: {{ device: afpacket, interface: {wan}, addresses: [192.0.2.2/30, "2001:db8:2::2/64"] }}
  office:
    {{ device: vlan, link: trunk, id: 10, addresses: [10.10.0.1/24, "2001:db8:10::1/64"]{host} }}
  guests: {{ device: vlan, link: trunk, id: 20, addresses: [10.20.0.1/24] }}
  customer: {{ device: vlan, link: trunk, outer: 100, id: 20, addresses: [10.30.0.1/24] }}
functions:
  router: {{ type: route, table: none.routes }}
paths:
  all: {{ from: [trunk, wan], to: wan, run: [router] }}
"""


@contextlib.contextmanager
def vlans(folder, more="", host=""):
    (folder / "none.routes").write_text("198.51.100.0/24 drop\n")
    with Wire(addresses=("10.1.0.5/24", "192.0.2.1/30")) as wire:
        wire.b.add_address("2001:db8:2::1/64")
        wire.b.run("ip", "route", "add", "default", "via", "192.0.2.2")
        wire.b.run("ip", "-6", "route", "add", "default", "via", "2001:db8:2::2")
        wire.a.run("ip", "route", "add", "default", "via", "10.1.0.1")
        text = TEXT.format(trunk=wire.port_a, wan=wire.port_b, more=more, host=host)
        with VlanSwitch(wire.a, HOSTS) as hosts, Topology(folder, text,
                                                          prefix=wire.prefix) as running:
            yield wire, hosts, running


def reaches(host, address):
    wait_heard(host.run, address)


@pytest.mark.parametrize("placement", ["processes", "fused"])
def test_hosts_of_vlans_reach_each_other_and_the_rest(tmp_path, placement):
    with vlans(tmp_path, more=f"placement: {placement}") as (wire, hosts, running):
        for name, gateway in (("office", "10.10.0.1"), ("guests", "10.20.0.1"),
                              ("customer", "10.30.0.1"), ("urgent", "10.1.0.1")):
            reaches(hosts[name], gateway)
            reaches(hosts[name], "192.0.2.1")
        reaches(hosts["office"], "2001:db8:2::1")
        reaches(hosts["office"], "10.20.0.5")
        reaches(hosts["guests"], "10.30.0.5")
        reaches(wire.b, "10.30.0.5")
        reaches(wire.b, "2001:db8:10::5")
        wire.a.wait_for("192.0.2.1")  # without tags
        reaches(wire.a, "10.20.0.5")
        for size in (1472, 4000):
            assert "1 received" in hears(hosts["office"], "192.0.2.1", "-s", size)
        said = hears(hosts["office"], "10.20.0.5", "-t", "1")
        assert "From 10.10.0.1" in said and "Time to live exceeded" in said, said
        said = hears(hosts["guests"], "10.10.0.77")
        assert "From 10.20.0.1" in said and "Host Unreachable" in said, said
        before = running.audit()["dropped"].get("not_forwarded", 0)
        hosts["stranger"].run("ping", "-c", "1", "-W", "0.5", "10.10.0.1", check=False)
        wait_until(lambda: running.audit()["dropped"].get("not_forwarded", 0) > before, PATIENCE,
                   "a VLAN that no port has is dropped")
        running.settle()


def test_streams_survive_kills(tmp_path):
    with vlans(tmp_path) as (wire, hosts, running):
        reaches(hosts["office"], "192.0.2.1")
        wire.b.start("iperf3", "-s")  # one try may fail
        client = ("iperf3", "-c", "192.0.2.1", "-n", "20M", "--connect-timeout", "1000")
        reaches(hosts["customer"], "192.0.2.1")
        running.kill("egress.0")
        running.wait_alive("egress.0")
        running.kill("classifier.0")
        running.wait_alive("classifier.0")
        wait_until(lambda: hosts["office"].run(*client, check=False).returncode == 0, PATIENCE,
                   "a stream")
        running.settle()


def test_a_host_behind_a_vlan(tmp_path):
    with vlans(tmp_path, host=", host_interface: mr-office") as (wire, hosts, running):
        shown = wire.in_middle("ip", "address", "show", "mr-office").stdout
        assert "10.10.0.1/24" in shown
        wait_heard(wire.in_middle, "10.10.0.5")
        reaches(hosts["office"], "10.10.0.1")
        running.settle()


@pytest.mark.parametrize("port, why", [
    ("device: vlan, link: trunks, id: 10", "found 'trunks' as 'link' of 'office'"),
    ("device: vlan, link: office, id: 10", "found 'office' as 'link' of 'office'"),
    ("device: vlan, link: trunk, id: 4095", "found '4095' as 'id'"),
    ("device: vlan, link: trunk, id: 20", "found port 'office' with the tags of 'guests'"),
    ("device: vlan, link: trunk", "found no 'id' in 'office'"),
    ("device: vlan, link: trunk, id: 10, mtu: 9000", "found mtu 9000 of VLAN 'office'"),
])
def test_validate_says_what_is_wrong(tmp_path, port, why):
    file = tmp_path / "vlans.yaml"
    file.write_text(f"""millrace: 1
ports:
  trunk: {{ device: "null" }}
  guests: {{ device: vlan, link: trunk, id: 20 }}
  office: {{ {port} }}
paths:
  all: {{ from: [trunk], to: trunk, run: [] }}
""")
    done = millrace("validate", file, check=False)
    assert done.returncode == 1 and f"{file}:5:" in done.stderr and why in done.stderr, done.stderr
