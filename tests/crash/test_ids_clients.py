# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Workers of an IPS die, and lanes move between them, under clients of HTTP, TLS, DNS and plain TCP
which also send what its rules drop: that never arrives, and all else is answered.

MILLRACE_KILLS: how many workers are struck (12):
MILLRACE_KILLS=500 build/venv/bin/python -m pytest -s tests/crash/test_ids_clients.py"""

import contextlib
import datetime
import json
import os
import pathlib
import random
import subprocess

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from processes import PATIENCE
from routed import functions_between
from topology import QUICK_RESTARTS

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
KILLS = int(os.environ.get("MILLRACE_KILLS", "12"))
SERVERS = [f"10.2.0.{host}" for host in range(1, 5)]  # pairs of addresses of several lanes
MOVE_EACH = 4  # kills between two changes of the number of workers
HARNESS = pathlib.Path(__file__).resolve().parents[1] / "harness"
RULES = """
drop http any any -> any any (msg:"path"; flow:to_server; http.uri; content:"/blocked"; sid:1;)
drop tls any any -> any any (msg:"name"; tls.sni; content:"blocked.test"; sid:2;)
drop dns any any -> any any (msg:"question"; dns.query; content:"blocked.test"; sid:3;)
drop tcp any any -> any 7000 (msg:"word"; flow:to_server; content:"blocked-word"; sid:4;)
"""
TOPOLOGY = """
batch: {{ capacity: 32 }}
ports:
  lan: {{ device: afpacket, interface: {a}, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  wan: {{ device: afpacket, interface: {b}, mac: "02:00:00:00:00:0b", addresses: [192.0.2.2/30] }}
workers:
  front: {{ kind: classifier, count: 2, max: 3, dispatch: flow }}
functions:
  flow: {{ type: flow, max: 131072, pickup: false }}
  ids: {{ type: ids, rules: own.rules, streams: 65536, memory_mb: 128 }}
  route: {{ type: route, table: own.routes }}
paths:
  main: {{ from: [lan, wan], to: wan, run: [flow, ids, route], lanes: 6 }}
"""


def write_certificate(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "open.test")])
    now = datetime.datetime(2026, 1, 1)
    certificate = (x509.CertificateBuilder().subject_name(name).issuer_name(name)
                   .public_key(key.public_key()).serial_number(1).not_valid_before(now)
                   .not_valid_after(now + datetime.timedelta(days=36500))
                   .sign(key, hashes.SHA256()))
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()))


@contextlib.contextmanager
def protected(folder):
    (folder / "own.rules").write_text(RULES)
    (folder / "own.routes").write_text("10.2.0.0/16 wan via 192.0.2.1\n")
    write_certificate(folder)
    with functions_between(folder, TOPOLOGY, QUICK_RESTARTS) as wire:
        wire.b.listen(7000, "python3", HARNESS / "ids_servers.py", folder, *SERVERS)
        yield wire


@contextlib.contextmanager
def clients(wire):
    """Gives a list, which has their report when the block has ended."""
    words = ["ip", "netns", "exec", wire.a.namespace, "python3", HARNESS / "ids_clients.py",
             PATIENCE, *SERVERS]
    reports = []
    with subprocess.Popen([*map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as child:
        try:
            assert child.stdout.readline() == "ready\n"
            yield reports
            reports.append(json.loads(child.communicate(timeout=2 * PATIENCE)[0]))
        finally:
            child.kill()


def lines_with(folder, word):
    """name of a server's file -> its lines that hold the word."""
    return {name: sum(word in line for line in (folder / name).read_bytes().splitlines())
            for name in ("requests", "names", "questions", "words")}


def test_what_is_forbidden_never_arrives_while_workers_die_and_lanes_move(tmp_path, seed):
    chance = random.Random(seed)
    with protected(tmp_path) as wire:
        running, count = wire.running, 2
        with clients(wire) as reports:
            for number in range(KILLS):
                running.wait_received(running.audit()["received"] + chance.randrange(50, 1500))
                if number % MOVE_EACH == 0:
                    count = 5 - count
                    running.scale("front", count)
                victim = f"front.{chance.randrange(2)}"
                running.kill(victim)
                running.wait_alive(victim)
        report = reports[0]
        assert not report["failed"], report
        for kind in ("http", "tls", "dns", "words"):
            assert report["answered"][kind] and report["forbidden"][kind], report
        assert lines_with(tmp_path, b"blocked") == dict.fromkeys(
            ("requests", "names", "questions", "words"), 0)
        answers = lines_with(tmp_path, b"")
        assert all(answers.values()), answers
        print(f"{KILLS} kills: {report}")
        running.settle()
