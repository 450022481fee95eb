# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What is particular about tap ports: the topology makes their interfaces. What they have in common
with other interfaces is in test_interfaces.py."""

import json
import os
import re
import signal

import pytest

from flows import Stream
from metrics import Metrics, address_of
from processes import PATIENCE, wait_until
from test_interfaces import CAPACITY, bump, looking_bump
from topology import Topology, millrace
from wire import Wire

MACS = {"a": "02:00:00:00:00:0a", "b": "02:00:00:00:00:0b"}


def one_tap(wire, more=""):
    return f"""
ports:
  lan: {{ device: tap, interface: {wire.port_a}, mtu: 9000{more} }}
  out: {{ device: "null" }}
paths:
  main: {{ from: lan, to: out }}
"""


def interfaces(wire):
    return [link["ifname"] for link in json.loads(wire.in_middle("ip", "-j", "link").stdout)]


def test_the_interface_is_there_while_the_topology_runs(tmp_path):
    more = ", queues: 2, host_addresses: [10.7.0.2/24, 'fd07::2/64']"
    with Wire(device="tap") as wire:
        with Topology(tmp_path, one_tap(wire, more), prefix=wire.prefix) as running:
            shown = json.loads(wire.in_middle("ip", "-j", "address", "show", wire.port_a).stdout)[0]
            assert shown["mtu"] == 9000 and shown["address"] == "06:00:00:00:00:01"
            assert {"UP", "LOWER_UP"} <= set(shown["flags"])
            given = {f"{at['local']}/{at['prefixlen']}" for at in shown["addr_info"]}
            assert {"10.7.0.2/24", "fd07::2/64"} <= given
            wire.in_middle("ip", "neighbour", "add", "10.7.0.1", "lladdr", "02:00:00:00:00:01",
                           "dev", wire.port_a)
            wire.in_middle("ping", "-c", "5", "-i", "0.01", "-W", "0.2", "10.7.0.1", check=False)
            running.wait_received(5)
        assert wire.port_a not in interfaces(wire)
        # Killed as a whole, nothing is left either.
        killed = Topology(tmp_path, one_tap(wire), prefix=wire.prefix)
        with killed:
            assert wire.port_a in interfaces(wire)
            killed.kill_everything()
            wait_until(lambda: wire.port_a not in interfaces(wire), PATIENCE, "no interface")


def test_the_hub_dies_and_traffic_goes_on(tmp_path):
    """The standby has the interfaces too, and lends them to a process that starts anew."""
    with Wire(device="tap") as wire, wire.between(
            tmp_path, looking_bump(wire, "tap", tmp_path)) as running:
        wire.a.wait_for(wire.b.ip)
        with Stream(wire, tmp_path) as stream:
            running.kill("hub")
            stream.goes_on()
            for name in ("ingress.a.0", "egress.0", "ingress.b.0", "front.0"):
                running.kill(name)
                running.wait_alive(name)
                stream.goes_on()
            stream.end()
        wire.a.wait_for(wire.b.ip)
        assert running.audit()["by"] == "standby"
        lost = running.settle()["dropped"]
        assert set(lost) <= {"egress_lost", "worker_lost"} and sum(lost.values()) <= 2 * CAPACITY


def stalled_and_live(wire):
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  many: {{ device: generate, queues: 4, size: 1000, rate_mpps: 0.005 }}
  few:  {{ device: generate, size: 100, rate_mpps: 0.002 }}
  stalled: {{ device: tap, interface: {wire.port_a}, mac: "{MACS['a']}" }}
  live:    {{ device: tap, interface: {wire.port_b}, mac: "{MACS['b']}" }}
paths:
  stalled: {{ from: many, to: stalled }}
  live:    {{ from: few, to: live }}
"""


def backlog_bytes(host):
    text = host.run("tc", "-s", "qdisc", "show", "dev", "out").stdout
    number, unit = re.search(r"backlog (\d+)(K?M?)b", text).groups()
    return int(number) * {"": 1, "K": 1 << 10, "M": 1 << 20}[unit]


