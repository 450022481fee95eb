# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A sender that no kernel would be (odd_sender.py), and behind a topology a server of Linux that
writes down what its sockets have read."""

import contextlib
import pathlib
import random
import subprocess

import odd_sender
from routed import functions_between

SENDER = "10.1.0.66"  # no kernel's
GATEWAY = "02:00:00:00:00:0a"
FIRST_PORT = 10_000
COUNTS = (100, 3000, 20_000, 60_000)  # bytes that are said
# What each connection brings into a file of its port; then says the number of bytes, and ends.
SERVER = """
import pathlib, socket, sys, threading
server = socket.create_server((sys.argv[1], 7000), backlog=64)
def take(connection, port):
    count = 0
    with open(pathlib.Path(sys.argv[2]) / f"got-{port}", "wb", buffering=0) as file:
        while data := connection.recv(65536):
            file.write(data)
            count += len(data)
    connection.sendall(b"%d bytes\\n" % count)
    connection.close()
while True:
    connection, peer = server.accept()
    threading.Thread(target=take, args=(connection, peer[1]), daemon=True).start()
"""


@contextlib.contextmanager
def facing_odd_sender(folder, text, **values):
    """functions_between(), with the server behind them."""
    with functions_between(folder, text, **values) as wire:
        wire.b.listen(7000, "python3", "-c", SERVER, wire.b.ip, folder)
        yield wire


def send_oddly(wire, port, seed, mode, *word):
    """Exit status of the sender: 0 for all acknowledged, else odd_sender.REFUSED."""
    counts = COUNTS if word else (1, *COUNTS)
    done = wire.a.run("python3", pathlib.Path(odd_sender.__file__), "eth", SENDER, wire.b.ip,
                      GATEWAY, port, seed, random.Random(seed).choice(counts), mode, *word,
                      check=False)
    if done.returncode not in (0, odd_sender.REFUSED):
        raise subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)
    return done.returncode
