# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`routes: kernel`: the router forwards by the routes of the kernel behind it, and follows them."""

import contextlib

import pytest

from behind import THEIRS, routed
from processes import PATIENCE, wait_until
from topology import millrace
from wire import wait_heard

KERNEL = "{ type: route, routes: kernel }"
FAR = {4: "198.18.7.1", 6: "2001:db8:7::1"}
NETWORK = {4: "198.18.7.0/24", 6: "2001:db8:7::/48"}


@contextlib.contextmanager
def following(folder, function=KERNEL, **how):
    with routed(folder, function=function, **how) as (wire, running):
        for family, address in FAR.items():
            wire.b.run("ip", "address", "add", f"{address}/{32 if family == 4 else 128}", "dev",
                       "lo")
        yield wire, running


def ip(wire, family, *words):
    return wire.in_middle("ip", f"-{family}", "route", *words)


def says(wire, address, words):
    """What a ping of the LAN's host hears, once it is this."""
    wait_heard(wire.a.run, address, words)


ANSWER = "1 received"
NO_ROUTE = {4: "Destination Net Unreachable", 6: "Destination unreachable: No route"}
# As Linux answers for its own routes of these types.
REFUSED = {"unreachable": {4: "Destination Host Unreachable", 6: NO_ROUTE[6]},
           "prohibit": {4: "Packet filtered", 6: "Administratively prohibited"}}


@pytest.mark.parametrize("placement", ["processes", "fused"])
@pytest.mark.parametrize("family", [4, 6])
def test_a_route_comes_changes_and_goes(tmp_path, family, placement):
    gateway = THEIRS["wan"][family == 6]
    with following(tmp_path, more=f"placement: {placement}") as (wire, running):
        says(wire, FAR[family], NO_ROUTE[family])
        ip(wire, family, "add", NETWORK[family], "via", gateway, "dev", "mr-wan")
        says(wire, FAR[family], ANSWER)
        # Somewhere else: nothing there answers for the address.
        ip(wire, family, "replace", NETWORK[family], "via", THEIRS["lan"][family == 6], "dev",
           "mr-lan")
        wait_until(lambda: wire.a.run("ping", "-c", "1", "-W", "0.5", FAR[family],
                                      check=False).returncode != 0, PATIENCE, "no answer")
        ip(wire, family, "replace", NETWORK[family], "via", gateway, "dev", "mr-wan")
        says(wire, FAR[family], ANSWER)
        ip(wire, family, "del", NETWORK[family])
        says(wire, FAR[family], NO_ROUTE[family])
        ip(wire, family, "add", "default", "via", gateway)
        says(wire, FAR[family], ANSWER)
        for kind, words in REFUSED.items():
            ip(wire, family, "add", kind, NETWORK[family], "metric", "1")
            says(wire, FAR[family], words[family])
            ip(wire, family, "del", kind, NETWORK[family], "metric", "1")
            says(wire, FAR[family], ANSWER)
        ip(wire, family, "add", "blackhole", NETWORK[family])
        dropped = running.audit()["dropped"].get("no_route", 0)
        says(wire, FAR[family], "0 received")
        wait_until(lambda: running.audit()["dropped"]["no_route"] > dropped, PATIENCE, "dropped")
        running.settle()
        # It is no change of the topology that an operator made.
        assert running.status()["generation"] == 1


def test_the_lower_metric_wins_and_a_file_before_both(tmp_path):
    (tmp_path / "own.routes").write_text("198.51.100.0/24 drop\n")
    function = "{ type: route, table: own.routes, routes: kernel }"
    with following(tmp_path, function=function) as (wire, running):
        for number, (target, metric) in enumerate((("192.0.2.1", 20), ("10.1.0.5", 10))):
            ip(wire, 4, "add", NETWORK[4], "via", target, "metric", metric)
            if number == 0:
                says(wire, FAR[4], ANSWER)
        wait_until(lambda: wire.a.run("ping", "-c", "1", "-W", "0.5", FAR[4],
                                      check=False).returncode != 0, PATIENCE, "no answer")
        ip(wire, 4, "del", NETWORK[4], "metric", "10")
        says(wire, FAR[4], ANSWER)
        ip(wire, 4, "add", "198.51.100.0/24", "via", "192.0.2.1")
        before = running.audit()["dropped"].get("no_route", 0)
        says(wire, "198.51.100.1", "0 received")
        wait_until(lambda: running.audit()["dropped"].get("no_route", 0) > before, PATIENCE,
                   "the file's line")
        (tmp_path / "own.routes").write_text(f"{NETWORK[4]} drop\n")
        millrace("reload", running.name, "router", prefix=wire.prefix)
        says(wire, FAR[4], "0 received")
        running.settle()


