# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Network interfaces of the kernel as ports: real clients and servers, each in a namespace, talk
through a topology between them."""

import contextlib
import os
import random
import signal
import struct
import subprocess
import sys

import processes
from flows import Stream
from processes import PATIENCE, wait_until
from topology import QUICK_RESTARTS, Topology
from wire import Wire

import pytest

TAKEN = ("afpacket", "afxdp")  # from the kernel
DEVICES = (*TAKEN, "tap")
DEVICES_AND_MTUS = [(device, 9000) for device in DEVICES] + [("afpacket", 1500)]
CAPACITY = 32
KILLS = int(os.environ.get("MILLRACE_DEVICE_KILLS", "6"))


def ports(wire, device, settings=""):
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  a: {{ device: {device}, interface: {wire.port_a}, mtu: {wire.mtu}, mac: "02:00:00:00:00:0a",
       addresses: [10.8.1.1/24]{settings} }}
  b: {{ device: {device}, interface: {wire.port_b}, mtu: {wire.mtu}, mac: "02:00:00:00:00:0b",
       addresses: [10.8.2.1/24]{settings} }}
"""


def bump(wire, device, settings=""):
    return ports(wire, device, settings) + "paths:\n  bump: { from: [a, b] }\n"


def looking_bump(wire, device, folder, settings=""):
    (folder / "all.rules").write_text('alert "never to be seen" name "any x"\n')
    return ports(wire, device, settings) + """
workers:
  front: { kind: classifier, count: 2, dispatch: any }
functions:
  look: { type: match, rules: all.rules, on: front }
paths:
  bump: { from: [a, b], run: [look] }
"""


@pytest.mark.parametrize("device, mtu", DEVICES_AND_MTUS)
def test_everything_passes_a_bump_in_the_wire(tmp_path, device, mtu):
    with Wire(mtu, device=device) as wire, wire.between(tmp_path, bump(wire, device)) as running:
        wire.a.wait_for(wire.b.ip)  # ARP goes through, both ways
        wire.a.ping(wire.b.ip, "-M", "do", "-s", mtu - 28)
        wire.fetch(tmp_path, 20)
        for words in ((), ("-R",), ("-P", "16")):
            wire.iperf(*words)
        udp = wire.iperf("-u", "-b", "20M", "-l", str(mtu - 28))["sum"]
        assert udp["packets"] > 100 and udp["lost_packets"] < udp["packets"]
        assert running.settle()["transmitted"] > 20e6 / mtu


@pytest.mark.parametrize("device", DEVICES)
def test_several_queues_share_an_interface(tmp_path, device):
    settings = ", queues: 2"
    with Wire(queues=2, device=device) as wire, \
            wire.between(tmp_path, bump(wire, device, settings)) as running:
        wire.a.wait_for(wire.b.ip)
        wire.fetch(tmp_path, 2)
        wire.iperf("-P", "32")
        wire.iperf("-R", "-P", "32")
        running.settle()
        taken = [actor["packets"] for actor in running.status()["actors"]
                 if actor["name"].startswith("ingress.")]
        assert len(taken) == 4 and min(taken) > 0


@pytest.mark.parametrize("device", DEVICES)
def test_a_router_between_two_networks(tmp_path, device):
    (tmp_path / "routes").write_text("10.8.1.0/24 a\n10.8.2.0/24 b\n")
    with Wire(addresses=("10.8.1.10/24", "10.8.2.10/24"), device=device) as wire:
        text = ports(wire, device) + """
functions:
  route: { type: route, table: routes }
paths:
  main: { from: [a, b], run: [route] }
"""
        with wire.between(tmp_path, text) as running:
            wire.a.route("10.8.2.0/24", "10.8.1.1")
            wire.b.route("10.8.1.0/24", "10.8.2.1")
            wire.a.wait_for(wire.b.ip)
            assert "ttl=63" in wire.a.hears(wire.b.ip, "-t", "2")
            hop = wire.a.hears(wire.b.ip, "-t", "1")
            assert "From 10.8.1.1 icmp_seq=1 Time to live exceeded" in hop
            wire.fetch(tmp_path, 10)
            wire.iperf("-R")
            audit = running.settle()
            assert audit["generated"]["report"] == 1
            dropped = audit["dropped"]
            assert set(dropped) <= {"not_forwarded", "not_ipv4", "not_unicast"}, dropped


