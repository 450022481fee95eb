# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Two hosts and a router between them with the host behind its ports (`host_interface`)."""

import contextlib
import subprocess

from topology import Topology
from wire import Wire

ADDRESSES = ("10.1.0.5/24", "192.0.2.1/30")
OURS = {"lan": ("10.1.0.1", "2001:db8:1::1"), "wan": ("192.0.2.2", "2001:db8:2::2")}
THEIRS = {"lan": ("10.1.0.5", "2001:db8:1::5"), "wan": ("192.0.2.1", "2001:db8:2::1")}


def router(wire, folder, host=True, more="", function="{ type: route, table: none.routes }",
           wan="192.0.2.2/30", mtu=1500):
    (folder / "none.routes").write_text("198.51.100.0/24 drop\n")
    behind = {name: f", host_interface: mr-{name}" if host else "" for name in OURS}
    return f"""
{more}
ports:
  lan:
    {{ device: afpacket, interface: {wire.port_a}, mac: "02:00:00:00:00:0a",
      addresses: [10.1.0.1/24, "2001:db8:1::1/64"]{behind['lan']} }}
  wan:
    {{ device: afpacket, interface: {wire.port_b}, mac: "02:00:00:00:00:0b",
      mtu: {mtu}, addresses: [{wan}, "2001:db8:2::2/64"]{behind['wan']} }}
functions:
  router: {function}
paths:
  all: {{ from: [lan, wan], run: [router] }}
"""


@contextlib.contextmanager
def routed(folder, **how):
    """Two hosts and the router between them, which both of them use."""
    with Wire(addresses=ADDRESSES) as wire:
        wire.a.add_address("2001:db8:1::5/64")
        wire.b.add_address("2001:db8:2::1/64")
        for host, name in ((wire.a, "lan"), (wire.b, "wan")):
            for gateway in OURS[name]:
                family = "-6" if ":" in gateway else "-4"
                host.run("ip", family, "route", "add", "default", "via", gateway)
        with Topology(folder, router(wire, folder, **how), prefix=wire.prefix) as running:
            yield wire, running


@contextlib.contextmanager
def child(prefix, program, *words):
    """A program of Python in a namespace, which talks by lines."""
    started = subprocess.Popen([*prefix, "python3", "-uc", program, *map(str, words)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def inside(host):
    return ("ip", "netns", "exec", host.namespace)
