# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Another user of the host, and nonsense on the control sockets: nothing is read, nothing changes,
and every packet arrives."""

import contextlib
import os
import pathlib
import random
import subprocess
import sys
import time

import frames
from processes import PATIENCE, wait_until
from topology import BIN, Topology
from zmtp import Dealer

import pytest

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another user")


def numbered(folder):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
ports:
  in:  {{ device: generate, numbered: true, flows: 64, rate_mpps: 0.01 }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 1, dispatch: any }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
paths:
  main: {{ from: in, to: out, run: [look] }}
"""


def as_nobody(*words):
    return subprocess.run([*NOBODY, *map(str, words)], capture_output=True, text=True, cwd="/",
                          check=False, timeout=PATIENCE)


def python_as_nobody(text, *words):
    return as_nobody(sys.executable, "-c", text, *words)


@pytest.fixture
def running(tmp_path):
    """A topology that has to come through with every packet, in order, by its first processes."""
    with Topology(tmp_path, numbered(tmp_path)) as topology:
        lives = topology.lives()
        yield topology
        assert topology.lives() == lives
        topology.wait_received(1000)
        audit = topology.drain()
        assert audit["transmitted"] == audit["received"]
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(audit["received"]))


def test_another_user_can_use_no_command(running):
    if as_nobody(BIN / "millrace", "--help").returncode != 0:
        pytest.skip("another user cannot even start the program here")
    for words in (["status"], ["audit"], ["top", "--count=1"], ["logs"], ["down"], ["trace"],
                  ["capture", "--count=1", "-w", "/dev/null"], ["report"]):
        done = as_nobody(BIN / "millrace", words[0], running.name, "--run-dir", running.run_dir,
                         *words[1:])
        assert done.returncode != 0, words


def test_another_user_opens_neither_packets_nor_counters_nor_memory(running):
    files = [*pathlib.Path("/dev").glob(f"*/millrace-{running.name}*"),
             *(f"/proc/{life[0]}/mem" for life in running.lives().values()),
             *pathlib.Path(running.run_dir).iterdir()]
    assert len(files) > 10
    tried = "import sys\nfor path in sys.argv[1:]:\n  try: open(path, 'rb'); print(path)\n" \
            "  except PermissionError: pass"
    done = python_as_nobody(tried, *files)
    assert done.returncode == 0 and done.stdout == "", done.stdout + done.stderr


def test_another_user_sends_no_signal(running):
    tried = "import os, sys\nfor pid in sys.argv[1:]:\n  try: os.kill(int(pid), 9); print(pid)\n" \
            "  except PermissionError: pass"
    done = python_as_nobody(tried, *(life[0] for life in running.lives().values()))
    assert done.returncode == 0 and done.stdout == "", done.stdout + done.stderr


TALK = """
import os, socket, sys
for path in sys.argv[1:]:
  try:
    s = socket.socket(socket.AF_UNIX); s.settimeout(3); s.connect(path)
    s.sendall(bytes.fromhex('ff00000000000000007f')); print(path, len(s.recv(64)))
  except PermissionError: pass
  except OSError: pass
"""


def test_another_user_is_not_heard_even_where_he_can_enter(running):
    sockets = sorted(pathlib.Path(running.run_dir).glob("control.*"))
    assert len(sockets) == 2  # the standby listens when it leads
    assert python_as_nobody(TALK, *sockets).stdout == ""
    # The folder is open to all: the sockets themselves look which user it is.
    os.chmod(running.run_dir, 0o755)
    for path in sockets:
        os.chmod(path, 0o777)
    try:
        answered = python_as_nobody(TALK, *sockets)
        assert answered.returncode == 0
        assert all(line.endswith(" 0") for line in answered.stdout.splitlines()), answered.stdout
    finally:
        os.chmod(running.run_dir, 0o700)
        for path in sockets:
            os.chmod(path, 0o700)


def test_nobody_is_shown_packets_by_a_watch_file_of_his(running):
    """Any user may make a file of that name in /dev/shm: a real one, copied."""
    mine = pathlib.Path(f"/dev/shm/millrace-{running.name}.watch.0")
    theirs = mine.with_suffix(".1")
    worker = running.actor("front.0")["pid"]
    ingress = running.actor("ingress.in.0")["pid"]
    maps_of = lambda pid: pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    mapped = lambda: ".watch." in maps_of(worker) or ".watch." in maps_of(ingress)
    capture = subprocess.Popen([BIN / "millrace", "capture", running.name, "-w", "/dev/null"],
                               stderr=subprocess.PIPE, text=True)
    try:
        while not capture.stderr.readline().startswith("capturing"):
            assert capture.poll() is None
        assert mine.name in maps_of(ingress)
        content = mine.read_bytes()
    finally:
        capture.terminate()
        capture.communicate()
    wait_until(lambda: not mapped(), PATIENCE, "they let go of the real one")
    made = subprocess.Popen([*NOBODY, sys.executable, "-c",
                             "import fcntl, os, sys, time\n"
                             "how = os.O_RDWR | os.O_CREAT | os.O_EXCL\n"
                             f"fd = os.open('{theirs}', how, 0o600)\n"
                             "os.write(fd, sys.stdin.buffer.read())\n"
                             "fcntl.flock(fd, fcntl.LOCK_EX)\nprint('made', flush=True)\n"
                             "time.sleep(60)"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        made.stdin.write(content)
        made.stdin.close()
        assert made.stdout.readline() == b"made\n"
        time.sleep(1)
        assert not mapped()
    finally:
        made.kill()
        made.wait()
        theirs.unlink()


def test_nonsense_on_the_control_sockets_is_refused_and_told(running, seed):
    rng = random.Random(seed)
    for name in ("supervisor", "hub"):
        path = pathlib.Path(running.run_dir) / f"control.{name}"
        dealer = Dealer(path)
        for _ in range(30):
            dealer.send(rng.randbytes(rng.randrange(2000)))
        dealer.send(b"", b"two", b"more")
        dealer.send(b"")
        assert b"message" in dealer.read_frame() or dealer.read_frame()
        dealer.close()
        too_long = Dealer(path)
        with pytest.raises(OSError):
            too_long.send(bytes(2 << 20))
            too_long.read_frame()
        too_long.close()
    events = lambda: [event for event in running.status()["events"]
                      if event["kind"] == "control_refused"]
    wait_until(lambda: events() and events()[-1]["number"] >= 30, PATIENCE, "it was told")

    def refused(server):
        return running.metrics().total("millrace_control_refused_messages_total", server=server)

    wait_until(lambda: refused("leader") >= 30, PATIENCE, "the leader's are counted")
    counted = wait_until(lambda: refused("supervisor") >= 30 and refused("supervisor"), PATIENCE,
                         "the supervisor's are counted")
    running.adopt_after_kill()
    with contextlib.closing(Dealer(running.run_dir + "/control.supervisor")) as dealer:
        dealer.send(b"once more")
        wait_until(lambda: refused("supervisor") > counted, PATIENCE, "its successor counts on")