SENDER = """
import socket, sys
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.bind(("eth", 0))
for line in sys.stdin:
    sender.send(bytes.fromhex(line))
"""
# Until so many have come, and a little longer: none may come twice.
RECEIVER = """
import socket, struct, sys, time
receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
receiver.bind(("eth", 3))
receiver.setsockopt(263, 8, 1)  # PACKET_AUXDATA: where the kernel puts the outer tag
receiver.settimeout(0.2)
print("ready", flush=True)
end, awaited = time.monotonic() + float(sys.argv[1]), int(sys.argv[2])
while time.monotonic() < end:
    try:
        data, ancillary, _, _ = receiver.recvmsg(20000, 64)
    except TimeoutError:
        continue
    for level, kind, value in ancillary:
        status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", value[:20])
        if status & 16:
            data = data[:12] + struct.pack("!HH", tpid if status & 64 else 0x8100, tci) + data[12:]
    if b"MILLRACE" in data:
        print(data.hex(), flush=True)
        awaited -= 1
        if awaited == 0:
            end = time.monotonic() + 0.3
"""


def tagged(tags, number, size):
    frame = bytes.fromhex("0200000000ff" "0200000000fe")
    frame += b"".join(struct.pack("!HH", *tag) for tag in tags)
    frame += struct.pack("!HQ", 0x88B5, number) + b"MILLRACE"
    return frame + random.Random(number).randbytes(max(0, size - len(frame)))


@pytest.mark.parametrize("device, mtu", DEVICES_AND_MTUS)
def test_frames_with_vlan_tags_arrive_as_they_were_sent(tmp_path, device, mtu):
    kinds = ([], [(0x8100, 5)], [(0x8100, 0xE005)], [(0x88A8, 7), (0x8100, 9)])
    sizes = (60, 200, mtu + 14)
    # Beyond its MTU the kernel sends room for one tag, of 802.1Q.
    sent = [tagged(tags, number, size + (4 if tags and tags[0][0] == 0x8100 else 0))
            for number, (tags, size) in enumerate((t, s) for t in kinds for s in sizes)]
    with Wire(mtu, device=device) as wire, wire.between(tmp_path, bump(wire, device)):
        wire.a.wait_for(wire.b.ip)
        receiver = subprocess.Popen(
            ["ip", "netns", "exec", wire.b.namespace, sys.executable, "-c", RECEIVER,
             str(PATIENCE), str(len(sent))], stdout=subprocess.PIPE, text=True)
        assert receiver.stdout.readline() == "ready\n"
        subprocess.run(["ip", "netns", "exec", wire.a.namespace, sys.executable, "-c", SENDER],
                       input="".join(frame.hex() + "\n" for frame in sent), text=True, check=True)
        arrived = [bytes.fromhex(line) for line in receiver.communicate(
            timeout=2 * PATIENCE)[0].split()]
    assert arrived == sent


@pytest.mark.parametrize("device", DEVICES)
def test_tcp_survives_classifiers_killed_again_and_again(tmp_path, device):
    with Wire(device=device) as wire, wire.between(
            tmp_path, looking_bump(wire, device, tmp_path), words=QUICK_RESTARTS) as running:
        wire.a.wait_for(wire.b.ip)
        with Stream(wire, tmp_path) as stream:
            for kill in range(KILLS):
                name = f"front.{kill % 2}"
                running.kill(name)
                running.wait_alive(name)
                stream.goes_on()
            stream.end()
        lost = running.settle()["dropped"]
        assert set(lost) <= {"worker_lost"} and lost.get("worker_lost", 0) <= KILLS * CAPACITY


@pytest.mark.parametrize("device", DEVICES)
def test_io_workers_die_under_load(tmp_path, device):
    with Wire(device=device) as wire, wire.between(
            tmp_path, looking_bump(wire, device, tmp_path)) as running:
        wire.a.wait_for(wire.b.ip)
        with Stream(wire, tmp_path) as stream:
            for name in ("ingress.a.0", "egress.0", "ingress.b.0", "egress.0"):
                running.kill(name)
                running.wait_alive(name)
                stream.goes_on()
            stream.end()
        wire.a.wait_for(wire.b.ip)
        lost = running.settle()["dropped"]
        assert set(lost) <= {"egress_lost"} and lost.get("egress_lost", 0) <= 2 * CAPACITY, lost


