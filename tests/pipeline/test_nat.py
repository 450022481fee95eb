# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts behind `nat`, and behind the kernel's: what the same programs see of both."""

import contextlib
import json
import os
import re
import subprocess

import pytest

from processes import PATIENCE, wait_until
from routed import (BACKENDS, FAR, LAN, RIGHT, ROUTES, WAN, kernel_router, kill_workers_under, lan,
                    lay_left, lay_right, needs, wait_for_addresses, wan)
from topology import Topology
from wire import PAGES, Wire

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

PUBLIC = "203.0.113.1"
TOPOLOGY = """
batch: {{ capacity: 32 }}
events: {{ file: {folder}/eve.json }}
ports:
  lan: {{ device: afpacket, interface: {a}, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  wan:
    device: afpacket
    interface: {b}
    mac: "02:00:00:00:00:0b"
    addresses: [192.0.2.2/30]
workers:
  front: {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  flow: {{ type: flow, max: 4096 }}
  nat:
    type: nat
    inside: lan
    {outside}
    max: 4096
    filtering: {filtering}
    log: {log}
    publish: "tcp {public}:8081 -> 10.1.0.5:8080"
  route: {{ type: route, table: nat.routes }}
paths:
  main: {{ from: [lan, wan], to: wan, run: [flow, nat, route], lanes: 4 }}
"""
RULES = """
table ip nat {{
  chain out {{ type nat hook postrouting priority srcnat;
    oifname {b} ip saddr 10.1.0.0/24 snat to 203.0.113.1; }}
  chain in {{ type nat hook prerouting priority dstnat;
    ip daddr 203.0.113.1 tcp dport 8081 dnat to 10.1.0.5:8080; }}
}}
"""
# Tells each sender its address.
MIRROR = """
import socket, sys
mirror = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
mirror.bind((sys.argv[1], 9999))
while True:
    _, peer = mirror.recvfrom(100)
    mirror.sendto(" ".join(map(str, peer)).encode(), peer)
"""
ASK = """
import socket, sys
asks = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asks.bind(("0.0.0.0", int(sys.argv[1])))
asks.settimeout(1)
for address in sys.argv[2:]:
    asks.sendto(b"who", (address, 9999))
    print(asks.recv(100).decode())
"""


def topology(wire, folder, backend="millrace", filtering="endpoint", log="none"):
    own = backend == "masquerade"
    return TOPOLOGY.format(a=wire.port_a, b=wire.port_b, filtering=filtering, folder=folder,
                           log=log, outside="masquerade: wan" if own else f"pool: {PUBLIC}",
                           public=WAN["ipv4"] if own else PUBLIC)


@contextlib.contextmanager
def translated(backend, folder, **how):
    """`wire.a` is inside, `wire.b` outside, and sees `wire.public`: of a pool, or, with
    "masquerade", of the port."""
    with Wire(addresses=("10.1.0.5/24", "192.0.2.1/30"), no_dad=True) as wire:
        wire.public = WAN["ipv4"] if backend == "masquerade" else PUBLIC
        lay_left(wire.a)
        lay_right(wire.b)
        wire.running = None
        if backend == "kernel":
            rules = folder / "nat.nft"
            rules.write_text(RULES.format(b=wire.port_b))
            with kernel_router(wire.middle, {"lan": lan(wire.port_a), "wan": wan(wire.port_b)},
                               ROUTES):
                wire.in_middle("nft", "-f", rules)
                wait_for_addresses(wire.a.namespace, wire.b.namespace, wire.middle)
                yield wire
            return
        (folder / "nat.routes").write_text("10.2.0.0/16 wan via 192.0.2.1\n")
        text = topology(wire, folder, backend, **how)
        with Topology(folder, text, prefix=wire.prefix) as running:
            wire.running = running
            yield wire


