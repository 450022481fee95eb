# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`neighbours: kernel`: permanent neighbours of the kernel behind the router are the router's."""

import contextlib
import json

import pytest

from behind import child, inside, routed
from processes import PATIENCE, wait_until
from topology import ask, millrace
from wire import wait_heard

FAMILIES = (4, 6)
FAR = {4: "198.18.7.1", 6: "2001:db8:7::1"}
# No host has these: a question for them has no answer.
GATEWAY = {4: "192.0.2.5", 6: "2001:db8:2::77"}
ROUTES = f"198.18.7.0/24 wan via {GATEWAY[4]}\n2001:db8:7::/48 wan via {GATEWAY[6]}\n"
TABLE = "type: route, table: far.routes"
NOBODY = "02:00:00:00:00:99"
UNREACHABLE = {4: "Destination Host Unreachable", 6: "Address unreachable"}

# Says on each line what the router has asked for until then.
LISTEN = """
import ipaddress, json, select, socket, sys
door = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
door.bind(("eth", 0))
door.setblocking(False)
asked = set()
def take_all():
    while True:
        try:
            frame = door.recv(2000)
        except BlockingIOError:
            return
        if frame[6:12].hex() != "02000000000b":
            continue
        if frame[12:14] == b"\\x08\\x06" and frame[21] == 1:
            asked.add(str(ipaddress.ip_address(frame[38:42])))
        if frame[12:14] == b"\\x86\\xdd" and frame[20] == 58 and frame[54] == 135:
            asked.add(str(ipaddress.ip_address(frame[62:78])))
print("ready")
while True:
    if sys.stdin in select.select([door, sys.stdin], [], [])[0]:
        sys.stdin.readline()
        take_all()
        print(json.dumps(sorted(asked)))
    take_all()
"""
# An ARP reply to all: ADDRESS is at the MAC address of this host.
CLAIM = """
import socket, sys
door = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
door.bind(("eth", 0x0806))
mac, address = door.getsockname()[4], socket.inet_aton(sys.argv[1])
head = b"\\xff" * 6 + mac + bytes.fromhex("08060001080006040002")
door.send(head + (mac + address) * 2)
"""


@contextlib.contextmanager
def following(folder, more="", function=f"{{ {TABLE}, neighbours: kernel }}"):
    (folder / "far.routes").write_text(ROUTES)
    with routed(folder, function=function, more=more, wan="192.0.2.2/29") as (wire, running):
        for family, address in FAR.items():
            wire.b.run("ip", "address", "add", f"{address}/{32 if family == 4 else 128}", "dev",
                       "lo")
        yield wire, running


def kernel(wire, verb, family, *words):
    wire.in_middle("ip", "neighbour", verb, GATEWAY[family], *words, "dev", "mr-wan")


def permanent(mac):
    return ("lladdr", mac, "nud", "permanent")


def known(running, family):
    """What the table has of the gateway."""
    said = millrace("neighbours", running.name, "wan", "--json").stdout
    entries = {entry["address"]: entry for entry in json.loads(said)["neighbours"]}
    return entries.get(GATEWAY[family], {"state": "absent"})


def wait_for(running, family, mac):
    wait_until(lambda: known(running, family).get("mac") == mac, PATIENCE,
               lambda: f"{mac}: {known(running, family)}")
    assert known(running, family)["state"] == "permanent"


def wait_until_gone(running, family):
    wait_until(lambda: known(running, family)["state"] != "permanent", PATIENCE, "gone")


def hears(wire, family):
    return wire.a.run("ping", "-c", "1", "-W", "1", FAR[family], check=False).stdout


@pytest.mark.parametrize("placement", ["processes", "fused"])
@pytest.mark.parametrize("family", FAMILIES)
def test_one_is_used_without_a_question_changes_and_goes(tmp_path, family, placement):
    with (following(tmp_path, f"placement: {placement}") as (wire, running),
          child(inside(wire.b), LISTEN) as listener):
        assert listener.stdout.readline() == "ready\n"

        def asked():
            listener.stdin.write("\n")
            listener.stdin.flush()
            return json.loads(listener.stdout.readline())

        kernel(wire, "add", family, *permanent(wire.b.mac))
        wait_for(running, family, wire.b.mac)
        wire.a.ping(FAR[family])
        assert known(running, family)["asks"] == 0
        kernel(wire, "replace", family, *permanent(NOBODY))
        wait_for(running, family, NOBODY)
        assert "0 received" in hears(wire, family)
        kernel(wire, "replace", family, *permanent(wire.b.mac))
        wait_for(running, family, wire.b.mac)
        wire.a.ping(FAR[family])
        assert GATEWAY[family] not in asked()
        kernel(wire, "del", family)
        wait_until_gone(running, family)
        wait_heard(wire.a.run, FAR[family], UNREACHABLE[family])
        assert GATEWAY[family] in asked()
        kernel(wire, "add", family, *permanent(wire.b.mac))
        wait_for(running, family, wire.b.mac)
        wire.a.ping(FAR[family])
        running.settle()


