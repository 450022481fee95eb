# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Queues that are added to a port while packets of many flows come to it: no flow is overtaken by
itself, nothing is lost, the audit is exact."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time

import pytest
from metrics import Metrics, address_of
from processes import wait_until
from topology import ask, millrace
from wire import Wire

FLOWS = 64
# Numbered datagrams of many flows, all sent by one thread on one core, so that the kernel keeps
# their order: `seconds` long, some `rate` of them a second.
SENDER = """
import os, socket, struct, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
to, rate, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
flows = []
for _ in range(%d):
    flows.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    flows[-1].connect((to, 9))
sent, began = 0, time.monotonic()
while not os.path.exists(folder + "/enough"):
    for number, flow in enumerate(flows):
        flow.send(struct.pack("!IQ", number, sent // len(flows)) + bytes(20))
        sent += 1
    ahead = began + sent / rate - time.monotonic()
    if ahead > 0:
        time.sleep(ahead)
print(sent)
""" % FLOWS
# Counts what arrives, and what came behind a later one of its flow.
RECEIVER = """
import json, os, socket, struct, sys, time
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE
receiver.bind((sys.argv[1], 9))
receiver.settimeout(0.2)
last, count, overtaken = {}, 0, 0
open(sys.argv[2] + "/listens", "w").close()
while True:
    try:
        flow, number = struct.unpack("!IQ", receiver.recv(100)[:12])
    except TimeoutError:
        if os.path.exists(sys.argv[2] + "/all"):
            break
        continue
    count += 1
    overtaken += number <= last.get(flow, -1)
    last[flow] = number
print(json.dumps({"count": count, "overtaken": overtaken, "flows": len(last)}))
"""


def bump(wire, folder, more):
    (folder / "all.rules").write_text('alert "never to be seen" name "any x"\n')
    return f"""
heartbeat_limit: 20s
ports:
  a: {{ device: afpacket, interface: {wire.port_a}, ring: 65536{more} }}
  b: {{ device: afpacket, interface: {wire.port_b} }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: any }}
  deep:  {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  look:    {{ type: match, rules: all.rules, on: front }}
  witness: {{ type: record, on: deep }}
paths:
  there: {{ from: a, run: [look, witness], lanes: 8, slots: 64 }}
  back:  {{ from: b, run: [look] }}
"""


def say(running, text):
    running.file.write_text(f"millrace: 1\nname: {running.name}\n{text}", encoding="utf-8")


def start(namespace, program, *words):
    return subprocess.Popen(["ip", "netns", "exec", namespace, "python3", "-c", program,
                             *map(str, words)], stdout=subprocess.PIPE, text=True)


class Load:
    """Flows from a to b, until told."""

    def __init__(self, wire, folder, rate):
        self.wire, self.folder, self.rate = wire, folder, rate

    def __enter__(self):
        self.receiver = start(self.wire.b.namespace, RECEIVER, self.wire.b.ip, self.folder)
        wait_until((self.folder / "listens").exists, 60, "the receiver listens")
        self.sender = start(self.wire.a.namespace, SENDER, self.wire.b.ip, self.rate, self.folder)
        return self

    def end(self, running):
        """(sent, what the receiver says)."""
        (self.folder / "enough").touch()
        sent = int(self.sender.communicate(timeout=60)[0])
        running.settle()
        (self.folder / "all").touch()
        return sent, json.loads(self.receiver.communicate(timeout=60)[0])

    def __exit__(self, *_):
        for child in (self.sender, self.receiver):
            child.kill()
            child.wait()


def taken(running):
    return {actor["name"]: actor["packets"] for actor in running.status()["actors"]
            if actor["name"].startswith("ingress.a.")}


def wait_taken(running, names, count):
    before = taken(running)
    wait_until(lambda: all(taken(running).get(name, 0) >= before.get(name, 0) + count
                           for name in names), 60, f"{names} take packets")


@contextlib.contextmanager
def stopped(running, name):
    """What comes to it meanwhile waits in the kernel: as on a host that is short of time."""
    pid = running.actor(name)["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("most, rate, late", [(2, 3000, True), (2, 20000, False),
                                              (4, 3000, True), (4, 20000, False)])
