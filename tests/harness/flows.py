# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Numbered packets of many flows between two hosts, and what became of their order."""

import json
import subprocess

from processes import wait_until

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
    elif ahead < -0.1:
        began -= ahead  # what this host had no time for is not made good in one burst
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
