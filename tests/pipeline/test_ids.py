# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts whose packets `ids` looks at: what its rules drop does not arrive, what they tell of is
told once, and all else goes on, also while workers die."""

import contextlib
import json
import os

import pytest

from processes import PATIENCE, wait_until
from routed import functions_between, kill_workers_under
from wire import PAGES, SINK, received

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

WORD = "forbidden-word"
RULES = f"""
drop tcp any any -> any 7000 (msg:"the word"; flow:to_server; content:"{WORD}"; nocase; sid:1;)
drop http any any -> any any (msg:"the page"; flow:to_server; http.uri; content:"/secret"; sid:2;)
alert http any any -> any any (msg:"the answer"; flow:to_client; http.stat_code; content:"404"; \
  sid:3;)
drop udp any any -> any 7000 (msg:"the datagram"; content:"{WORD}"; sid:4;)
"""
TOPOLOGY = """
batch: {{ capacity: 32 }}
events: {{ file: {folder}/eve.json }}
ports:
  lan: {{ device: afpacket, interface: {a}, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  wan: {{ device: afpacket, interface: {b}, mac: "02:00:00:00:00:0b", addresses: [192.0.2.2/30] }}
workers:
  front: {{ kind: classifier, count: 2, dispatch: flow }}
functions:
  flow: {{ type: flow, max: 4096, pickup: false }}
  ids: {{ type: ids, rules: own.rules, events: true, streams: 4096, memory_mb: 32{more} }}
  route: {{ type: route, table: empty.routes }}
paths:
  main: {{ from: [lan, wan], to: wan, run: [flow, ids, route], lanes: 4 }}
"""
# Sends each piece in a segment of its own, when the one before has arrived: ADDRESS PORT PIECE...
SEND = """
import socket, sys, time
client = socket.create_connection((sys.argv[1], int(sys.argv[2])))
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
def unacknowledged():
    return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 28)[24:28] != bytes(4)
for piece in sys.argv[3:]:
    client.sendall(piece.encode())
    while unacknowledged():
        time.sleep(0.001)
print(client.recv(65536).decode())
"""

# Writes the beginnings of datagrams down, line by line: ADDRESS FILE.
DATAGRAMS = """
import pathlib, socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 7000))
with open(pathlib.Path(sys.argv[2]), "wb", buffering=0) as file:
    while True:
        data = server.recv(65536)
        file.write(b"%s %d\\n" % (data.split()[0], len(data)))
