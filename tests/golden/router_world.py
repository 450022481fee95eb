# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The world of tests/golden/router-cases: a router with three ports, the hosts beside them, and
routes. A backend makes the router; here are the cables' far ends, where a test plays the hosts."""

import contextlib
import ctypes
import dataclasses
import ipaddress
import itertools
import os
import socket
import subprocess

NUMBERS = itertools.count(1)
IPV6_MTU_MIN = 1280
NEW_NETWORK = 0x40000000  # CLONE_NEWNET
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclasses.dataclass
class Port:
    mac: str
    addresses: tuple  # "10.1.0.1/24", one of each family
    mtu: int = 1500

    @property
    def ip(self):
        return self.addresses[0].split("/")[0]

    @property
    def ip6(self):
        return self.addresses[1].split("/")[0]

    def families(self):
        """Its addresses; too small an MTU is none for IPv6."""
        return self.addresses if self.mtu >= IPV6_MTU_MIN else self.addresses[:1]

    @property
    def local(self):
        """Its link-local address: RFC 4291 appendix A."""
        raw = bytes.fromhex(self.mac.replace(":", ""))
        number = bytes([raw[0] ^ 2]) + raw[1:3] + b"\xff\xfe" + raw[3:]
        return str(ipaddress.IPv6Address(bytes.fromhex("fe80000000000000") + number))


@dataclasses.dataclass
class Host:
    port: str
    mac: str
    ips: tuple  # of both families: what it says is its own


def usual_ports():
    return {"lan": Port("02:00:00:00:00:0a", ("10.1.0.1/24", "2001:db8:1::1/64")),
            "wan": Port("02:00:00:00:00:0b", ("192.0.2.2/30", "2001:db8:2::2/64")),
            "dmz": Port("02:00:00:00:00:0c", ("10.3.0.1/24", "2001:db8:3::1/64"))}


def usual_hosts():
    return {"host": Host("lan", "02:00:00:00:00:05", ("10.1.0.5", "2001:db8:1::5", "fe80::5")),
            "second": Host("lan", "02:00:00:00:00:06", ("10.1.0.6", "2001:db8:1::6", "fe80::6")),
            "gateway": Host("wan", "02:00:00:00:00:02",
                            ("192.0.2.1", "2001:db8:2::1", "fe80::2")),
            "server": Host("dmz", "02:00:00:00:00:08", ("10.3.0.5", "2001:db8:3::5", "fe80::8"))}


# (prefix, port, gateway); without a port what is sent there is answered with "unreachable".
USUAL_ROUTES = (("10.2.0.0/16", "wan", "192.0.2.1"), ("10.66.0.0/16", None, None),
                ("10.67.0.0/16", "lan", "10.1.0.6"),
                ("2001:db8:66::/48", "wan", "2001:db8:2::1"), ("2001:db8:67::/48", None, None),
                ("2001:db8:68::/48", "lan", "2001:db8:1::6"))


@dataclasses.dataclass
class World:
    """What a file of cases may change before its first case."""
    ports: dict = dataclasses.field(default_factory=usual_ports)
    hosts: dict = dataclasses.field(default_factory=usual_hosts)
    routes: list = dataclasses.field(default_factory=lambda: list(USUAL_ROUTES))
    # (prefix, [(port, gateway, weight)]): of several next hops.
    groups: list = dataclasses.field(default_factory=list)
    proxy_arp: list = dataclasses.field(default_factory=list)  # ports
    advertise: list = dataclasses.field(default_factory=list)  # ports

    def neighbours(self):
        """(port, address) -> MAC address of every host that answers."""
        return {(host.port, ipaddress.ip_address(ip)): host.mac
                for host in self.hosts.values() for ip in host.ips}

    def families(self):
        """Its routes, without those out of ports that are too small for IPv6."""
        return [route for route in self.routes
                if not (":" in route[0] and route[1] and len(self.ports[route[1]].families()) == 1)]

    def table(self):
        """The routes as the function `route` reads them."""
        lines = [f"{prefix} {port} via {gateway}" if port else f"{prefix} drop"
                 for prefix, port, gateway in self.families()]
        lines += [prefix + " " + ", ".join(f"{port} via {gateway} weight {weight}"
                                           for port, gateway, weight in hops)
                  for prefix, hops in self.groups]
        return "\n".join(lines) + "\n"


def ip(*words, namespace=None):
    where = ("-n", namespace) if namespace else ()
    done = subprocess.run(["ip", *where, *map(str, words)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, f"ip {words}: {done.stderr}"
    return done.stdout


@contextlib.contextmanager
def inside(namespace):
    """This thread is in that network namespace; its sockets stay there."""
    def enter(path):
        with open(path, "rb") as file:
            if LIBC.setns(file.fileno(), NEW_NETWORK):
                raise OSError(ctypes.get_errno(), f"setns {path}")

    with open("/proc/thread-self/ns/net", "rb") as home:
        enter(f"/run/netns/{namespace}")
        try:
            yield
        finally:
            if LIBC.setns(home.fileno(), NEW_NETWORK):
                raise OSError(ctypes.get_errno(), "setns home")


class Cables:
    """`with Cables(world) as cables:` a namespace with an interface for each port, and its far end,
    PORT-peer, at which a packet socket, `cables.peers[PORT]`, plays the hosts."""

    def __init__(self, world):
        self.world = world
        self.namespace = f"mr-case-{os.getpid()}-{next(NUMBERS)}"
        self.prefix = ("ip", "netns", "exec", self.namespace)
        self.peers = {}

    def __enter__(self):
        try:
            ip("netns", "add", self.namespace)
            self.write({"ipv6/conf/default/accept_dad": 0, "ipv6/conf/default/accept_ra": 0})
            for name, port in self.world.ports.items():
                self.plug(name, port)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, error, trace):
        for peer in self.peers.values():
            peer.close()
        subprocess.run(["ip", "netns", "del", self.namespace], check=False)

    def plug(self, name, port):
        peer = f"{name}-peer"
        ip("link", "add", name, "address", port.mac, "mtu", port.mtu, "type", "veth", "peer",
           "name", peer, "mtu", port.mtu, namespace=self.namespace)
        if port.mtu >= IPV6_MTU_MIN:  # else the kernel has no such setting
            self.write({f"ipv6/conf/{peer}/disable_ipv6": 1})
        for end in (name, peer):
            ip("link", "set", end, "up", namespace=self.namespace)
        # Checksums are those of the router, not of a card that is not there.
        subprocess.run([*self.prefix, "ethtool", "-K", name, "tx", "off"], check=True,
                       capture_output=True)
        with inside(self.namespace):
            self.peers[name] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            self.peers[name].setsockopt(socket.SOL_SOCKET, 33, 1 << 22)  # SO_RCVBUFFORCE
            self.peers[name].bind((peer, 0))

    def write(self, settings):
        """Values of /proc/sys/net of the namespace."""
        words = [f"net.{name.replace('/', '.')}={value}" for name, value in settings.items()]
        subprocess.run([*self.prefix, "sysctl", "-qw", *words], check=True)
