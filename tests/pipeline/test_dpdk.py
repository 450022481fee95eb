# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Ports of DPDK drivers: the hub is their primary process, io-workers are secondaries.

Two topologies are joined by memif, as one is to another data plane: numbered packets cross from one
to the other, so every packet that is missing can be named.
"""

import contextlib
import json
import os
import pathlib
import shutil
import socket

import frames
from processes import PATIENCE, wait_until
from topology import QUICK_RESTARTS, Topology, millrace

import pytest

CAPACITY = 32
RINGS = "rx_descriptors: 128, tx_descriptors: 128"


def sender(folder, seed, count, rate_mpps):
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  in:   {{ device: generate, numbered: true, flows: 64, seed: {seed}, count: {count},
          rate_mpps: {rate_mpps} }}
  link: {{ device: dpdk, {RINGS},
          devargs: "net_memif0,role=server,socket={folder}/memif.sock,socket-abstract=no" }}
  sink: {{ device: "null" }}
paths:
  there: {{ from: in, to: link, run: [] }}
  back:  {{ from: link, to: sink, run: [] }}
"""


def receiver(folder):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
batch: {{ capacity: {CAPACITY} }}
ports:
  link: {{ device: dpdk, {RINGS},
          devargs: "net_memif0,role=client,socket={folder}/memif.sock,socket-abstract=no" }}
  out:  {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 2, max: 2, dispatch: any }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
paths:
  main: {{ from: link, to: out, run: [look] }}
"""


@contextlib.contextmanager
def joined(folder, seed, count, rate_mpps=0.02):
    """(sender, receiver): both running, the one's packets on their way to the other."""
    with Topology(folder, sender(folder, seed, count, rate_mpps)) as first:
        with Topology(folder, receiver(folder)) as second:
            yield first, second


def test_packets_cross_from_one_data_plane_to_the_other(tmp_path, seed):
    with joined(tmp_path, seed, 0) as (first, second):
        second.wait_received(5000)
        sent = first.drain()
        got = second.settle(received=sent["transmitted"])
    # What was sent before the other side was there is counted.
    assert set(sent["dropped"]) <= {"tx_full"} and sent["transmitted"] > 0
    assert got["received"] == got["transmitted"] == sent["transmitted"] and not got["dropped"]
    arrived = frames.numbers_in(tmp_path / "out.pcap")
    assert len(arrived) == got["received"]
    assert all(before < after for before, after in zip(arrived, arrived[1:]))


def dpdk_telemetry(topology, *commands):
    """What DPDK's own telemetry socket answers, as dpdk-telemetry.py asks."""
    base = pathlib.Path(os.environ.get("RUNTIME_DIRECTORY") or "/var/run")
    path = base / "dpdk" / f"millrace-{topology.name}" / "dpdk_telemetry.v2"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.settimeout(PATIENCE)
        client.connect(str(path))
        answers = [json.loads(client.recv(1 << 16))]
        for command in commands:
            client.send(command.encode())
            answers.append(json.loads(client.recv(1 << 16)))
    return answers


def test_dpdks_own_telemetry_answers(tmp_path, seed):
    with joined(tmp_path, seed, 0) as (first, second):
        first.endless = second.endless = True
        second.wait_received(1000)
        got = second.audit()["received"]
        hello, ports, stats = dpdk_telemetry(second, "/ethdev/list", "/ethdev/stats,0")
        assert hello["pid"] == second.actor("hub")["pid"]
        assert ports["/ethdev/list"] == [0]
        assert stats["/ethdev/stats"]["ipackets"] >= got
        wait_until(lambda: second.metrics().values("millrace_port_up", port="link") == [1],
                   PATIENCE, "the hub has seen that the link is up")


@pytest.mark.parametrize("name", ["ingress.port.0", "egress.0"])
def test_a_killed_io_worker_is_replaced_under_full_load(tmp_path, name):
    kills = 9  # each has some hundred of the 1,800 buffers in hand: what leaked would be missed
    with Topology(tmp_path, endless(), words=QUICK_RESTARTS) as running:
        running.endless = True
        for _ in range(kills):
            running.wait_received(running.audit()["received"] + 10000)
            running.kill(name)
            running.wait_alive(name)
        running.wait_received(running.audit()["received"] + 10000)
        audit = running.audit()
        assert audit["unaccounted"] == 0
        assert set(audit["dropped"]) <= {"egress_lost", "tx_full"}
        assert audit["dropped"].get("egress_lost", 0) <= kills * 64


@pytest.mark.parametrize("name", ["ingress.link.0", "egress.0", "front.0"])
def test_a_killed_actor_costs_what_it_had_and_the_link_comes_back(tmp_path, seed, name):
    kills = 3
    with contextlib.ExitStack() as source:
        first = source.enter_context(Topology(tmp_path, sender(tmp_path, seed, 0, 0.02)))
        first.endless = True
        with Topology(tmp_path, receiver(tmp_path)) as second:
            for one in (first, second):
                wait_until(lambda one=one: one.metrics().values("millrace_port_up", port="link")
                           == [1], PATIENCE, "both sides see the link")
            for _ in range(kills):
                second.wait_received(second.audit()["received"] + 1000)
                second.kill(name)
                second.wait_alive(name)
            second.wait_received(second.audit()["received"] + 1000)
            source.close()
            got = second.settle()
    lost_max = {"front.0": {"worker_lost": kills * CAPACITY},
                "egress.0": {"egress_lost": kills * CAPACITY}}.get(name, {})
    assert all(packets <= lost_max.get(why, 0) for why, packets in got["dropped"].items()), got
    arrived = frames.numbers_in(tmp_path / "out.pcap")
    # What lay in the ring of a killed ingress was never received, so it is missing here only.
    assert all(before < after for before, after in zip(arrived, arrived[1:]))
    assert got["transmitted"] <= len(arrived) <= got["received"]