def test_four_streams_into_a_tap_whose_reader_is_stopped(tmp_path):
    """What waits is bounded, the rest is tx_full; another port does not notice."""
    with Wire(device="tap") as wire, wire.between(tmp_path, stalled_and_live(wire)) as running:
        # Behind the first tap is a bridge, and behind that a reader that takes nothing for a while.
        host = wire.a
        # Packet filters on bridges take what passes from its sender's account.
        host.run("sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=0")
        host.run("ip", "link", "add", "name", "bridge0", "type", "bridge")
        host.run("ip", "link", "add", "out", "type", "veth", "peer", "name", "reader")
        host.run("tc", "qdisc", "add", "dev", "out", "root", "tbf", "rate", "8bit", "burst",
                 "2000", "limit", "100mb")
        for name in ("bridge0", "out", "reader"):
            host.run("ip", "link", "set", name, "up")
        for name in ("eth", "out"):
            host.run("ip", "link", "set", name, "master", "bridge0")

        def of_live(what, audit):
            """Four streams lead to `stalled`, the fifth to `live`."""
            return sum(lane[what] for lane in audit["lanes"] if lane["stream"] == 4)

        def sent(port):
            audit = running.audit()
            live = of_live("transmitted", audit)
            return live if port == "live" else audit["transmitted"] - live

        wait_until(lambda: running.audit()["dropped"].get("tx_full", 0) > 1000, PATIENCE, "tx_full")
        before = running.audit()
        waiting, stalled, live = backlog_bytes(host), sent("stalled"), sent("live")
        wait_until(lambda: sent("live") > live + 2000, PATIENCE, "the other is unhurt")
        assert 1 << 19 < backlog_bytes(host) < 4 << 20 and abs(backlog_bytes(host) - waiting) < 1e5
        assert sent("stalled") - stalled < 200, "next to nothing goes"
        wait_until(lambda: running.audit()["dropped"]["tx_full"] >
                   before["dropped"]["tx_full"] + 1000, PATIENCE, "more has no room")
        after = running.audit()
        # Of `live` only what was sent before it was handed over is lost.
        assert of_live("dropped", after) == of_live("dropped", before)
        # The reader goes on.
        host.run("tc", "qdisc", "del", "dev", "out", "root")
        stalled = sent("stalled")
        wait_until(lambda: sent("stalled") > stalled + 1000, PATIENCE, "packets for the reader")
        audit = running.drain()
        assert set(audit["dropped"]) <= {"tx_full", "no_output"}


def refused(tmp_path, text, *prefix):
    topology = Topology(tmp_path, text)
    done = millrace("up", topology.file, "--detach", check=False, prefix=prefix)
    assert done.returncode != 0
    left = os.path.exists(f"/run/millrace/{topology.name}")
    assert left == ("exited" in done.stderr), "logs stay of what has started"
    topology.down(check=False)
    return done.stderr


def test_what_is_wrong_with_a_host_is_said_with_its_mend(tmp_path):
    with Wire(device="tap") as wire:
        good = one_tap(wire)
        without_tun = ("unshare", "--mount", "sh", "-ec",
                       'mount -t tmpfs none /dev/net; exec "$@"', "sh")
        said = refused(tmp_path, good, *wire.prefix, *without_tun)
        assert "port 'lan' (tap): open /dev/net/tun: No such file or directory" in said
        assert "modprobe tun" in said and "--device /dev/net/tun" in said
        without_rights = ("capsh", "--drop=cap_net_admin", "--", "-c", 'exec "$@"', "sh")
        said = refused(tmp_path, good, *wire.prefix, *without_rights)
        assert "port 'lan' (tap): making interface 'porta' needs CAP_NET_ADMIN" in said
        assert "setcap cap_net_admin+ep" in said and "millrace-hub" in said
        assert wire.port_a not in interfaces(wire)
        twice = bump(wire, "tap").replace(wire.port_b, wire.port_a)
        said = refused(tmp_path, twice, *wire.prefix)
        assert "which is another port of this topology already: 'a'" in said
        with Topology(tmp_path, good, prefix=wire.prefix) as running:
            said = refused(tmp_path, good, *wire.prefix)
            assert f"'porta' is there already, a port of the topology in {running.run_dir}" in said
            assert f"millrace down {running.name}" in said
        wire.in_middle("ip", "link", "add", "name", wire.port_a, "type", "bridge")
        said = refused(tmp_path, good, *wire.prefix)
        assert "'porta' is there already" in said and "ip link del porta" in said
        assert wire.port_a in interfaces(wire), "it is another's"