@pytest.mark.parametrize("device", DEVICES)
def test_an_interface_goes_down_and_up_again_under_traffic(tmp_path, device):
    with Wire(device=device) as wire, wire.between(tmp_path, bump(wire, device)) as running:
        wire.a.wait_for(wire.b.ip)
        lives = running.lives()
        load = wire.a.start("ping", "-f", wire.b.ip)
        before = running.audit()["transmitted"]
        wait_until(lambda: running.audit()["transmitted"] > before, PATIENCE, "traffic")
        wire.set_port_b("down")
        wait_until(lambda: running.audit()["dropped"].get("no_output"), PATIENCE,
                   "drops at the port")
        pid = lives["ingress.b.0"][0]
        before = processes.sleeps(pid)
        wait_until(lambda: processes.sleeps(pid) > before + 20, PATIENCE,
                   "it sleeps, not polls, while its interface is down")
        wire.set_port_b("up")
        wire.a.wait_for(wire.b.ip)
        load.send_signal(signal.SIGINT)
        load.wait()
        assert running.lives() == lives
        # Between the two there is a moment without a carrier.
        assert set(running.settle()["dropped"]) <= {"no_output", "tx_full"}


def features_of(wire):
    return [wire.features(port) for port in (wire.port_a, wire.port_b)]


def links_of(wire):
    """Aliases and filters of the ports."""
    return [wire.in_middle("ip", "-o", "link", "show", port).stdout.split("mtu")[1] +
            wire.in_middle("tc", "filter", "show", "dev", port, "ingress").stdout +
            wire.in_middle("tc", "qdisc", "show", "dev", port).stdout
            for port in (wire.port_a, wire.port_b)]


def test_interfaces_are_given_back_as_they_were(tmp_path):
    with Wire() as wire:
        wire.in_middle("ip", "link", "set", wire.port_a, "alias", "an alias")
        wire.in_middle("ethtool", "-K", wire.port_b, "tso", "off")
        wire.in_middle("tc", "qdisc", "add", "dev", wire.port_b, "clsact")
        features, links = features_of(wire), links_of(wire)
        with Topology(tmp_path, bump(wire, "afpacket"), prefix=wire.prefix) as running:
            wire.a.wait_for(wire.b.ip)
            for on in features_of(wire):
                assert not on & {"rx-checksumming", "tx-checksumming", "rx-vlan-offload",
                                 "tcp-segmentation-offload", "generic-segmentation-offload"}
            assert all(running.run_dir in link and "bytecode" in link for link in links_of(wire))
        assert features_of(wire) == features and links_of(wire) == links
        # Killed as a whole; the next start mends it.
        killed = Topology(tmp_path, bump(wire, "afpacket"), prefix=wire.prefix)
        with contextlib.ExitStack() as stack:
            stack.callback(killed.down, check=False)
            killed.__enter__()
            killed.kill_everything()
            assert links_of(wire) != links
            with Topology(tmp_path, bump(wire, "afpacket"), prefix=wire.prefix):
                wire.a.wait_for(wire.b.ip)
        assert features_of(wire) == features and links_of(wire) == links