def test_a_flood_of_changes_while_packets_flow_and_processes_die(tmp_path):
    """What the kernel has no room to tell is read all the same; no packet of a route that stays is
    lost but those in the hands of a process that dies."""
    with following(tmp_path) as (wire, running):
        ip(wire, 4, "add", NETWORK[4], "via", THEIRS["wan"][0])
        says(wire, FAR[4], ANSWER)
        batch = tmp_path / "routes"
        for turn in range(6):
            verb = ("add", "del")[turn % 2]
            batch.write_text("".join(
                f"route {verb} 100.{64 + i // 250}.{i % 250}.0/24 via 192.0.2.1 dev mr-wan\n"
                for i in range(5000)))
            wire.in_middle("ip", "-batch", batch)
            if turn in (1, 3):
                running.kill("classifier.0")
                running.wait_alive("classifier.0")
            wire.a.ping(FAR[4], count=20)
        ip(wire, 4, "add", "203.0.113.0/24", "via", THEIRS["wan"][0])
        wire.b.run("ip", "address", "add", "203.0.113.9/32", "dev", "lo")
        says(wire, "203.0.113.9", ANSWER)
        audit = running.settle()
        assert "unavailable" not in audit["dropped"]


def test_a_supervisor_that_takes_over_follows_on(tmp_path):
    with following(tmp_path) as (wire, running):
        running.kill_supervisor()
        ip(wire, 4, "add", NETWORK[4], "via", THEIRS["wan"][0])
        running.adopt_after_kill()
        says(wire, FAR[4], ANSWER)
        ip(wire, 4, "del", NETWORK[4])
        says(wire, FAR[4], NO_ROUTE[4])
        running.settle()


def test_other_changes_are_made_while_routes_change(tmp_path):
    with following(tmp_path) as (wire, running):
        ip(wire, 4, "add", NETWORK[4], "via", THEIRS["wan"][0])
        churn = wire.in_middle
        for count in (2, 1):
            batch = tmp_path / "routes"
            batch.write_text("".join(f"route replace 100.64.{i}.0/24 via 192.0.2.1 dev mr-wan\n"
                                     for i in range(100 * count)))
            churn("ip", "-batch", batch)
            running.scale("classifier", count)
        says(wire, FAR[4], ANSWER)
        running.settle()
        assert running.status()["generation"] == 3


def test_validate_says_what_is_missing(tmp_path):
    text = """millrace: 1
name: alone
ports:
  lan: { device: "null", addresses: [10.1.0.1/24] }
functions:
  way: { type: route, routes: WORD }
paths:
  all: { from: [lan], run: [way] }
"""
    file = tmp_path / "alone.yaml"
    for word, why in (("kernel", "no port has a 'host_interface'"), ("bird", "expected 'kernel'")):
        file.write_text(text.replace("WORD", word))
        done = millrace("validate", file, check=False)
        assert done.returncode == 1
        assert f"{file}:6:31:" in done.stderr and why in done.stderr, done.stderr


@pytest.mark.parametrize("family", [4, 6])
def test_of_equal_routes_one_is_taken(tmp_path, family):
    second = ("192.0.2.1", "2001:db8:2::9")[family == 6]
    with following(tmp_path) as (wire, running):
        wire.b.run("ip", "address", "add", "2001:db8:2::9/64", "dev", "eth", "nodad")
        ways = [word for via in (THEIRS["wan"][family == 6], second)
                for word in ("nexthop", "via", via, "dev", "mr-wan")]
        ip(wire, family, "add", NETWORK[family], *ways)
        says(wire, FAR[family], ANSWER)
        running.settle()


def test_a_gateway_of_the_other_family(tmp_path):
    """RFC 8950: IPv4 by way of an IPv6 neighbour."""
    with following(tmp_path) as (wire, running):
        ip(wire, 4, "add", NETWORK[4], "via", "inet6", THEIRS["wan"][1], "dev", "mr-wan")
        says(wire, FAR[4], ANSWER)
        running.settle()