@pytest.fixture(name="wire", params=(*BACKENDS, "masquerade"))
def fixture_wire(request, tmp_path):
    if request.param == "kernel":
        pytest.importorskip("shutil").which("nft") or pytest.skip("nft is not installed")
    with translated(request.param, tmp_path) as wire:
        wire.a.wait_for(RIGHT["ipv4"])
        yield wire
        if wire.running:
            wire.running.settle()


def test_pages_come_to_a_host_inside(wire, tmp_path):
    wire.fetch(tmp_path, 3)
    wire.a.ping(FAR["ipv4"])


def test_a_mapping_is_the_same_whatever_the_other_end(wire):
    for address in (RIGHT["ipv4"], FAR["ipv4"]):
        wire.b.start("python3", "-c", MIRROR, address)

    def seen():
        said = wire.a.run("python3", "-c", ASK, "5004", RIGHT["ipv4"], FAR["ipv4"],
                          check=False).stdout.split()
        return said if len(said) == 4 else None
    address, port, other_address, other_port = wait_until(seen, PATIENCE, "two answers")
    assert (address, port) == (other_address, other_port)
    assert address == wire.public and int(port) % 2 == 0


@needs("traceroute")
@pytest.mark.parametrize("how", ["-I", "-U"])
def test_traceroute_sees_the_router_and_the_host(wire, how):
    def hops():
        lines = wire.a.run("traceroute", "-4", "-n", "-q", "1", "-w", "2", how,
                           FAR["ipv4"]).stdout.splitlines()[1:]
        return [line.split()[1] for line in lines]
    wait_until(lambda: hops() == [LAN["ipv4"], FAR["ipv4"]], PATIENCE, lambda: f"hops: {hops()}")


def test_a_published_server_is_reached_from_outside(wire, tmp_path):
    (tmp_path / "page").write_bytes(b"published")
    wire.a.start("python3", "-c", PAGES, "10.1.0.5", tmp_path)
    page = f"http://{wire.public}:8081/page"
    wait_until(lambda: wire.b.run("curl", "-sS", "--max-time", "2", page,
                                  check=False).stdout == "published", PATIENCE, "the page")


def test_a_pool_in_the_network_of_the_outside_port_needs_no_route_at_its_neighbours(tmp_path):
    with Wire(addresses=("10.1.0.5/24", "203.0.113.2/24")) as wire:
        lay_left(wire.a)
        (tmp_path / "nat.routes").write_text(f"{PUBLIC}/32 lan\n")
        text = (topology(wire, tmp_path)
                .replace("addresses: [192.0.2.2/30]", "addresses: [203.0.113.254/24]")
                .replace("table: nat.routes", "table: nat.routes, proxy_arp: wan"))
        with Topology(tmp_path, text, prefix=wire.prefix) as running:
            wire.a.wait_for("203.0.113.2")
            assert "02:00:00:00:00:0b" in wire.b.run("ip", "neigh", "show", PUBLIC).stdout
            running.settle()


def test_a_router_that_masquerades_answers_for_itself(tmp_path):
    with translated("masquerade", tmp_path) as wire:
        wire.fetch(tmp_path, 1)
        for host in (wire.a, wire.b):
            host.ping(WAN["ipv4"])
            closed = host.run("curl", "-sS", "--max-time", PATIENCE, f"http://{WAN['ipv4']}:80",
                              check=False, timeout=2 * PATIENCE)
            assert closed.returncode == 7, closed.stderr  # refused, before its time is over
        assert "02:00:00:00:00:0b" in wire.b.run("ip", "neigh", "show", WAN["ipv4"]).stdout
        assert set(wire.running.settle()["dropped"]) <= {"not_ipv4"}


