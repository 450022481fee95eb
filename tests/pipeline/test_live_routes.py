# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tables that follow the kernel's routes are changed in place: under traffic, with kills of their
writer, and the Linux kernel's own look-ups as oracle."""

import contextlib
import ipaddress
import json
import os
import random
import subprocess
import time

import metrics
import pytest

from behind import THEIRS, inside
from processes import PATIENCE, wait_until
from test_kernel_routes import ANSWER, FAR, NETWORK, following, ip, says
from topology import ask, millrace

SEED = int(os.environ.get("MILLRACE_SEED", time.time_ns() % 1_000_000))
SPACE = {4: ipaddress.ip_network("198.18.0.0/15"), 6: ipaddress.ip_network("2001:db8::/32")}
# Two addresses of the same host.
SECOND = {4: "192.0.2.9/32", 6: "2001:db8:2::9/64"}
RIGHT = {4: ("via 192.0.2.1 dev mr-wan", "via 192.0.2.9 dev mr-wan onlink"),
         6: ("via 2001:db8:2::1 dev mr-wan", "via 2001:db8:2::9 dev mr-wan")}
WRONG = {4: "via 10.1.0.5 dev mr-lan", 6: "via 2001:db8:1::5 dev mr-lan"}


class Changes:
    """Lines of `ip -batch` at random. Prefixes over the address that is pinged lead where it is,
    all others where it is not, so that a packet of a wrong next hop is lost."""

    def __init__(self, family, seed):
        self.family, self.random = family, random.Random(seed)
        self.there = {}
        self.most = 32 if family == 4 else 128
        self.far = ipaddress.ip_address(FAR[family])

    def prefix(self):
        """Near the address, so that prefixes lie in each other."""
        length = self.random.choice((16, 20, 22, 23, 24, 25, 26, 28, 30, 32)) \
            if self.family == 4 else self.random.choice((36, 40, 44, 47, 48, 49, 52, 56, 64, 128))
        bits = int(self.far) ^ (self.random.getrandbits(12) << self.most - self.random.choice(
            (28, 30, 32) if self.family == 4 else (48, 52, 56, 64)))
        network = ipaddress.ip_network((bits, length), strict=False)
        # Nor such as take the gateways away.
        hides = any(ipaddress.ip_address(THEIRS[name][self.family == 6]) in network
                    for name in THEIRS) and self.far not in network
        good = network.subnet_of(SPACE[self.family]) and not hides
        return network if good else self.prefix()

    def line(self):
        network = self.prefix()
        keeps = str(network) == NETWORK[self.family]
        if network in self.there and not keeps and self.random.random() < 0.5:
            del self.there[network]
            return f"route del {network}"
        way = self.random.choice(RIGHT[self.family]) if self.far in network \
            else WRONG[self.family]
        self.there[network] = way
        return f"route replace {network} {way}"

    def lines(self, count):
        return "".join(self.line() + "\n" for _ in range(count))


# Sends each datagram back.
ECHO = """
import socket, sys
echo = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
echo.bind((sys.argv[1], 7))
while True:
    echo.sendto(*echo.recvfrom(100))
"""
# Datagrams, each behind the answer to the one before, until the input ends: ADDRESS SECONDS. One
# that is lost has no answer, however long it is waited for.
ASKER = """
import select, socket, sys
asker = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
asker.settimeout(float(sys.argv[2]))
asker.connect((sys.argv[1], 7))
count = 0
while count < 10 or not select.select([sys.stdin], [], [], 0)[0]:
    asker.send(b"%d" % count)
    assert asker.recv(100) == b"%d" % count
    count += 1
print(count)
"""


