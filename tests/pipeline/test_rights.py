# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What processes may still do once packets flow, as /proc has it of each of their threads."""

import os
import pathlib

import frames
import processes
from test_dpdk import joined
from test_fused import fused
from test_interfaces import DEVICES, looking_bump
from topology import Topology
from wire import Wire

import pytest

COUNT = 20000
NONE = 0
FILTERED = "2"
#                 net_admin net_raw  ipc_lock  sys_rawio bpf
DRIVERS = sum(1 << n for n in (12, 13, 14, 17, 39))

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")


def threads_of(pid):
    """The fields of /proc/PID/task/*/status, one dictionary a thread."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text(encoding="utf-8")
        yield dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def rights(running):
    """name of process -> the rights that its threads have, which have to be all the same."""
    named = {actor["name"]: actor["pid"] for actor in running.status()["actors"] if actor["pid"]}
    named["telemetry"] = processes.telemetry_pid(running.run_dir)
    # The last step before packets; a process that has just started may not have come so far.
    processes.wait_until(lambda: all(thread["Seccomp"] == FILTERED for pid in named.values()
                                     for thread in threads_of(pid)), processes.PATIENCE,
                             "all are filtered")
    found = {}
    for name, pid in named.items():
        masks = set()
        for thread in threads_of(pid):
            assert thread["NoNewPrivs"] == "1", (name, thread["Name"])
            assert int(thread["CapInh"], 16) == int(thread["CapAmb"], 16) == 0
            masks |= {int(thread[field], 16) for field in ("CapPrm", "CapEff", "CapBnd")}
        assert len(masks) == 1, (name, masks)
        found[name] = masks.pop()
    return found


def software_gpu(folder):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
events: {{}}
ports:
  in:  {{ device: generate, numbered: true, flows: 64, count: {COUNT}, rate_mpps: 0.02 }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 1, dispatch: any }}
  gpu:   {{ kind: gpu, device: software }}
functions:
  look: {{ type: match, rules: all.rules, on: gpu }}
  seen: {{ type: match, rules: all.rules, on: front }}
paths:
  main: {{ from: in, to: out, run: [seen, look] }}
"""


def test_nobody_keeps_any_without_a_driver(tmp_path):
    with Topology(tmp_path, software_gpu(tmp_path)) as running:
        assert set(rights(running).values()) == {NONE}
        # A process that comes later, when the hub has long given up its own, is no other.
        running.kill("front.0")
        running.wait_alive("front.0")
        assert set(rights(running).values()) == {NONE}
        assert running.settle(COUNT)["received"] == COUNT


@pytest.mark.parametrize("device", DEVICES)
def test_sockets_and_interfaces_outlive_the_rights_that_opened_them(tmp_path, device):
    with Wire(device=device) as wire, wire.between(
            tmp_path, looking_bump(wire, device, tmp_path)) as running:
        wire.a.wait_for(wire.b.ip)
        found = rights(running)
        assert {"ingress.a.0", "ingress.b.0", "egress.0", "front.0", "hub", "standby"} <= set(found)
        assert set(found.values()) == {NONE}


def test_one_process_for_all(tmp_path):
    """Its packet filter starts threads of DPDK's own before its ports are open."""
    (tmp_path / "first.rules").write_text("pass udp any -> any\n")
    text = fused(tmp_path, COUNT, 0.02).replace("run: [look", "run: [filter, look").replace(
        "functions:", "functions:\n  filter:  { type: acl, rules: first.rules, on: front }")
    with Topology(tmp_path, text) as running:
        names = {thread["Name"] for thread in threads_of(running.actor("front.0")["pid"])}
        assert any("eal" in name for name in names), names
        assert set(rights(running).values()) == {NONE}
        assert running.settle(COUNT)["transmitted"] == COUNT
    assert len(frames.numbers_in(tmp_path / "out.pcap")) == COUNT


def test_a_driver_keeps_what_it_may_need_and_nobody_else_does(tmp_path, seed):
    with joined(tmp_path, seed, COUNT) as (first, second):
        found = rights(first)
        assert {name for name, mask in found.items() if mask == DRIVERS} == {
            "hub", "ingress.link.0", "egress.0"}
        assert {mask for mask in found.values()} == {NONE, DRIVERS}
        sent = first.settle(received=COUNT)
        second.settle(received=sent["transmitted"])
