# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Control by TCP: clients with keys change a topology under traffic; all others are refused,
counted, and nothing changes."""

import contextlib
import os
import random
import re
import select
import socket
import threading

import frames
from processes import PATIENCE, wait_until
from topology import Topology, ask, millrace
from zmtp import GREETING

import pytest



def text(folder):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
control: {{ listen: "tcp://127.0.0.1:0", key: host.key, clients: [me.key.pub] }}
ports:
  in:  {{ device: generate, numbered: true, flows: 64, rate_mpps: 0.01 }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 1, max: 2, dispatch: any }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
paths:
  main: {{ from: in, to: out, run: [look] }}
"""


def address_in(said):
    return re.search(r"control: (tcp://127\.0\.0\.1:\d+) for 1 keys", said).group(1)


@pytest.fixture
def running(tmp_path):
    """All packets come through, in order, whatever is done to its control."""
    for name in ("host", "me", "stranger"):
        millrace("keys", tmp_path / f"{name}.key")
    with Topology(tmp_path, text(tmp_path)) as topology:
        topology.folder = tmp_path
        topology.at = address_in(topology.said)
        wait_until(lambda: os.path.exists(f"{topology.run_dir}/telemetry.address"), PATIENCE,
                   "telemetry listens")
        yield topology
        topology.wait_received(1000)
        audit = topology.drain()
        assert audit["transmitted"] == audit["received"]
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(audit["received"]))


def remote(running, *words, key="me.key", server="host.key.pub", check=True):
    return millrace(words[0], running.name, *words[1:], "--at", running.at, "--key",
                    running.folder / key, "--server-key", running.folder / server, check=check)


def refused(running):
    return running.metrics().total("millrace_control_refused_messages_total",
                                   server="supervisor")


def wait_refused(running, count):
    wait_until(lambda: refused(running) >= count, PATIENCE, f"{count} refusals are counted")


def what_is(running):
    status = running.status()
    return (status["generation"], status["phase"], running.lives())


def test_the_owner_of_a_listed_key_asks_and_changes(running):
    assert running.name in remote(running, "status").stdout
    assert "front: 1 -> 2 workers" in remote(running, "scale", "front=2").stdout
    running.wait_alive("front.1")
    assert "entries" in remote(running, "reload", "look").stdout
    assert running.status()["generation"] == 3
    assert "no change waits" in remote(running, "confirm", check=False).stderr
    wait_until(lambda: remote(running, "audit", check=False).returncode == 0, PATIENCE, "exact")
    assert refused(running) == 0
    # A supervisor that takes over listens too.
    running.kill_supervisor()
    running.at = address_in(millrace("adopt", running.name, "--detach").stdout)
    assert "front: 2 -> 1 workers" in remote(running, "scale", "front=1").stdout


def test_wrong_keys_change_nothing(running):
    before = what_is(running)
    for number, keys in enumerate(({"key": "stranger.key"}, {"server": "stranger.key.pub"})):
        for words in (["down"], ["scale", "front=2"]):
            done = remote(running, *words, **keys, check=False)
            assert done.returncode != 0
            assert "does not take our keys" in done.stderr, done.stderr
        wait_refused(running, 2 * (number + 1))
    assert what_is(running) == before


def test_who_has_no_key_changes_nothing(running):
    before = what_is(running)
    host, port = running.at.removeprefix("tcp://").split(":")

    def say(data):
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
            connection.sendall(data)
            with pytest.raises((ConnectionError, EOFError)):
                while True:  # its greeting, then the end
                    if not connection.recv(4096):
                        raise EOFError

    rng = random.Random(7)
    nonsense = [GREETING + b"\x04\x05READY", b"GET / HTTP/1.0\r\n\r\n", bytes(300),
                *(rng.randbytes(500) for _ in range(10))]
    for data in nonsense:
        say(data)
    wait_refused(running, len(nonsense))
    assert what_is(running) == before


def pass_on(client, server, said):
    """Between two sockets until one of them ends; `said`: what the client did."""
    with client, server:
        while True:
            for one in select.select([client, server], [], [], PATIENCE)[0]:
                data = one.recv(65536)
                if not data:
                    return
                if one is client:
                    said.extend(data)
                (server if one is client else client).sendall(data)


def listen(door, address, sessions):
    """Each connection to `door` goes to `address`, until the door is shut."""
    threads = []
    with contextlib.suppress(OSError):
        while True:
            client, _ = door.accept()
            sessions.append(bytearray())
            server = socket.create_connection(address)
            threads.append(threading.Thread(target=pass_on, args=(client, server, sessions[-1])))
            threads[-1].start()
    for thread in threads:
        thread.join(PATIENCE)


def test_a_session_that_is_played_again_changes_nothing(running):
    host, port = running.at.removeprefix("tcp://").split(":")
    sessions = []
    door = socket.create_server(("127.0.0.1", 0))
    listener = threading.Thread(target=listen, args=(door, (host, int(port)), sessions))
    listener.start()
    try:
        there, running.at = running.at, f"tcp://127.0.0.1:{door.getsockname()[1]}"
        assert "front: 1 -> 2 workers" in remote(running, "scale", "front=2").stdout
    finally:
        door.shutdown(socket.SHUT_RDWR)
        listener.join(2 * PATIENCE)
        door.close()
        running.at = there
    assert "front: 2 -> 1 workers" in remote(running, "scale", "front=1").stdout
    before = what_is(running)
    assert max(map(len, sessions)) > 500 and not any(b"front" in said for said in sessions)
    for said in sessions * 3:
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as again:
            again.sendall(said)
            with pytest.raises((ConnectionError, EOFError)):
                while True:
                    if not again.recv(4096):
                        raise EOFError
    wait_refused(running, 3 * len(sessions))
    assert what_is(running) == before


def test_down_by_tcp(tmp_path):
    for name in ("host", "me"):
        millrace("keys", tmp_path / f"{name}.key")
    topology = Topology(tmp_path, text(tmp_path))
    with topology:
        topology.endless = True
        topology.folder, topology.at = tmp_path, address_in(topology.said)
        said = f"runs topology '{topology.name}', not 'other'"
        wait_until(lambda: said in millrace(
            "down", "other", "--at", topology.at, "--key", tmp_path / "me.key", "--server-key",
            tmp_path / "host.key.pub", check=False).stderr, PATIENCE, said)
        pid = topology.supervisor()
        assert "told to stop" in remote(topology, "down").stdout
        wait_until(lambda: not os.path.exists(topology.run_dir), PATIENCE, f"{pid} has ended it")
        topology.down = lambda check=True: None


def test_an_address_that_is_taken_is_told_before_anything_starts(tmp_path):
    for name in ("host", "me"):
        millrace("keys", tmp_path / f"{name}.key")
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        file = tmp_path / "t.yaml"
        taken = text(tmp_path).replace("127.0.0.1:0", f"127.0.0.1:{port}")
        file.write_text("millrace: 1\n" + taken)
        done = millrace("up", file, "--detach", check=False)
    assert done.returncode != 0
    assert f"control: 127.0.0.1:{port} is in use (by what: ss -tlnp" in done.stderr
    assert ask("validate", file)["ok"]
    os.chmod(tmp_path / "host.key", 0o644)
    done = millrace("validate", file, check=False)
    assert f"others can read it: chmod o= {tmp_path}/host.key" in done.stdout + done.stderr
