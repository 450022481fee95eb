# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A flood of TCP SYNs without answers, of one source and of many, through the functions that
know connections: those that are there go on, none of them is pushed out of the table, and every
packet of the flood is accounted for."""

import json
import os

import pytest

from processes import PATIENCE, wait_until
from test_stateful_firewall import ECHO, Kept, serving
from topology import millrace
from wire import Wire

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
PORTS = ("02:00:00:00:00:0a", "02:00:00:00:00:0b")
GATEWAYS = ("10.8.1.1", "10.8.2.1")
FLOODS = {"one source": "sources: 1, destinations: [203.0.113.1]",
          "many sources": "sources: 100000, destinations: [203.0.113.0/24]"}
ROOM = 8192
BEGUN, PUSHED_OUT = "0", "5"  # services/functions/flow/README.md
RULES = """
pass ip any -> any state established,related
pass tcp any -> any in flood state new
pass ip any -> any in lan state new
"""
TEXT = """
ports:
  lan:   {{ device: afpacket, interface: {lan}, mac: "02:00:00:00:00:0a",
           addresses: [10.8.1.1/24] }}
  wan:   {{ device: afpacket, interface: {wan}, mac: "02:00:00:00:00:0b",
           addresses: [10.8.2.1/24] }}
  flood: {{ device: generate, syn: true, {flood}, rate_mpps: 0.02 }}
  sink:  {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: 1, dispatch: flow }}
functions:
  flow:     {{ type: flow, max: {room}, on: front }}
  firewall: {{ type: firewall, rules: way.rules, non_ip: pass, on: front }}
  route:    {{ type: route, table: way.routes, on: front }}
paths:
  main: {{ from: [lan, wan, flood], to: wan, run: [flow, firewall, route], lanes: 4 }}
"""


def flow_hits(wire, running, number):
    return wire.metrics_of(running).total("millrace_function_number_hits_total", function="flow",
                                          number=number)


def established(running):
    said = millrace("flows", running.name, "--json", "--filter", "state=established dport=7")
    return json.loads(said.stdout)["flows"]


@pytest.mark.parametrize("flood", FLOODS)
def test_connections_outlive_a_flood(tmp_path, flood):
    (tmp_path / "way.rules").write_text(RULES)
    with Wire(addresses=("10.8.1.10/24", "10.8.2.10/24")) as wire:
        (tmp_path / "way.routes").write_text(
            f"10.8.1.0/24 lan {wire.a.mac}\n10.8.2.0/24 wan {wire.b.mac}\n"
            "203.0.113.0/24 sink 02:00:00:00:00:5f\n")
        wire.a.route("10.8.2.0/24", GATEWAYS[0])
        wire.b.route("10.8.1.0/24", GATEWAYS[1])
        text = TEXT.format(lan=wire.port_a, wan=wire.port_b, flood=FLOODS[flood], room=ROOM)
        with wire.between(tmp_path, text) as running:
            wire.a.wait_for(wire.b.ip)
            with serving(wire.b, ECHO, port=7), Kept(wire.a, wire.b.ip) as kept:
                assert kept.holds()
                begun = flow_hits(wire, running, BEGUN)
                wire.fetch(tmp_path, 3)
                wait_until(lambda: flow_hits(wire, running, BEGUN) >= begun + 2 * ROOM
                           and flow_hits(wire, running, PUSHED_OUT) > ROOM, PATIENCE,
                           "a table that was full several times over")
                assert len(established(running)) == 1
                assert kept.holds()
                audit = running.drain()
                assert wire.metrics_of(running).total("millrace_flows") <= ROOM
    assert audit["received"] > 2 * ROOM and audit["dropped"].get("flow_table_full", 0) == 0
