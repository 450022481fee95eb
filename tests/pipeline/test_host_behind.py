# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The host behind a router's ports (`host_interface`): what the router does not answer goes to the
kernel of the namespace in which it runs, and what that sends leaves by the port."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from behind import OURS, THEIRS, child, inside, routed
from processes import PATIENCE, wait_until
from wire import PAGES, digest, run, wait_heard

def fetch(prefix, server_prefix, address, folder):
    """curl here from a server there."""
    page, out = folder / "page", folder / "fetched"
    page.write_bytes(os.urandom(1 << 20))
    host = f"[{address}]" if ":" in address else address
    with child(server_prefix, PAGES, address, folder):
        run(*prefix, "curl", "-gsS", "--retry", "20", "--retry-delay", "1", "--retry-connrefused",
            "--max-time", PATIENCE, "-o", out, f"http://{host}:8080/page", timeout=2 * PATIENCE)
    assert digest(out) == digest(page)


@pytest.mark.parametrize("family", [0, 1])
@pytest.mark.parametrize("placement", ["processes", "fused"])
def test_connections_to_the_router_and_from_it(tmp_path, family, placement):
    with routed(tmp_path, more=f"placement: {placement}") as (wire, running):
        for host, name in ((wire.a, "lan"), (wire.b, "wan")):
            fetch(inside(host), wire.prefix, OURS[name][family], tmp_path)
            fetch(wire.prefix, inside(host), THEIRS[name][family], tmp_path)
        # An address of the router on its other side.
        fetch(inside(wire.a), wire.prefix, OURS["wan"][family], tmp_path)
        audit = running.settle()
        assert audit["generated"]["punt"] > 100
        # Nothing listens there: the kernel says so.
        connect = f"import socket; socket.create_connection(('{OURS['lan'][family]}', 9))"
        said = wire.a.run("python3", "-c", connect, check=False).stderr
        assert "ConnectionRefusedError" in said


def test_the_interfaces_are_the_ports_for_the_kernel(tmp_path):
    with routed(tmp_path) as (wire, _):
        for name in OURS:
            shown = wire.in_middle("ip", "address", "show", f"mr-{name}").stdout
            for address in OURS[name]:
                assert f"{address}/" in shown
            assert wire.in_middle("cat", f"/sys/class/net/mr-{name}/address").stdout.strip() == (
                "02:00:00:00:00:0a" if name == "lan" else "02:00:00:00:00:0b")
            for address in THEIRS[name]:
                wait_heard(wire.in_middle, address)
        for address in (*OURS["lan"], *OURS["wan"]):
            wire.a.wait_for(address)


# Says each line again to its sender, of which there is one.
ECHO = """
import socket, sys
door = socket.create_server((sys.argv[1], 22))
stream, _ = door.accept()
while data := stream.recv(1000):
    stream.sendall(data)
"""
TALK = """
import socket, sys, time
while True:
    try:
        stream = socket.create_connection((sys.argv[1], 22))
        break
    except OSError:
        time.sleep(0.05)
lines = stream.makefile("rw")
for line in sys.stdin:
    lines.write(line)
    lines.flush()
    print(lines.readline(), end="", flush=True)
"""


@pytest.mark.parametrize("direction", ["in", "out"])
def test_a_long_connection_survives_the_death_of_each_worker(tmp_path, direction):
    with routed(tmp_path) as (wire, running):
        here, there, address = wire.prefix, inside(wire.a), THEIRS["lan"][0]
        if direction == "in":
            here, there, address = inside(wire.a), wire.prefix, OURS["lan"][0]
        with child(there, ECHO, address), child(here, TALK, address) as talker:
            def say(words):
                talker.stdin.write(words + "\n")
                talker.stdin.flush()
                assert talker.stdout.readline() == words + "\n"
            say("hello")
            names = [name for name in running.lives() if name not in ("hub", "standby")]
            assert {"ingress.lan.0", "ingress.lan.host.0", "egress.0"} < set(names)
            for name in names:
                running.kill(name)
                say(f"while {name} is dead")
                running.wait_alive(name)
                say(f"with a new {name}")


LISTEN = """
import socket, struct, sys
at = socket.if_nametoindex(sys.argv[1])
four = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
four.bind(("", 7000))
four.setsockopt(0, socket.IP_ADD_MEMBERSHIP,
                struct.pack("4s4si", socket.inet_aton("224.0.0.5"), bytes(4), at))
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
six.bind(("::", 7000))
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
               socket.inet_pton(socket.AF_INET6, "ff02::5") + struct.pack("i", at))
print("ready")
for line in sys.stdin:
    print((six if ":" in line else four).recv(100).decode())
"""
SAY = """
import socket, sys
to = sys.argv[1]
speaker = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET, socket.SOCK_DGRAM)
speaker.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
speaker.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth")
speaker.sendto(to.encode(), (to, 7000))
"""


def test_groups_of_the_link_and_broadcasts(tmp_path):
    """Of the table of OSPF both groups, of DHCP the broadcast."""
    with routed(tmp_path) as (wire, running), child(wire.prefix, LISTEN, "mr-lan") as listener:
        assert listener.stdout.readline() == "ready\n"
        for to in ("224.0.0.5", "ff02::5", "10.1.0.255", "255.255.255.255"):
            wire.a.run("python3", "-c", SAY, to)
            listener.stdin.write(to + "\n")
            listener.stdin.flush()
            assert listener.stdout.readline() == to + "\n"
        # Not of the link: a router of multicast would be needed.
        before = running.settle()["dropped"].get("not_unicast", 0)
        wire.a.run("python3", "-c", SAY, "239.1.2.3")
        wait_until(lambda: running.audit()["dropped"].get("not_unicast", 0) > before, PATIENCE,
                   "dropped")


