# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What commands say of a router between two hosts while it routes."""

import json
import os
import subprocess

import pytest

import metrics
from processes import PATIENCE, wait_until
from routed import FAMILIES, FAR, LAN, LEFT, RIGHT, routed
from topology import BIN, millrace

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
LEFT_MAC, RIGHT_MAC = "02:00:00:00:0a:01", "02:00:00:00:0b:01"
ABSENT = "10.1.0.99"


@pytest.fixture(name="wire", scope="module")
def fixture_wire(tmp_path_factory):
    with routed("millrace", tmp_path_factory.mktemp("router")) as wire:
        for family in FAMILIES:
            wire.a.wait_for(FAR[family])
        yield wire


def neighbours(wire, *words):
    """What stands in the table, by address."""
    said = millrace("neighbours", wire.running.name, "--json", *words).stdout
    return {entry["address"]: entry for entry in json.loads(said)["neighbours"]}


def test_neighbours_are_the_hosts_beside_the_ports(wire):
    known = neighbours(wire)
    for family in FAMILIES:
        left, right = known[LEFT[family]], known[RIGHT[family]]
        assert (left["port"], left["mac"]) == ("lan", LEFT_MAC)
        assert (right["port"], right["mac"]) == ("wan", RIGHT_MAC)
        assert right["state"] in ("reachable", "stale", "probe")
    assert [entry["port"] for entry in known.values()] == sorted(
        entry["port"] for entry in known.values())
    assert set(neighbours(wire, "wan")) == {address for address, entry in known.items()
                                            if entry["port"] == "wan"}
    page = millrace("neighbours", wire.running.name, "lan").stdout.splitlines()
    assert page[0].split() == ["address", "port", "mac", "state", "confirmed", "used"]
    assert page[1].split()[:3] == [LEFT["ipv4"], "lan", LEFT_MAC]
    assert " neighbours: " in page[-1] and page[-1].endswith("; room for 1024")


def wait_reachable(wire):
    """The neighbour on the way to FAR, which has been asked; not for long is that so."""
    def reachable():
        wire.a.ping(FAR["ipv4"])
        return neighbours(wire)[RIGHT["ipv4"]]["state"] == "reachable"
    wait_until(reachable, PATIENCE, "a neighbour")


def test_a_host_that_is_not_there_fails_and_can_be_forgotten(wire):
    def failed_entry():
        wire.b.run("ping", "-c", "1", "-W", "1", ABSENT, check=False)
        entry = neighbours(wire).get(ABSENT, {})
        return entry if entry.get("state") == "failed" else None
    failed = wait_until(failed_entry, PATIENCE, "no answer")
    assert failed["port"] == "lan" and failed["asks"] == 3 and "mac" not in failed
    done = millrace("neighbours", wire.running.name, "wan", "--forget", ABSENT, check=False)
    assert done.returncode == 1
    assert f"no neighbour {ABSENT} at port 'wan'" in done.stderr
    done = millrace("neighbours", wire.running.name, "--forget", ABSENT)
    assert done.stdout == f"{ABSENT} at lan: forgotten\n"
    assert ABSENT not in neighbours(wire)


def test_a_neighbour_that_was_forgotten_is_asked_for_again(wire):
    said = millrace("neighbours", wire.running.name, "--json", "--forget", RIGHT["ipv4"]).stdout
    assert json.loads(said) == {"ok": True, "forgotten": RIGHT["ipv4"], "ports": ["wan"]}
    wait_reachable(wire)


@pytest.mark.parametrize("words, why", [
    (("lam",), "no port 'lam'; there are: lan, wan; did you mean 'lan'?"),
    (("--forget", "10.1.0.0/24"), "--forget: '10.1.0.0/24' is no IPv4 or IPv6 address")])
def test_what_is_not_there_is_named(wire, words, why):
    done = millrace("neighbours", wire.running.name, *words, check=False)
    assert done.returncode == 1 and why in done.stderr
    done = millrace("neighbours", wire.running.name, "--json", *words, check=False)
    assert done.returncode == 1 and json.loads(done.stdout)["ok"] is False


def test_a_topology_that_does_not_run_has_no_neighbours():
    done = millrace("neighbours", "nothing-of-that-name", check=False)
    assert done.returncode == 1 and "does not run" in done.stderr