def test_what_a_killed_run_left_is_removed(tmp_path):
    """A process still has a queue of it open: it did not go by itself."""
    with Wire(device="tap") as wire:
        wire.in_middle("ip", "tuntap", "add", wire.port_a, "mode", "tap")
        wire.in_middle("ip", "link", "set", wire.port_a, "alias",
                       "millrace: port of the topology in /run/millrace/of-the-dead")
        topology = Topology(tmp_path, one_tap(wire), prefix=wire.prefix)
        done = millrace("up", topology.file, "--detach", prefix=wire.prefix)
        try:
            assert "interface porta, left by a killed run, removed" in done.stdout
            shown = wire.in_middle("ip", "link", "show", wire.port_a).stdout
            assert f"/run/millrace/{topology.name}" in shown
        finally:
            millrace("down", topology.name)


@pytest.mark.parametrize("placement", ["processes", "fused"])
def test_a_frame_that_is_too_long_for_the_other_side_is_counted(tmp_path, placement):
    with Wire(device="tap") as wire:
        text = bump(wire, "tap").replace(f"interface: {wire.port_a}, mtu: 1500",
                                         f"interface: {wire.port_a}, mtu: 3000")
        text = text.replace("1500", "2000") + (
            "placement: fused\n" if placement == "fused" else "")
        with wire.between(tmp_path, text) as running:
            wire.a.wait_for(wire.b.ip)
            wire.a.ping(wire.b.ip, "-M", "do", "-s", 2000 - 28)
            wire.a.run("ping", "-c", "5", "-i", "0.01", "-W", "0.2", "-M", "do", "-s", 2001 - 28,
                       wire.b.ip, check=False)
            # What is not expected at a port: its own MTU was raised behind its back.
            wire.a.run("ip", "link", "set", "eth", "mtu", "9000")
            wire.a.run("ping", "-c", "5", "-i", "0.01", "-W", "0.2", "-M", "do", "-s", "8000",
                       wire.b.ip, check=False)
            # Until they are read, the kernel has them.
            wait_until(lambda: running.audit()["dropped"].get("oversize") == 10, PATIENCE, "read")
            assert running.settle()["dropped"] == {"oversize": 10}


def test_drops_of_the_device_are_told(tmp_path):
    """While the ingress is stopped what comes waits in the kernel, as far as there is room."""
    more = ", ring: 64, host_addresses: 10.7.0.2/24"
    with Wire(device="tap") as wire, \
            Topology(tmp_path, "heartbeat_limit: 60s" + one_tap(wire, more),
                     prefix=wire.prefix) as running:
        wire.in_middle("ip", "neighbour", "add", "10.7.0.1", "lladdr", "02:00:00:00:00:01", "dev",
                       wire.port_a)
        address = address_of(running.run_dir)
        before = running.settle()["received"]
        running.kill("ingress.lan.0", number=signal.SIGSTOP)
        # No qdisc in front, so that the device itself has to refuse.
        wire.in_middle("tc", "qdisc", "replace", "dev", wire.port_a, "root", "noqueue")
        wire.in_middle("ping", "-c", "200", "-f", "-W", "0.1", "10.7.0.1", check=False)
        os.kill(running.lives()["ingress.lan.0"][0], signal.SIGCONT)
        wait_until(lambda: running.audit()["received"] > before + 60, PATIENCE, "what has waited")

        def missed():
            metrics = Metrics(wire.in_middle("curl", "-s", address + "/metrics").stdout)
            return metrics.total("millrace_port_missed_packets_total")
        wait_until(lambda: missed() > 100, PATIENCE, "the device's own count")
