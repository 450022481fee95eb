# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A Linux host that knows nothing finds its address and its router by `advertise` alone."""

import json
import os

import pytest

from processes import PATIENCE, wait_until
from routed import FAR, ROUTES, lan, lay_right, millrace_router, settings, wan
from wire import Wire

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
NETWORK = "2001:db8:1:"


def own_addresses(host):
    """Those in the network of lan, made by the host itself, that it may use."""
    told = json.loads(host.run("ip", "-6", "-j", "address", "show", "dev", "eth").stdout)
    return [address["local"] for interface in told for address in interface.get("addr_info", ())
            if address.get("dynamic") and not address.get("tentative")
            and address["local"].startswith(NETWORK)]


def default_routers(host):
    told = json.loads(host.run("ip", "-6", "-j", "route", "show", "default").stdout)
    return [(route["gateway"], route["protocol"]) for route in told]


def ask_again(host):
    """The host begins anew with IPv6, as when it is switched on."""
    for value in (1, 0):
        settings(host.namespace, {"ipv6.conf.eth.disable_ipv6": value})


def test_a_host_finds_its_address_and_the_router(tmp_path):
    with Wire(addresses=("10.1.0.5/24", "192.0.2.1/30")) as wire:
        lay_right(wire.b)
        settings(wire.a.namespace, {"ipv6.conf.eth.accept_ra": 1, "ipv6.conf.eth.autoconf": 1})
        ports = {"lan": lan(wire.port_a), "wan": wan(wire.port_b)}
        with millrace_router(tmp_path, wire.middle, ports, ROUTES,
                             more=", advertise: lan") as running:
            ask_again(wire.a)
            wait_until(lambda: own_addresses(wire.a), PATIENCE, "an address")
            assert default_routers(wire.a) == [("fe80::ff:fe00:a", "ra")]
            wire.a.wait_for(FAR["ipv6"])
            assert running.audit()["generated"].get("reply", 0) > 0