def test_without_it_the_router_says_itself_that_nothing_is_there(tmp_path):
    with routed(tmp_path, host=False) as (wire, running):
        wire.a.wait_for(OURS["lan"][0])
        done = wire.a.run("python3", "-c", """
import socket
speaker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
speaker.connect(("10.1.0.1", 9))
while True:
    try:
        speaker.send(b"x")
    except ConnectionRefusedError:
        break
""")
        assert done.returncode == 0 and "punt" not in running.settle()["generated"]
        assert "mr-lan" not in wire.in_middle("ip", "link").stdout


BIRD = """
log stderr all;
router id {ours};
protocol device {{ }}
protocol kernel {{ ipv4 {{ export all; }}; }}
protocol static {{ ipv4; route {network} blackhole; }}
"""
BIRD_BGP = """
protocol bgp peer {{
  local {ours} as {our_as};
  neighbor {theirs} as {their_as};
  connect delay time 1;
  ipv4 {{ import all; export where source = RTS_STATIC; }};
}}
"""
BIRD_OSPF = """
protocol ospf v2 {{
  area 0 {{ interface "{interface}" {{ type ptp; hello 1; }}; }};
  ipv4 {{ import all; export where source = RTS_STATIC; }};
}}
"""
FRR_BGP = """
router bgp {our_as}
 bgp router-id {ours}
 no bgp ebgp-requires-policy
 no bgp network import-check
 neighbor {theirs} remote-as {their_as}
 neighbor {theirs} timers connect 1
 address-family ipv4 unicast
  network {network}
 exit-address-family
"""
FRR_OSPF = """
interface {interface}
 ip ospf area 0
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 4
router ospf
 ospf router-id {ours}
 redistribute kernel
"""
FRR = pathlib.Path("/usr/lib/frr")


def bird(folder, text, named):
    file = folder / "bird.conf"
    file.write_text((BIRD + text).format(**named))
    return [("bird", "-f", "-c", file, "-s", folder / "bird.ctl")]


def frr(folder, text, named):
    """zebra, which puts routes into the kernel, and the protocol's own daemon; of its own user."""
    shutil.chown(folder, "frr", "frr")
    def daemon(name, config):
        file = folder / f"{name}.conf"
        file.write_text(config.format(**named))
        return (FRR / name, "-f", file, "-i", folder / f"{name}.pid", "-z", folder / "zserv.api",
                "--vty_socket", folder, "-P", "0", "--log", "stdout")
    protocol = "bgpd" if "bgp" in text else "ospfd"
    return [daemon("zebra", "hostname {interface}\n"), daemon(protocol, text)]


def has(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


BY_BIRD, BY_FRR = has("bird"), has(str(FRR / "zebra"))


@pytest.mark.parametrize("daemons, text", [
    pytest.param(bird, BIRD_BGP, id="bird-bgp", marks=BY_BIRD),
    pytest.param(bird, BIRD_OSPF, id="bird-ospf", marks=BY_BIRD),
    pytest.param(frr, FRR_BGP, id="frr-bgp", marks=BY_FRR),
    pytest.param(frr, FRR_OSPF, id="frr-ospf", marks=BY_FRR)])
def test_a_routing_daemon_behind_the_router(tmp_path, daemons, text):
    ours, theirs = OURS["wan"][0], THEIRS["wan"][0]
    with (routed(tmp_path, function="{ type: route, routes: kernel }") as (wire, running),
          contextlib.ExitStack() as stack):
        wire.b.run("ip", "address", "add", "198.18.7.1/32", "dev", "lo")
        for prefix, interface, at, of, numbers, network in (
                (wire.prefix, "mr-wan", ours, theirs, (65001, 65002), "203.0.113.0/24"),
                (inside(wire.b), "eth", theirs, ours, (65002, 65001), "198.18.7.0/24")):
            named = {"ours": at, "theirs": of, "our_as": numbers[0], "their_as": numbers[1],
                     "interface": interface, "network": network}
            # Not below a folder of root's alone: FRR has a user of its own.
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if daemons is frr:  # BIRD makes it itself
                run(*prefix, "ip", "route", "add", "blackhole", network)
            for words in daemons(folder, text, named):
                daemon = subprocess.Popen([*prefix, *words], stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL)
                stack.callback(daemon.wait)
                stack.callback(daemon.kill)

        def learned(host_run, network):
            return host_run("ip", "route", "show", network).stdout
        wait_until(lambda: f"via {theirs} dev mr-wan" in learned(wire.in_middle, "198.18.7.0/24"),
                   PATIENCE, "the neighbour's route in the kernel behind the router")
        wait_until(lambda: f"via {ours}" in learned(wire.b.run, "203.0.113.0/24"), PATIENCE,
                   "the router's route in the neighbour's kernel")
        # What is in the hands of the worker that dies is sent again.
        wire.a.wait_for("198.18.7.1")
        for names in (("classifier.0", "egress.0"), ("ingress.wan.0", "ingress.wan.host.0")):
            running.kill(*names)
            running.wait_alive(*names)
            wire.a.wait_for("198.18.7.1")
        assert f"via {theirs} dev mr-wan" in learned(wire.in_middle, "198.18.7.0/24")