"""
# Sends a datagram of 4 kB, in fragments: ADDRESS NAME WORD.
SEND_DATAGRAM = """
import socket, sys
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.setsockopt(socket.IPPROTO_IP, 10, 0)
text = sys.argv[2].encode() + b" " + bytes(1460) + sys.argv[3].encode()
client.sendto(text.ljust(4000), (sys.argv[1], 7000))
"""


@contextlib.contextmanager
def watched(folder, more="", text=TOPOLOGY):
    """`wire.a` asks, `wire.b` is the server."""
    (folder / "own.rules").write_text(RULES)
    (folder / "public").mkdir()
    (folder / "public" / "page").write_text("a page\n")
    (folder / "public" / "secret").write_text("a secret\n")
    with functions_between(folder, text, more=more) as wire:
        yield wire


def listen(wire, port, *words):
    wire.b.listen(port, "python3", "-c", *words)


def serve(wire, folder):
    listen(wire, 8080, PAGES, wire.b.ip, folder / "public")


def get(wire, page, *words):
    return wire.a.run("curl", "-s", "--max-time", PATIENCE, *words,
                      f"http://{wire.b.ip}:8080/{page}", timeout=2 * PATIENCE).stdout


def dropped(wire):
    return wire.running.audit()["dropped"].get("rule", 0)


def told(folder):
    """How often each alert was told."""
    counts = {}
    for line in (folder / "eve.json").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["event_type"] == "alert":
            name = record["alert"]["signature"]
            counts[name] = counts.get(name, 0) + 1
    return counts


def test_a_word_that_is_split_does_not_arrive_and_ends_its_connection(tmp_path):
    with watched(tmp_path) as wire:
        listen(wire, 7000, SINK, wire.b.ip, tmp_path)
        cuts = [(WORD[:at], WORD[at:]) for at in range(1, len(WORD), 4)] + [tuple(WORD)]
        for number, pieces in enumerate(cuts, 1):
            before = dropped(wire)
            wire.a.start("python3", "-c", SEND, wire.b.ip, 7000, f"begins-{number} ", *pieces)
            wait_until(lambda before=before: dropped(wire) > before + 1, PATIENCE,
                       "drops of a segment, and of what follows")
            begin = f"begins-{number} ".encode() + "".join(pieces[:-1]).encode()
            wait_until(lambda begin=begin: begin in received(tmp_path), PATIENCE, "its front")
        assert WORD.encode() not in received(tmp_path)
        wait_until(lambda: told(tmp_path) == {"the word": len(cuts)}, PATIENCE,
                   lambda: f"one alert a connection: {told(tmp_path)}")
        wire.running.settle()


def test_requests_are_read_however_they_are_cut(tmp_path):
    with watched(tmp_path) as wire:
        serve(wire, tmp_path)
        assert get(wire, "page") == "a page\n"
        get(wire, "nothing")
        wait_until(lambda: told(tmp_path) == {"the answer": 1}, PATIENCE,
                   lambda: f"one alert: {told(tmp_path)}")
        before = dropped(wire)
        wire.a.start("python3", "-c", SEND, wire.b.ip, 8080, *"GET /%73ecret", " HTTP/1.0\r\n\r\n")
        wait_until(lambda: dropped(wire) > before, PATIENCE, "a drop")
        wait_until(lambda: told(tmp_path) == {"the answer": 1, "the page": 1}, PATIENCE,
                   lambda: f"two alerts: {told(tmp_path)}")
        answer = wire.a.run("python3", "-c", SEND, wire.b.ip, 8080, *"GET /page",
                            " HTTP/1.0\r\n\r\n")
        assert "200 OK" in answer.stdout
        wire.running.settle()


def test_a_worker_that_dies_lets_no_request_through_and_breaks_no_connection(tmp_path):
    with watched(tmp_path) as wire:
        serve(wire, tmp_path)
        (tmp_path / "large").mkdir()
        answers = []

        def transfer():
            before = dropped(wire)
            wire.a.start("python3", "-c", SEND, wire.b.ip, 8080, *"GET /secret",
                         " HTTP/1.0\r\n\r\n")
            answers.append(get(wire, "page", "--retry", "5", "--retry-all-errors"))
            (tmp_path / "public" / "large").write_bytes(bytes(range(256)) * (16 << 10))
            size = wire.a.run("curl", "-s", "--max-time", PATIENCE, "-o", "/dev/null", "-w",
                              "%{size_download}", f"http://{wire.b.ip}:8080/large",
                              timeout=2 * PATIENCE).stdout
            answers.append(size)
            wait_until(lambda: dropped(wire) > before, PATIENCE, "a drop")
        kill_workers_under(wire, transfer)
        assert set(answers) == {"a page\n", str(256 * (16 << 10))}
        assert "the page" in told(tmp_path)
        wire.running.settle()


def test_an_ids_tells_and_drops_nothing(tmp_path):
    with watched(tmp_path, ", mode: ids") as wire:
        serve(wire, tmp_path)
        assert get(wire, "secret") == "a secret\n"
        wait_until(lambda: told(tmp_path) == {"the page": 1}, PATIENCE,
                   lambda: f"one alert: {told(tmp_path)}")
        assert dropped(wire) == 0
        wire.running.settle()


# Answers each question with an address: ADDRESS.
ANSWER = """
import socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 53))
while True:
    question, client = server.recvfrom(2048)
    server.sendto(question[:2] + bytes.fromhex("8180000100010000" "0000") + question[12:] +
                  bytes.fromhex("c00c00010001" "0000003c" "0004" "c0000207"), client)