def test_the_host_behind_a_masqueraded_port_is_reached(tmp_path):
    (tmp_path / "nat.routes").write_text("10.2.0.0/16 wan via 192.0.2.1\n")
    (tmp_path / "page").write_bytes(b"of the router")
    with Wire(addresses=("10.1.0.5/24", "192.0.2.1/30")) as wire:
        lay_left(wire.a)
        lay_right(wire.b)
        text = topology(wire, tmp_path, "masquerade").replace(
            "addresses: [192.0.2.2/30]", "addresses: [192.0.2.2/30]\n    host_interface: mr-wan")
        with Topology(tmp_path, text, prefix=wire.prefix) as running:
            server = subprocess.Popen([*wire.prefix, "python3", "-c", PAGES, WAN["ipv4"], tmp_path],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                wire.a.wait_for(RIGHT["ipv4"])
                wait_until(lambda: wire.b.run("curl", "-sS", "--max-time", "2",
                                              f"http://{WAN['ipv4']}:8080/page", check=False
                                              ).stdout == "of the router", PATIENCE, "the page")
                wire.fetch(tmp_path, 1)
            finally:
                server.kill()
                server.wait()
            running.settle()


def test_what_nobody_asked_for_is_dropped(tmp_path):
    with translated("millrace", tmp_path) as wire:
        wire.a.wait_for(RIGHT["ipv4"])
        assert wire.b.run("ping", "-c", "2", "-i", "0.1", "-W", "0.3", PUBLIC,
                          check=False).returncode != 0
        wait_until(lambda: wire.running.audit()["dropped"].get("nat_no_mapping", 0) >= 2, PATIENCE,
                   "two drops")


@needs("turnserver")
@needs("turnutils_natdiscovery")
@pytest.mark.parametrize("filtering, name", [
    ("endpoint", "Endpoint Independent"), ("address", "Address Dependent"),
    ("address-port", "Address and Port Dependent")])
def test_natdiscovery_says_what_is_configured(tmp_path, filtering, name):
    with translated("millrace", tmp_path, filtering=filtering) as wire:
        wire.a.wait_for(RIGHT["ipv4"])
        wire.b.start("turnserver", "-n", "-z", "-L", RIGHT["ipv4"], "-L",
                     FAR["ipv4"], "--log-file", tmp_path / "turn.log", "--pidfile",
                     tmp_path / "turn.pid")

        def said(*words):
            return wire.a.run("turnutils_natdiscovery", *words, RIGHT["ipv4"], check=False).stdout
        for words, answer in (("-m", "Endpoint Independent Mapping"),
                              ("-f", f"NAT with {name} Filtering")):
            wait_until(lambda words=words, answer=answer: re.search(answer, said(words)), PATIENCE,
                       lambda words=words, answer=answer: f"{answer}: {said(words)}")


@pytest.mark.parametrize("log, event, keys", [
    ("mappings", 8, {"src_ip", "src_port"}), ("blocks", 16, {"src_ip", "first_port", "last_port"})])
def test_translations_are_told(tmp_path, log, event, keys):
    with translated("millrace", tmp_path, log=log) as wire:
        wire.a.wait_for(RIGHT["ipv4"])
        wire.fetch(tmp_path, 1)

        def told():
            """Of whole lines."""
            lines = (tmp_path / "eve.json").read_text(encoding="utf-8").split("\n")[:-1]
            events = [json.loads(line) for line in lines]
            return [one for one in events if one["event_type"] == "nat"
                    and (log == "blocks" or one["proto"] == "TCP")]
        wait_until(told, PATIENCE, "an event of a translation")
        one = told()[0]
        assert one["src_ip"] == "10.1.0.5" and one["nat"]["src_ip"] == PUBLIC
        assert one["nat"]["action"] == "created" and one["nat"]["nat_event"] == event
        assert keys <= one["nat"].keys()
        wire.running.settle()


def test_a_worker_that_dies_breaks_no_connection(tmp_path):
    with translated("millrace", tmp_path) as wire:
        wire.a.wait_for(RIGHT["ipv4"])
        kill_workers_under(wire, lambda: wire.fetch(tmp_path, 20))
        wire.running.settle()