def scraped(wire):
    """The metrics, as seen in the namespace of the ports: there telemetry listens."""
    url = f"http://{metrics.address_of(wire.running.run_dir)}/metrics"
    return metrics.Metrics(wire.in_middle("curl", "-sS", url).stdout)


def test_metrics_count_neighbours_and_what_was_made_and_consumed(wire):
    wire.a.ping(LAN["ipv4"])
    wait_until(lambda: scraped(wire).total("millrace_neighbours") == len(neighbours(wire)),
               PATIENCE, "as many neighbours as there are")
    assert scraped(wire).total("millrace_neighbour_room") == 1024

    def agree():
        audit, now = wire.running.audit(), scraped(wire)
        for what in ("generated", "consumed"):
            counted = now.by("reason", f"millrace_{what}_packets_total")
            if audit[what] != {reason: count for reason, count in counted.items() if count}:
                return False
        return audit
    audit = wait_until(agree, PATIENCE, "metrics say what the audit says")
    assert audit["generated"]["reply"] >= 3 and audit["generated"]["solicit"] >= 1
    assert audit["consumed"]["answered"] >= 3


def test_an_answer_is_traced_as_one(wire):
    """Each followed packet is an echo request until `route` makes its answer of it."""
    tracing = subprocess.Popen(
        [BIN / "millrace", "trace", wire.running.name, "--json", "--seconds", str(PATIENCE),
         "--filter", f"icmp and dst host {LAN['ipv4']}"], stdout=subprocess.PIPE, text=True)
    while tracing.poll() is None:
        wire.a.ping(LAN["ipv4"], count=1)
    packet = json.loads(tracing.stdout.read())
    assert (packet["verdict"], packet["reason"]) == ("done", "reply")
    by_what = {step["what"]: step for step in packet["steps"]}
    assert by_what["function"]["verdict"] == "done" and by_what["function"]["output"] == "lan"
    assert by_what["released"]["name"] == "lan"


def routes(wire, *words):
    return json.loads(millrace("routes", wire.running.name, "--json", *words).stdout)


def hits(wire):
    """Packets by gateway: those whose look-up has ended there."""
    return {hop["gateway"]: hop["packets"] for hop in routes(wire)["hops"]
            if hop["kind"] == "gateway"}


def test_a_route_is_told_as_the_workers_have_it(wire):
    wire.a.ping(FAR["ipv4"])
    before = hits(wire)
    wire.a.ping(FAR["ipv4"])
    # The last may be on its way.
    wait_until(lambda: hits(wire)[RIGHT["ipv4"]] == before[RIGHT["ipv4"]] + 3, PATIENCE,
               lambda: f"three more: {before}, {hits(wire)}")

    def reachable():
        wire.a.ping(FAR["ipv4"])
        way = routes(wire, FAR["ipv4"])
        return way if way["state"] == "reachable" else None
    way = wait_until(reachable, PATIENCE, "a neighbour")
    assert (way["kind"], way["gateway"], way["port"], way["mac"]) == (
        "gateway", RIGHT["ipv4"], "wan", RIGHT_MAC)
    assert routes(wire, LEFT["ipv6"])["mac"] == LEFT_MAC
    assert routes(wire, "10.66.1.1")["reason"] == "no_route"
    page = millrace("routes", wire.running.name, FAR["ipv6"]).stdout
    assert page.startswith(f"{FAR['ipv6']} via {RIGHT['ipv6']} at wan, {RIGHT_MAC} ")


def test_a_table_is_told_with_its_files_and_next_hops(wire):
    table = routes(wire)
    assert table["prefixes"] == 4 and table["refused"] == 0 and table["generation"] == 1
    assert [os.path.basename(file) for file in table["files"]] == [f"{wire.middle}.routes"]
    assert table["bytes_set"] < table["bytes"]
    page = millrace("routes", wire.running.name, "--function", "router").stdout
    assert f"via {RIGHT['ipv4']} at wan, {RIGHT_MAC} " in page
    done = millrace("routes", wire.running.name, "--function", "route", check=False)
    assert done.returncode == 1 and "did you mean 'router'?" in done.stderr
    done = millrace("routes", wire.running.name, "10.2.0.0/16", check=False)
    assert done.returncode == 1 and "no IPv4 or IPv6 address" in done.stderr