"""
# Asks for the address of a name, again and again until the answer comes: ADDRESS NAME.
QUESTION = """
import socket, sys
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.settimeout(1)
name = b"".join(bytes([len(one)]) + one.encode() for one in sys.argv[2].split("."))
while True:
    try:
        client.sendto(bytes.fromhex("1234" "0100" "0001000000000000") + name +
                      bytes.fromhex("0000010001"), (sys.argv[1], 53))
        print(client.recv(2048)[-4:].hex())
        break
    except TimeoutError:
        pass
"""


def lines_of_type(folder, kind):
    lines = map(json.loads, (folder / "eve.json").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["event_type"] == kind]


def test_transactions_and_drops_are_told_also_while_workers_die(tmp_path):
    with watched(tmp_path, ", log: [http, dns, drop]") as wire:
        serve(wire, tmp_path)
        wire.b.start("python3", "-c", ANSWER, wire.b.ip)
        (tmp_path / "public" / "large").write_bytes(bytes(range(256)) * (16 << 10))
        asked = []

        def transfer():
            number = len(asked)
            assert get(wire, f"page?{number}", "--retry", "5",
                       "--retry-all-errors") == "a page\n"
            answer = wire.a.run("python3", "-c", QUESTION, wire.b.ip, f"host-{number}.test",
                                timeout=PATIENCE)
            assert answer.stdout.strip() == "c0000207"
            get(wire, "large", "-o", "/dev/null")
            asked.append(number)
        kill_workers_under(wire, transfer)
        wire.a.start("python3", "-c", SEND, wire.b.ip, 8080, "GET /secret HTTP/1.0\r\n\r\n")
        wait_until(lambda: any(line["drop"]["reason"] == "rules" and
                               line["alert"]["signature"] == "the page"
                               for line in lines_of_type(tmp_path, "drop")), PATIENCE, "a drop")

        def untold():
            pages = {line["http"]["url"] for line in lines_of_type(tmp_path, "http")
                     if line["http"].get("status") == 200}
            names = {line["dns"]["rrname"] for line in lines_of_type(tmp_path, "dns")
                     if line["dns"].get("rcode") == "NOERROR"
                     and line["dns"]["grouped"] == {"A": ["192.0.2.7"]}}
            return [number for number in asked
                    if f"/page?{number}" not in pages or f"host-{number}.test" not in names]
        wait_until(lambda: not untold(), PATIENCE, lambda: f"not told: {untold()} of {asked}")
        page = next(line for line in lines_of_type(tmp_path, "http")
                    if line["http"]["url"] == "/page?0")
        assert page["http"] == page["http"] | {"hostname": wire.b.ip, "http_port": 8080,
                                               "http_method": "GET", "length": 7}
        assert (page["src_ip"], page["dest_port"]) == ("10.1.0.5", 8080)


def test_a_word_in_a_datagram_of_fragments_does_not_arrive(tmp_path):
    with watched(tmp_path) as wire:
        wire.b.start("python3", "-c", DATAGRAMS, wire.b.ip, tmp_path / "datagrams")
        wait_until(lambda: wire.b.run("ss", "-Hlun", "sport = :7000").stdout, PATIENCE, "a server")

        def send(name, word):
            wire.a.run("python3", "-c", SEND_DATAGRAM, wire.b.ip, name, word)

        for number in range(1, 4):
            before = dropped(wire)
            send(f"dirty-{number}", WORD)
            wait_until(lambda before=before: dropped(wire) > before, PATIENCE, "a drop")
            send(f"clean-{number}", "harmless-words")
            wait_until(lambda number=number: len(
                (tmp_path / "datagrams").read_bytes().splitlines()) == number, PATIENCE,
                "a datagram")
        lines = (tmp_path / "datagrams").read_bytes().splitlines()
        assert lines == [b"clean-%d 4000" % number for number in range(1, 4)]
        wait_until(lambda: told(tmp_path) == {"the datagram": 3}, PATIENCE,
                   lambda: f"an alert a datagram: {told(tmp_path)}")
        wire.running.settle()