@contextlib.contextmanager
def asked(wire, address):
    """Yields while the LAN's host asks, and each packet is answered."""
    echo = wire.b.start("python3", "-c", ECHO, address)
    wait_until(lambda: wire.b.run("ss", "-Hlun", "sport = :7").stdout, PATIENCE, "it listens")
    with subprocess.Popen([*inside(wire.a), "python3", "-c", ASKER, address, str(PATIENCE)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as asker:
        try:
            yield
            said, error = asker.communicate(timeout=2 * PATIENCE)
            assert asker.returncode == 0 and int(said) >= 10, error
        finally:
            asker.kill()
            echo.kill()


def same_as_kernel(wire, running, family, addresses):
    """Each address comes to lead where the kernel sends it, or nowhere as it does there. A writer
    that was killed reads all routes anew: it may have the last one before earlier changes, which
    wait in its socket meanwhile."""
    def way_of(address):
        done = wire.in_middle("ip", "-j", f"-{family}", "route", "get", address, "fibmatch",
                              check=False)
        if done.returncode != 0:
            assert "unreachable" in done.stderr, f"{address}: {done.stderr}"
            return None
        told = json.loads(done.stdout)
        return told[0].get("dev"), told[0].get("gateway")

    def look_up(address):
        route = ask("routes", running.name, address)
        if "port" not in route:
            return None
        return f"mr-{route['port']}", route.get("gateway") if route["kind"] == "gateway" else None

    for address in addresses:
        wait_until(lambda address=address: look_up(address) == way_of(address), PATIENCE,
                   lambda address=address: f"{address}: {look_up(address)}, as in the kernel: "
                   f"{way_of(address)}")


def told(wire, running):
    """What telemetry says of the one table. It listens in the namespace of the ports."""
    url = f"http://{metrics.address_of(running.run_dir)}/metrics"
    found = metrics.Metrics(wire.in_middle("curl", "-sS", url).stdout)
    return [found.total(f"millrace_{name}", function="router") for name in
            ("routes", "route_changes_total", "route_dumps_total", "route_overruns_total")]


def answered(running):
    """The same, as `millrace routes` says."""
    live = ask("routes", running.name)["live"]
    return [live[key] for key in ("prefixes", "changes", "dumps", "lost")]


# The software device computes with the table itself, at any moment between submission and due time.
ON_DEVICE = {"function": "{ type: route, routes: kernel, on: gpu }",
             "more": "workers: { cpu: { kind: classifier }, gpu: { kind: gpu, device: software, "
                     "seed: 3, delay_us: 300, reorder: true } }"}


@pytest.mark.parametrize("family, how", [(4, {}), (6, {}), (4, ON_DEVICE), (6, ON_DEVICE)],
                         ids=["4", "6", "4-device", "6-device"])
def test_many_changes_under_traffic_while_the_writer_dies(tmp_path, family, how):
    print(f"MILLRACE_SEED={SEED}")
    changes = Changes(family, SEED)
    kills = int(os.environ.get("MILLRACE_WRITER_KILLS", 3))
    # A short prefix of IPv6 that changes has all below it written anew: with so many of them the
    # writer is behind for a minute on a host with little time.
    count = int(os.environ.get("MILLRACE_CHANGES", 10_000 if family == 4 else 2_000))
    with following(tmp_path, **how) as (wire, running):
        ip(wire, family, "add", NETWORK[family], "via", THEIRS["wan"][family == 6], "dev",
           "mr-wan")
        changes.there[ipaddress.ip_network(NETWORK[family])] = ""
        wire.b.add_address(SECOND[family])
        says(wire, FAR[family], ANSWER)
        batch = tmp_path / "batch"
        with asked(wire, FAR[family]):
            for turn in range(kills + 1):
                batch.write_text(changes.lines(count))
                if turn != kills:
                    running.kill("routes")
                wire.in_middle("ip", f"-{family}", "-batch", batch)
                running.wait_alive("routes")
            says(wire, FAR[family], ANSWER)  # no packet waits for a neighbour any more
        marker = "198.51.101.0/24" if family == 4 else "2001:db8:ffff::/48"
        ip(wire, family, "add", marker, "via", THEIRS["wan"][family == 6], "dev", "mr-wan")
        address = marker.split("/")[0].rstrip("0") + "1" if family == 4 else "2001:db8:ffff::1"
        wait_until(lambda: ask("routes", running.name, address).get("port") == "wan", PATIENCE,
                   "the last change followed")
        wait_until(lambda: told(wire, running) == answered(running), PATIENCE,
                   lambda: f"{told(wire, running)} in metrics, {answered(running)} in the answer")
        same_as_kernel(wire, running, family, [FAR[family]] + [
            str(changes.prefix()[0]) for _ in range(25)])
        running.settle()


def test_a_table_without_room_gives_way_to_a_new_one_and_is_followed_on(tmp_path):
    with following(tmp_path) as (wire, running):
        ip(wire, 4, "add", NETWORK[4], "via", THEIRS["wan"][0], "dev", "mr-wan")
        says(wire, FAR[4], ANSWER)
        before = ask("routes", running.name)["image"]
        batch = tmp_path / "batch"
        # As many different next hops as no image has room for beside those that it was built with.
        batch.write_text("".join(
            f"route replace 198.51.{100 + i % 100}.0/24 via 10.1.0.{6 + i % 200} dev mr-lan "
            f"onlink\nroute replace 203.0.113.0/24 nexthop via 10.1.0.{6 + i % 200} dev mr-lan "
            f"onlink weight {i // 200 + 1} nexthop via 192.0.2.1 dev mr-wan\n"
            for i in range(6000)))
        with asked(wire, FAR[4]):
            wire.in_middle("ip", "-batch", batch)
            wait_until(lambda: ask("routes", running.name)["image"] != before, PATIENCE,
                       "a new image")
        ip(wire, 4, "add", "203.0.112.0/24", "via", THEIRS["wan"][0], "dev", "mr-wan")
        wire.b.run("ip", "address", "add", "203.0.112.9/32", "dev", "lo")
        says(wire, "203.0.112.9", ANSWER)
        audit = running.settle()
        assert "unavailable" not in audit["dropped"]


def test_a_link_that_goes_takes_its_routes_along_which_the_kernel_does_not_tell(tmp_path):
    with following(tmp_path) as (wire, running):
        ip(wire, 4, "add", "198.51.101.0/24", "via", "192.0.2.1", "dev", "mr-wan")
        wait_until(lambda: ask("routes", running.name, "198.51.101.1").get("port") == "wan",
                   PATIENCE, "followed")
        wire.in_middle("ip", "link", "set", "mr-wan", "down")
        wait_until(lambda: "port" not in ask("routes", running.name, "198.51.101.1"), PATIENCE,
                   "gone")
        text = millrace("routes", running.name, prefix=wire.prefix).stdout
        assert "changed in place" in text
        running.settle()
