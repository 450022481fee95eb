# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A router between two hosts that know nothing but its addresses: no static neighbour anywhere. The
router is the kernel's, or a topology with the function `route`: what a test expects holds for both.

    left 10.1.0.5 -- 10.1.0.1 [lan router wan] 192.0.2.2 -- 192.0.2.1 right, and 10.2.0.1 behind it
"""

import contextlib
import dataclasses
import shutil
import threading

import pytest

from processes import PATIENCE, wait_until
from topology import Topology
from wire import Wire, run

BACKENDS = ("kernel", "millrace")
FAMILIES = ("ipv4", "ipv6")
TOPOLOGY = """
batch: {{ capacity: 32 }}
ports:
{ports}functions:
  router: {{ type: route, table: {table}{more} }}
paths:
  all: {{ from: [{names}], to: {first}, run: [router] }}
"""
TICKS = "  ticks: {{ from: clock, to: {first}, run: [router] }}\n"
LEFT = {"ipv4": "10.1.0.5", "ipv6": "2001:db8:1::5"}
RIGHT = {"ipv4": "192.0.2.1", "ipv6": "2001:db8:2::1"}
FAR = {"ipv4": "10.2.0.1", "ipv6": "2001:db8:66::1"}
LAN = {"ipv4": "10.1.0.1", "ipv6": "2001:db8:1::1"}
WAN = {"ipv4": "192.0.2.2", "ipv6": "2001:db8:2::2"}
# What the tests ask for in bursts is answered each time; what is gone is soon noticed.
SETTINGS = {"ipv4.icmp_ratelimit": 0, "ipv4.icmp_ratemask": 0, "ipv6.icmp.ratelimit": 0}
FORWARDING = {"ipv4.ip_forward": 1, "ipv6.conf.all.forwarding": 1}
OF_PORTS = {"base_reachable_time_ms": 1000, "delay_first_probe_time": 1, "retrans_time_ms": 200,
            "gc_stale_time": 1, "locktime": 0}


@dataclasses.dataclass
class Port:
    interface: str
    mac: str
    addresses: tuple
    mtu: int = 1500


def lan(interface):
    return Port(interface, "02:00:00:00:00:0a", ("10.1.0.1/24", "2001:db8:1::1/64"))


def wan(interface, mtu=1500):
    return Port(interface, "02:00:00:00:00:0b", ("192.0.2.2/30", "2001:db8:2::2/64"), mtu)


# (prefix, port, gateway); without a port it leads nowhere.
ROUTES = (("10.2.0.0/16", "wan", "192.0.2.1"), ("2001:db8:66::/48", "wan", "2001:db8:2::1"),
          ("10.66.0.0/16", None, None), ("2001:db8:67::/48", None, None))


def settings(namespace, values):
    words = [f"net.{name}={value}" for name, value in values.items()]
    run("ip", "netns", "exec", namespace, "sysctl", "-qw", *words)


@contextlib.contextmanager
def kernel_router(namespace, ports, routes):
    values = SETTINGS | FORWARDING
    for port in ports.values():
        values |= {f"{family}.neigh.{port.interface}.{name}": value
                   for family in FAMILIES for name, value in OF_PORTS.items()}
        run("ip", "-n", namespace, "link", "set", port.interface, "address", port.mac)
        for address in port.addresses:
            how = ("nodad",) if ":" in address else ()
            run("ip", "-n", namespace, "address", "add", address, "dev", port.interface, *how)
    settings(namespace, values)
    for prefix, port, gateway in routes:
        way = ("via", gateway, "dev", ports[port].interface) if port else ()
        kind = () if port else ("unreachable",)
        run("ip", "-n", namespace, "route", "add", *kind, prefix, *way)
    yield None


@contextlib.contextmanager
def millrace_router(folder, namespace, ports, routes, device="afpacket", more="", tick=""):
    """`more`: further settings of the function, ", KEY: VALUE". `tick`: of a loop, "1s"."""
    table = folder / f"{namespace}.routes"
    table.write_text("".join(f"{prefix} {port} via {gateway}\n" if port else f"{prefix} drop\n"
                             for prefix, port, gateway in routes))
    lines = ""
    for name, port in ports.items():
        addresses = ", ".join(f'"{address}"' for address in port.addresses)
        lines += (f'  {name}: {{ device: {device}, interface: {port.interface}, mtu: {port.mtu}, '
                  f'mac: "{port.mac}", addresses: [{addresses}] }}\n')
    if tick:
        lines += f"  clock: {{ device: loop, tick: {tick} }}\n"
    first = next(iter(ports))
    text = TOPOLOGY.format(ports=lines, table=table.name, names=", ".join(ports), more=more,
                           first=first) + (TICKS.format(first=first) if tick else "")
    with Topology(folder, text, prefix=("ip", "netns", "exec", namespace)) as running:
        yield running


def router(backend, folder, namespace, ports, routes):
    """At its end the audit of a topology has to be exact."""
    if backend == "kernel":
        return kernel_router(namespace, ports, routes)
    return millrace_router(folder, namespace, ports, routes)


def set_mtu(namespace, interface, mtu):
    run("ip", "-n", namespace, "link", "set", interface, "mtu", mtu)


def lay_left(host):
    host.add_address("2001:db8:1::5/64")
    settings(host.namespace, SETTINGS)
    host.run("ip", "route", "add", "default", "via", LAN["ipv4"])
    host.run("ip", "route", "add", "default", "via", LAN["ipv6"])


def lay_right(host, gateway=WAN):
    """Its own address at the cable, and one behind it."""
    host.add_address("2001:db8:2::1/64")
    settings(host.namespace, SETTINGS)
    host.run("ip", "address", "add", "10.2.0.1/16", "dev", "lo")
    host.run("ip", "address", "add", "2001:db8:66::1/48", "dev", "lo", "nodad")
    for family in FAMILIES:
        host.run("ip", "route", "add", "default", "via", gateway[family])


def wait_for_addresses(*namespaces):
    """Until the kernel has found no duplicates: before that, an address is not used."""
    for namespace in namespaces:
        wait_until(lambda namespace=namespace: "tentative" not in run(
            "ip", "-n", namespace, "-6", "address", "show").stdout, PATIENCE, "addresses")


@contextlib.contextmanager
def routed(backend, folder, mtu=1500):
    """`wire.a` is left, `wire.b` right; its first packets have gone through. `mtu`: of wan."""
    with Wire(addresses=("10.1.0.5/24", "192.0.2.1/30"), no_dad=True) as wire:
        for namespace, interface in ((wire.middle, wire.port_b), (wire.b.namespace, "eth")):
            set_mtu(namespace, interface, mtu)
        lay_left(wire.a)
        lay_right(wire.b)
        ports = {"lan": lan(wire.port_a), "wan": wan(wire.port_b, mtu)}
        with router(backend, folder, wire.middle, ports, ROUTES) as running:
            wire.running = running
            wait_for_addresses(wire.a.namespace, wire.b.namespace, wire.middle)
            yield wire


@contextlib.contextmanager
def functions_between(folder, text, words=(), **values):
    """`wire.a` is left, `wire.b` right, and between them the topology of `text`, in which {a} and
    {b} are its interfaces, {folder} is the folder, and other names are what `values` says; `words`
    follow `millrace up`. Its table `empty.routes` has nothing but what the ports' addresses tell.
    The first packets have gone through. `wire.lives`: of its processes, before that."""
    (folder / "empty.routes").write_text("10.66.0.0/16 drop\n")
    with Wire(addresses=("10.1.0.5/24", "192.0.2.1/30")) as wire:
        lay_left(wire.a)
        lay_right(wire.b)
        text = text.format(a=wire.port_a, b=wire.port_b, folder=folder, **values)
        with wire.between(folder, text, words=words) as running:
            wire.running, wire.lives = running, running.lives()
            wire.a.wait_for(RIGHT["ipv4"])
            yield wire


@contextlib.contextmanager
def two_routers(backend, folder):
    """left, a router, a router, right: (left, right). Between the routers is 198.18.0.0/30."""
    with (Wire(addresses=("10.1.0.5/24", "10.9.0.2/24"), no_dad=True) as near,
          Wire(addresses=("10.9.0.1/24", "192.0.2.1/30"), no_dad=True) as far):
        near.b.unplug()
        far.a.unplug()
        run("ip", "link", "add", near.port_b, "netns", near.middle, "type", "veth", "peer", "name",
            far.port_a, "netns", far.middle)
        for namespace, interface in ((near.middle, near.port_b), (far.middle, far.port_a)):
            settings(namespace, {f"ipv6.conf.{interface}.accept_dad": 0})
            run("ip", "-n", namespace, "link", "set", interface, "up")
        lay_left(near.a)
        lay_right(far.b)
        first = {"lan": lan(near.port_a),
                 "up": Port(near.port_b, "02:00:00:00:00:1a", ("198.18.0.1/30", "fd00:9::1/64"))}
        second = {"down": Port(far.port_a, "02:00:00:00:00:1b", ("198.18.0.2/30", "fd00:9::2/64")),
                  "wan": wan(far.port_b)}
        there = [(prefix, "up", gateway) for prefix, gateway in (
            ("10.2.0.0/16", "198.18.0.2"), ("192.0.2.0/30", "198.18.0.2"),
            ("2001:db8:66::/48", "fd00:9::2"), ("2001:db8:2::/64", "fd00:9::2"))]
        back = [*ROUTES, ("10.1.0.0/24", "down", "198.18.0.1"),
                ("2001:db8:1::/64", "down", "fd00:9::1")]
        with (router(backend, folder, near.middle, first, there),
              router(backend, folder, far.middle, second, back)):
            wait_for_addresses(near.a.namespace, far.b.namespace, near.middle, far.middle)
            yield near.a, far.b


def kill_one(running, victim):
    """Kills what plays the part, and waits until another process does."""
    lives = running.lives()
    twins = [f"{victim}.a", f"{victim}.b"] if victim.startswith("gpu.") else [victim]
    running.kill(next(twin for twin in twins if twin in lives), lives=lives)

    def another():
        now = running.lives()
        return any(twin in now and now[twin][0] != lives.get(twin, (0,))[0] for twin in twins)
    wait_until(another, PATIENCE, f"another {victim}")


def kill_workers_under(wire, transfer, victims=("front.0", "front.1")):
    """`transfer` is repeated while each of the victims is killed: it may not fail. `gpu.N` is
    whichever twin plays that part."""
    errors, killed = [], threading.Event()

    def repeat():
        try:
            while not killed.is_set():
                transfer()
        except BaseException as error:  # asserted below
            errors.append(error)
    repeated = threading.Thread(target=repeat)
    repeated.start()
    try:
        for victim in victims:
            wire.running.wait_received(wire.running.audit()["received"] + 1000)
            kill_one(wire.running, victim)
    finally:
        killed.set()
        repeated.join()
    assert not errors, errors


def needs(tool):
    """A test that takes a tool which this host may lack."""
    return pytest.mark.skipif(not shutil.which(tool), reason=f"{tool} is not installed")