def test_what_a_daemon_has_learnt_is_used_and_what_the_kernel_has_is_not(tmp_path):
    with following(tmp_path) as (wire, running):
        kernel(wire, "add", 4, "lladdr", wire.b.mac, "nud", "reachable")
        kernel(wire, "add", 6, "lladdr", wire.b.mac, "extern_learn")
        wait_for(running, 6, wire.b.mac)
        wire.a.ping(FAR[6])
        assert known(running, 4)["state"] == "absent"
        running.settle()


@pytest.mark.parametrize("family", FAMILIES)
def test_hub_and_standby_die_and_nothing_is_missed(tmp_path, family):
    with following(tmp_path) as (wire, running):
        kernel(wire, "add", family, *permanent(wire.b.mac))
        wait_for(running, family, wire.b.mac)
        running.kill("hub")
        wire.a.ping(FAR[family])
        kernel(wire, "replace", family, *permanent(NOBODY))
        wait_for(running, family, NOBODY)
        running.kill("standby")
        kernel(wire, "del", family)
        running.wait_alive("standby")
        wait_until_gone(running, family)
        kernel(wire, "add", family, *permanent(wire.b.mac))
        wait_for(running, family, wire.b.mac)
        wire.a.ping(FAR[family])
        running.settle()


def test_a_flood_that_the_kernel_has_no_room_to_tell_of(tmp_path):
    """Packets of a neighbour that stays go on meanwhile, without one lost."""
    with following(tmp_path) as (wire, running):
        kernel(wire, "add", 4, *permanent(wire.b.mac))
        wait_for(running, 4, wire.b.mac)
        batch = tmp_path / "neighbours"
        batch.write_text("".join(
            f"neighbour replace 100.64.{i // 250}.{i % 250} lladdr 02:00:00:00:00:{turn:02x} "
            "dev mr-wan nud stale\n" for turn in range(8) for i in range(1000)))
        wire.in_middle("ip", "-batch", batch)
        wire.a.ping(FAR[4], count=20)
        kernel(wire, "add", 6, *permanent(wire.b.mac))
        kernel(wire, "del", 4)
        wait_for(running, 6, wire.b.mac)
        wait_until_gone(running, 4)
        running.settle()


def test_who_claims_the_address_of_another_is_told_of(tmp_path):
    with following(tmp_path, f"events: {{ file: {tmp_path}/eve.json }}") as (wire, running):
        kernel(wire, "add", 4, *permanent(NOBODY))
        wait_for(running, 4, NOBODY)
        wire.b.run("python3", "-c", CLAIM, GATEWAY[4])
        conflict = {"type": "arp", "event": "address_conflict", "mac": wire.b.mac}

        def told():
            lines = (tmp_path / "eve.json").read_text().splitlines()
            return [line for line in map(json.loads, lines) if line.get("anomaly") == conflict]
        wait_until(told, PATIENCE, "the conflict")
        assert told()[0]["src_ip"] == GATEWAY[4]
        assert known(running, 4)["mac"] == NOBODY
        running.settle()


def test_it_comes_and_goes_with_the_setting(tmp_path):
    with following(tmp_path, function=f"{{ {TABLE} }}") as (wire, running):
        kernel(wire, "add", 4, *permanent(wire.b.mac))
        text = running.file.read_text()
        running.file.write_text(text.replace(TABLE, f"{TABLE}, neighbours: kernel"))
        ask("apply", running.file)
        wait_for(running, 4, wire.b.mac)
        wire.a.ping(FAR[4])
        running.file.write_text(text)
        ask("apply", running.file)
        wait_until_gone(running, 4)
        running.settle()


def test_validate_says_what_is_missing(tmp_path):
    text = """millrace: 1
name: alone
ports:
  lan: { device: "null", addresses: [10.1.0.1/24] }
functions:
  way: { type: route, table: way.routes, neighbours: WORD }
paths:
  all: { from: [lan], run: [way] }
"""
    (tmp_path / "way.routes").write_text("10.0.0.0/8 drop\n")
    file = tmp_path / "alone.yaml"
    for word, why in (("kernel", "no port has a 'host_interface'"), ("all", "expected 'kernel'")):
        file.write_text(text.replace("WORD", word))
        done = millrace("validate", file, check=False)
        assert done.returncode == 1
        assert f"{file}:6:54:" in done.stderr and why in done.stderr, done.stderr