def test_a_memif_client_waits_for_its_server_and_finds_it_again(tmp_path, seed):
    with Topology(tmp_path, receiver(tmp_path)) as second:
        second.wait_alive("ingress.link.0")
        for _ in range(2):
            before = second.audit()["received"]
            with Topology(tmp_path, sender(tmp_path, seed, 0, 0.02)) as first:
                first.endless = True
                second.wait_received(before + 1000)


def test_a_driver_that_swallows_gives_every_buffer_back(tmp_path):
    count = 100000
    text = f"""
ports:
  in:  {{ device: generate, count: {count}, rate_mpps: 0.1 }}
  out: {{ device: dpdk, devargs: "net_null0,no-rx=1", {RINGS} }}
paths:
  main: {{ from: in, to: out, run: [] }}
"""
    with Topology(tmp_path, text) as running:
        running.wait_received(1000)
        running.kill("egress.0")
        running.wait_alive("egress.0")
        audit = running.settle(received=count)
        assert audit["buffers"]["held"] == 0
        assert audit["dropped"].get("egress_lost", 0) <= 64


def endless(name="net_null0"):
    return f"""
ports:
  port: {{ device: dpdk, devargs: "{name},size=60", {RINGS} }}
paths:
  main: {{ from: port, to: port, run: [] }}
"""


def files_of(name):
    """What DPDK has of a topology outside its run directory."""
    found = list(pathlib.Path("/dev/hugepages").glob(f"millrace-{name}map_*"))
    folder = pathlib.Path("/var/run/dpdk", f"millrace-{name}")
    return found + ([folder] if folder.exists() else [])


def test_what_a_killed_run_left_behind_goes(tmp_path):
    with Topology(tmp_path, endless()) as running:
        running.wait_received(1000)
        running.kill_everything()
        assert files_of(running.name)
    assert not files_of(running.name)


def test_a_clean_stop_leaves_nothing(tmp_path):
    with Topology(tmp_path, endless()) as running:
        running.endless = True
        running.wait_received(1000)
        audit = running.audit()
        assert audit["exact"] and audit["unaccounted"] == 0
    assert not files_of(running.name)


def test_two_topologies_run_side_by_side(tmp_path):
    with Topology(tmp_path, endless()) as one, Topology(tmp_path, endless()) as other:
        one.endless = other.endless = True
        for running in (one, other):
            running.wait_received(1000)


def test_without_hub_traffic_goes_on_and_only_dpdk_actors_stay_out(tmp_path):
    (tmp_path / "all.rules").write_text('alert "x" name "any x"\n')
    text = f"""
ports:
  port: {{ device: dpdk, devargs: "net_null0,size=60", {RINGS} }}
  in:   {{ device: generate, rate_mpps: 0.01 }}
  sink: {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: 2, max: 2, dispatch: any }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
paths:
  main:  {{ from: port, to: port, run: [] }}
  other: {{ from: in, to: sink, run: [look] }}
"""
    with Topology(tmp_path, text) as running:
        running.endless = True
        running.kill("hub")
        wait_until(lambda: running.audit()["by"] == "standby", PATIENCE, "the standby answers")
        running.wait_received(running.audit()["received"] + 1000)
        for name in ("front.1", "ingress.in.0"):
            running.kill(name)
            running.wait_alive(name)
        running.kill("ingress.port.0")
        wait_until(lambda: "planned_restart_needed" in str(running.status()) or
                   "plan a restart" in str(running.status()), PATIENCE, "said so")
        packets = running.actor("ingress.in.0")["packets"]
        wait_until(lambda: running.actor("ingress.in.0")["packets"] > packets + 1000, PATIENCE,
                   "the other path goes on")
        assert running.actor("ingress.port.0")["state"] == "reclaiming"


@pytest.mark.parametrize("devargs, words", [
    ("0000:ff:1f.7", "bind it to vfio-pci"),
    ("net_null0,color=red", "device 'net_null0,color=red' cannot be made: driver net_null does not "
                            "take the arguments 'color=red' (it knows copy, no-rx, size)"),
])
def test_a_device_that_is_not_there_is_told_in_one_message(tmp_path, devargs, words):
    file = tmp_path / "t.yaml"
    name = f"test-{os.getpid()}-dev"
    file.write_text(f"millrace: 1\nname: {name}\n{endless()}".replace(
        "net_null0,size=60", devargs))
    done = millrace("up", file, "--detach", check=False)
    assert done.returncode != 0
    assert "port 'port' (dpdk): " in done.stdout + done.stderr
    assert words in done.stdout + done.stderr
    assert not files_of(name)
    shutil.rmtree(f"/run/millrace/{name}", ignore_errors=True)  # its logs


def test_validate_refuses_bad_devargs_at_their_place(tmp_path):
    file = tmp_path / "t.yaml"
    file.write_text(f"millrace: 1\nname: t\n{endless('net_nul0')}")
    done = millrace("validate", file, check=False)
    assert done.returncode == 1
    assert "net_nul" in done.stdout + done.stderr and "did you mean 'net_null'?" in (
        done.stdout + done.stderr)
