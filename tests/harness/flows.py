# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Load between two hosts that ends when it is told to: numbered packets of many flows and what
became of their order; one TCP connection."""

import json
import subprocess

from processes import PATIENCE, wait_until

FLOWS = 64
# Datagrams that are on their way at most: the kernel has room for 1,000 frames at a cable's end,
# and drops what comes when a host without time has not taken them.
ON_THE_WAY = 800
# Numbered datagrams of many flows, all sent by one thread on one core, so that the kernel keeps
# their order: until told, some `rate` of them a second; so many of a flow `at_once`, which the
# kernel sends in one frame where the cable has offloads (UDP_SEGMENT). What is too far ahead of the
# receiver waits for it; a second without news it takes for the loss of all that is on its way.
SENDER = """
import mmap, os, socket, struct, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
to, rate, folder, at_once = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
newest = mmap.mmap(os.open(folder + "/newest", os.O_RDWR), 8)
def wait_for_room(sent):
    end = time.monotonic() + 1
    while (sent - struct.unpack("Q", newest)[0] > %d and time.monotonic() < end
           and not os.path.exists(folder + "/enough")):
        time.sleep(0.001)
flows = []
for _ in range(%d):
    flows.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    flows[-1].connect((to, 9))
    if at_once > 1:
        flows[-1].setsockopt(17, 103, 32)
sent, began = 0, time.monotonic()
while not os.path.exists(folder + "/enough"):
    for number, flow in enumerate(flows):
        wait_for_room(sent)
        first = sent // len(flows)
        flow.send(b"".join(struct.pack("!IQQ", number, first + i, sent + i) + bytes(12)
                           for i in range(at_once)))
        sent += at_once
    ahead = began + sent / rate - time.monotonic()
    if ahead > 0:
        time.sleep(ahead)
    elif ahead < -0.1:
        began -= ahead  # what this host had no time for is not made good in one burst
print(sent)
""" % (ON_THE_WAY, FLOWS)
# Counts what arrives, and what came behind a later one of its flow; the sender sees the newest one.
# Told how many were sent, it ends when they are there, or none has come for five seconds.
RECEIVER = """
import json, mmap, os, socket, struct, sys, time
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE
receiver.bind((sys.argv[1], 9))
receiver.settimeout(0.2)
last, count, overtaken, silent = {}, 0, 0, 0
file = os.open(sys.argv[2] + "/newest", os.O_RDWR | os.O_CREAT)
os.ftruncate(file, 8)
newest = mmap.mmap(file, 8)
open(sys.argv[2] + "/listens", "w").close()
while True:
    try:
        flow, number, at = struct.unpack("!IQQ", receiver.recv(100)[:20])
    except TimeoutError:
        silent += 1
        if os.path.exists(sys.argv[2] + "/all"):
            sent = int(open(sys.argv[2] + "/all").read() or 1 << 60)
            if count >= sent or silent > 25:
                break
        continue
    count, silent = count + 1, 0
    overtaken += number <= last.get(flow, -1)
    last[flow] = number
    newest[:] = struct.pack("Q", max(at, struct.unpack("Q", newest)[0]))
print(json.dumps({"count": count, "overtaken": overtaken, "flows": len(last)}))
"""


def start(namespace, program, *words):
    return subprocess.Popen(["ip", "netns", "exec", namespace, "python3", "-c", program,
                             *map(str, words)], stdout=subprocess.PIPE, text=True)


class Load:
    """Flows from a to b, until told."""

    def __init__(self, wire, folder, rate, at_once=1):
        self.wire, self.folder, self.rate, self.at_once = wire, folder, rate, at_once

    def __enter__(self):
        self.receiver = start(self.wire.b.namespace, RECEIVER, self.wire.b.ip, self.folder)
        wait_until((self.folder / "listens").exists, PATIENCE, "the receiver listens")
        self.sender = start(self.wire.a.namespace, SENDER, self.wire.b.ip, self.rate, self.folder,
                            self.at_once)
        return self

    def end(self, running):
        """(sent, what the receiver says)."""
        (self.folder / "enough").touch()
        sent = int(self.sender.communicate(timeout=PATIENCE)[0])
        running.settle()
        (self.folder / "all").write_text(str(sent))
        return sent, json.loads(self.receiver.communicate(timeout=PATIENCE)[0])

    def __exit__(self, *_):
        for child in (self.sender, self.receiver):
            child.kill()
            child.wait()


# One connection: bytes until told, some `rate` megabytes a second of them; both sides say how many.
STREAM_SENDER = """
import os, socket, sys, time
to, rate, folder = sys.argv[1], float(sys.argv[2]), sys.argv[3]
stream = socket.create_connection((to, 9))
chunk, sent = os.urandom(16384), 0
while not os.path.exists(folder + "/enough"):
    stream.sendall(chunk)
    sent += len(chunk)
    time.sleep(len(chunk) / rate / 1e6)
stream.shutdown(socket.SHUT_WR)
stream.recv(1)  # the other side has it all
print(sent)
"""
STREAM_RECEIVER = """
import os, socket, sys
door = socket.create_server((sys.argv[1], 9))
open(sys.argv[2] + "/listens", "w").close()
stream, _ = door.accept()
moved, total = os.open(sys.argv[2] + "/moved", os.O_CREAT | os.O_RDWR), 0
while data := stream.recv(65536):
    total += len(data)
    os.pwrite(moved, b"%20d" % total, 0)
stream.send(b"x")
print(total)
"""


class Stream:
    """A TCP connection from a to b, which carries data until told."""

    def __init__(self, wire, folder, rate=4):
        self.wire, self.folder, self.rate = wire, folder, rate

    def __enter__(self):
        self.receiver = start(self.wire.b.namespace, STREAM_RECEIVER, self.wire.b.ip, self.folder)
        wait_until((self.folder / "listens").exists, PATIENCE, "the receiver listens")
        self.sender = start(self.wire.a.namespace, STREAM_SENDER, self.wire.b.ip, self.rate,
                            self.folder)
        self.goes_on()
        return self

    def moved(self):
        """Bytes that have arrived."""
        file = self.folder / "moved"
        return int(file.read_text() or 0) if file.exists() else 0

    def goes_on(self, count=200000):
        """Waits until so many more bytes have arrived."""
        before = self.moved()
        wait_until(lambda: self.moved() >= before + count, PATIENCE,
                   lambda: f"{self.moved() - before} of {count} bytes more arrive")

    def end(self):
        """Bytes, as many as were sent."""
        (self.folder / "enough").touch()
        sent = int(self.sender.communicate(timeout=PATIENCE)[0])
        got = int(self.receiver.communicate(timeout=PATIENCE)[0])
        assert got == sent
        return got

    def __exit__(self, *_):
        for child in (self.sender, self.receiver):
            child.kill()
            child.wait()