def test_what_is_wrong_with_an_interface_is_said_with_its_mend(tmp_path):
    from topology import millrace
    with Wire() as wire:
        before = features_of(wire), links_of(wire)

        def refused(text, *words):
            topology = Topology(tmp_path, text)
            done = millrace("up", topology.file, "--detach", check=False, prefix=[
                *wire.prefix, *words])
            assert done.returncode != 0
            left = os.path.exists(f"/run/millrace/{topology.name}")
            assert left == ("at its start" in done.stderr), "logs stay of what has started"
            topology.down(check=False)
            assert (features_of(wire), links_of(wire)) == before
            return done.stderr

        good = bump(wire, "afpacket")
        said = refused(good.replace(wire.port_b, "portbb"))
        assert "no interface 'portbb'" in said and "did you mean 'portb'?" in said
        said = refused(good.replace("mtu: 1500", "mtu: 9000"))
        assert "has MTU 1500, the port 9000" in said and "ip link set porta mtu 9000" in said
        said = refused(good.replace(wire.port_b, "lo"))
        assert "'lo' is not Ethernet" in said
        said = refused(good.replace(wire.port_b, wire.port_a))
        assert "is another port of this topology already" in said
        wire.in_middle("ip", "address", "add", "192.0.2.1/24", "dev", wire.port_b)
        said = refused(good)
        assert "192.0.2.1" in said and f"ip address flush dev {wire.port_b}" in said
        wire.in_middle("ip", "address", "flush", "dev", wire.port_b)
        wire.in_middle("ip", "link", "set", wire.port_b, "down")
        before = features_of(wire), links_of(wire)
        said = refused(good)
        assert f"'{wire.port_b}' is down: ip link set {wire.port_b} up" in said
        wire.in_middle("ip", "link", "set", wire.port_b, "up")
        before = features_of(wire), links_of(wire)
        said = refused(good, "capsh", "--drop=cap_net_admin", "--", "-c", 'exec "$@"', "sh")
        assert "needs CAP_NET_ADMIN" in said and "setcap cap_net_admin,cap_net_raw+ep" in said
        said = refused(good, "capsh", "--drop=cap_net_raw", "--", "-c", 'exec "$@"', "sh")
        assert "needs CAP_NET_RAW" in said and "millrace-io-worker" in said
        with Topology(tmp_path, good, prefix=wire.prefix) as running:
            wire.a.wait_for(wire.b.ip)
            before = features_of(wire), links_of(wire)
            said = refused(good)
            assert f"taken by the topology in {running.run_dir}" in said
            assert f"millrace down {running.name}" in said


@pytest.mark.parametrize("queues", [1, 2])
@pytest.mark.parametrize("device", TAKEN)
def test_an_interface_that_was_deleted_is_taken_again(tmp_path, device, queues):
    text = f", queues: {queues}"
    with Wire(queues=queues) as wire, Topology(tmp_path, bump(wire, device, text),
                                               prefix=wire.prefix) as running:
        wire.a.wait_for(wire.b.ip)
        for same in (False, True):
            number = wire.index_of(wire.port_b) if same else None  # by which the kernel knows it
            load = wire.a.start("ping", "-f", "10.9.0.9")
            wire.b.unplug()
            wait_until(lambda: "port_lost" in kinds_of(running), PATIENCE, "the loss seen")
            wait_until(lambda: running.audit()["dropped"].get("no_output"), PATIENCE, "drops there")
            audit = running.audit()
            assert audit["buffers"]["in_use"] < 5000
            wire.plug(wire.b, wire.port_b, index=number)
            wire.a.wait_for(wire.b.ip)
            load.kill()
            load.wait()
        wire.fetch(tmp_path, 2)
        said = [event["text"] for event in running.status()["events"]]
        assert any("interface 'portb' of port 'b' is gone" in text for text in said)
        assert any("interface 'portb' of port 'b' is back" in text for text in said)
        lives = running.lives()
        assert lives["egress.0"][2] == 0 and lives["ingress.a.0"][2] == 0
        lost = running.settle()["dropped"]
        assert set(lost) <= {"no_output", "tx_full"}, lost


def test_an_interface_that_comes_back_wrong_is_said_with_its_mend(tmp_path):
    with Wire() as wire, Topology(tmp_path, bump(wire, "afpacket"), prefix=wire.prefix) as running:
        wire.a.wait_for(wire.b.ip)
        wire.b.unplug()
        wire.plug(wire.b, wire.port_b, mtu=1400)
        wait_until(lambda: "port_not_taken" in kinds_of(running), PATIENCE, "refused")
        wire.in_middle("ip", "link", "set", wire.port_b, "mtu", "1500")
        wire.a.wait_for(wire.b.ip)
        said = [event["text"] for event in running.status()["events"]]
        assert any("ip link set portb mtu 1500" in text for text in said), said


def kinds_of(running):
    return [event["kind"] for event in running.status()["events"]]


@pytest.mark.parametrize("device", DEVICES)
def test_nothing_is_lost_once_up_has_returned(tmp_path, device):
    with Wire(device=device) as wire, wire.between(tmp_path, bump(wire, device)):
        wire.a.ping(wire.b.ip, count=1)  # with the very first ARP request