def test_queues_are_added_under_load(tmp_path, most, rate, late):
    with Wire() as wire:
        text = bump(wire, tmp_path, f", queues_max: {most}")
        with wire.between(tmp_path, text) as running:
            wire.a.wait_for(wire.b.ip)
            wire.a.neighbour(wire.b.ip, wire.b.mac)
            names = [f"ingress.a.{queue}" for queue in range(most)]
            with Load(wire, tmp_path, rate) as load:
                wait_taken(running, names[:1], rate // 4)
                say(running, text.replace("queues_max", f"queues: {most}, queues_max"))
                assert ask("plan", running.file, "--diff")["changes"] == [
                    f"port a: queues (default) -> {most}"]
                with stopped(running, names[0]) if late else contextlib.nullcontext():
                    done = ask("apply", running.file)
                    assert done["generation"] == 2, done
                    if late:
                        time.sleep(0.5)
                        assert max(taken(running)[name] for name in names[1:]) == 0, "overtaken"
                wait_taken(running, names, 1000)
                sent, got = load.end(running)
                assert got == {"count": sent, "overtaken": 0, "flows": FLOWS}
                audit = running.audit()
                assert audit["dropped"] == {} and audit["unaccounted"] == 0, audit
                assert audit["received"] == audit["transmitted"], audit
            waits = re.findall(r"(ingress\.a\.\d): waited ([0-9.]+) ms",
                               millrace("logs", running.name).stdout)
            assert sorted(name for name, _ in waits) == names[1:], waits
            assert not late or min(float(wait) for _, wait in waits) > 500, waits
            print("the added queues waited", waits)
            address = address_of(running.run_dir)
            metrics = Metrics(wire.in_middle("curl", "-s", address + "/metrics").stdout)
            by_queue = metrics.by("stream", "millrace_port_received_packets_total", port="a")
            assert len(by_queue) == most and min(by_queue.values()) >= 1000, by_queue
            assert metrics.total("millrace_port_missed_packets_total", port="a") == 0
            inversions = metrics.total("millrace_function_counter_total", function="witness",
                                       number="1")
            assert inversions == 0
            assert ask("plan", running.file, "--diff")["changes"] == []
            running.kill(names[-1])
            running.wait_alive(*names)
            wire.a.wait_for(wire.b.ip)
            wire.iperf("-P", "16")
            running.settle()
            lives = running.lives()
            running.adopt_after_kill()  # whoever supervises next wants as many
            assert running.lives() == lives


# As many packet sockets as a fanout group takes: one more is refused. The group's program gives
# them nothing.
FILLER = """
import signal, socket, struct, sys
held = []
for _ in range(255):
    held.append(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    held[-1].setsockopt(263, 23, 1)  # PACKET_IGNORE_OUTGOING, as all of the group
    held[-1].bind((sys.argv[1], 3))
    group = 0x8000 | socket.if_nametoindex(sys.argv[1])
    held[-1].setsockopt(263, 18, struct.pack("I", group | 6 << 16))  # PACKET_FANOUT, CBPF
print("full", flush=True)
signal.pause()
"""


def test_a_queue_that_cannot_be_opened_is_taken_back(tmp_path):
    with Wire() as wire:
        text = bump(wire, tmp_path, ", queues_max: 2")
        with wire.between(tmp_path, text) as running:
            wire.a.wait_for(wire.b.ip)
            wire.a.neighbour(wire.b.ip, wire.b.mac)
            say(running, text.replace("queues_max", "queues: 2, queues_max"))
            with Load(wire, tmp_path, 5000) as load:
                wait_taken(running, ["ingress.a.0"], 1000)
                filler = start(wire.middle, FILLER, wire.port_a)
                try:
                    assert filler.stdout.readline() == "full\n"
                    lives = running.lives()
                    refused = millrace("apply", running.file, check=False)
                    assert refused.returncode == 1, refused.stdout
                    assert "share the interface" in refused.stderr, refused.stderr
                    assert running.status()["generation"] == 1
                    wait_taken(running, ["ingress.a.0"], 1000)
                    assert running.lives() == lives
                finally:
                    filler.kill()
                    filler.wait()
                assert ask("apply", running.file)["generation"] == 2
                wait_taken(running, ["ingress.a.0", "ingress.a.1"], 1000)
                sent, got = load.end(running)
                assert got == {"count": sent, "overtaken": 0, "flows": FLOWS}
            for settings, words in ((", queues_max: 2", "queues cannot be taken away"),
                                    (", queues: 3, queues_max: 2", "queues_max 2 with queues 3")):
                say(running, bump(wire, tmp_path, settings))
                refused = millrace("apply", running.file, check=False)
                assert refused.returncode != 0 and words in refused.stderr, refused.stderr
