# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Real hosts on both sides of a firewall that knows connections: the example as it is, and rules of
nft beside the kernel that has the same."""

import contextlib
import json
import shutil
import subprocess

import pytest

import routed
from processes import PATIENCE, wait_until
from test_topologies import ROUTER, between, introduce
from topology import Topology, ask
from wire import PAGES, Wire

# Sends back what it gets, connection by connection.
ECHO = """
import socketserver, sys
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(4096):
            self.request.sendall(data)
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
Server((sys.argv[1], 7), Echo).serve_forever()
"""
# Keeps one connection, on which each line that it is told goes there and back.
KEEPER = """
import socket, sys
with socket.create_connection((sys.argv[1], 7)) as kept:
    back = kept.makefile("rb")
    for line in sys.stdin.buffer:
        kept.sendall(line)
        print(back.readline() == line, flush=True)
"""


@contextlib.contextmanager
def serving(host, script, *words, port):
    child = host.listen(port, "python3", "-c", script, host.ip, *words)
    try:
        yield
    finally:
        child.kill()
        child.wait()


class Kept:
    """A connection from `host` to the echo of `server`."""

    def __init__(self, host, server):
        self.child = subprocess.Popen(
            ["ip", "netns", "exec", host.namespace, "python3", "-c", KEEPER, server],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def holds(self):
        self.child.stdin.write("is it there?\n")
        self.child.stdin.flush()
        return self.child.stdout.readline() == "True\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()


def is_refused(host, server, folder):
    """What curl at `host` says of a page of `server`, which is there."""
    with serving(server, PAGES, folder, port=8080):
        done = host.run("curl", "-sS", "--max-time", PATIENCE, f"http://{server.ip}:8080/",
                        check=False, timeout=2 * PATIENCE)
    return done.returncode == 7  # CURLE_COULDNT_CONNECT


def test_the_example_lets_out_and_keeps_out(tmp_path):
    with Wire(**ROUTER) as wire:
        introduce(wire, "10.1.0.1", "192.0.2.1")
        with between(tmp_path, "stateful-firewall", wire) as running:
            wire.a.wait_for(wire.b.ip)
            wire.b.ping(wire.a.ip)
            wire.fetch(tmp_path, 3)
            assert is_refused(wire.b, wire.a, tmp_path)
            wire.iperf(amount="5M")
            wire.iperf("-R", amount="5M")
            audit = running.settle()
    assert audit["dropped"]["rule"] >= 1 and audit["generated"]["reply"] >= 1


def test_a_connection_outlives_workers_and_rules(tmp_path):
    with Wire(**ROUTER) as wire:
        introduce(wire, "10.1.0.1", "192.0.2.1")
        with between(tmp_path, "stateful-firewall", wire) as running:
            wire.a.wait_for(wire.b.ip)
            workers = [name for name in running.lives() if name.startswith("front")]
            assert len(workers) == 2
            with serving(wire.b, ECHO, port=7), Kept(wire.a, wire.b.ip) as kept:
                assert kept.holds()
                for name in workers:
                    running.kill(name)
                    assert kept.holds()
                    running.wait_alive(name)
                rules = tmp_path / "stateful-firewall.rules"
                rules.write_text("pass ip any -> any state established,related\n"
                                 "reject ip any -> any\n")
                ask("reload", running.name, "firewall", "--accept-shrunk")
                assert kept.holds()
                assert is_refused(wire.a, wire.b, tmp_path)
                rules.write_text("drop ip any -> any in nowhere\n")
                assert "no port" in refused_reload(running)
                assert kept.holds()


def refused_reload(running):
    """What a reload that is refused says."""
    with pytest.raises(AssertionError) as refused:
        ask("reload", running.name, "firewall", "--accept-shrunk")
    return str(refused.value)


# Connects from each address that it is told, and says what becomes of it; "-ADDRESS": a connection
# from there closes, at both ends.
HOLDER = """
import errno, socket, sys
held = {}
for line in sys.stdin:
    source = line.strip()
    if source.startswith("-"):
        going = held[source[1:]].pop()
        going.shutdown(socket.SHUT_WR)
        while going.recv(100):
            pass
        going.close()
        said = "closed"
    else:
        try:
            one = socket.create_connection((sys.argv[1], 7), PATIENCE, (source, 0))
            one.sendall(b"x")
            said = "open" if one.recv(1) == b"x" else "cut"
            held.setdefault(source, []).append(one)
        except OSError as error:
            said = errno.errorcode.get(error.errno, "silence")
    print(said, flush=True)
"""
TWO_EACH = """
table inet t {
  set sources { type ipv4_addr; size 65535; flags dynamic; }
  chain f {
    type filter hook forward priority 0; policy accept;
    tcp dport 7 ct state new add @sources { ip saddr ct count over 2 } reject with tcp reset
  }
}
"""
FIRST, SECOND = "10.1.0.77", "10.1.0.78"
STEPS = ((FIRST, "open"), (FIRST, "open"), (FIRST, "ECONNREFUSED"), (SECOND, "open"),
         ("-" + FIRST, "closed"))


class Holder:
    def __init__(self, host, server):
        self.child = subprocess.Popen(
            ["ip", "netns", "exec", host.namespace, "python3", "-c",
             f"PATIENCE = {PATIENCE}" + HOLDER, server],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, word):
        self.child.stdin.write(word + "\n")
        self.child.stdin.flush()
        return self.child.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()


@contextlib.contextmanager
def holding(wire):
    for address in (FIRST, SECOND):
        wire.a.add_address(address + "/24")
    wire.a.wait_for(wire.b.ip)
    with serving(wire.b, ECHO, port=7), Holder(wire.a, wire.b.ip) as holder:
        said = tuple((word, holder.tell(word)) for word, _ in STEPS)
        assert said == STEPS
        # The kernel looks for closed ones once a jiffy.
        wait_until(lambda: holder.tell(FIRST) == "open", PATIENCE,
                   "a place of one that has closed")
        assert holder.tell(FIRST) == "ECONNREFUSED"
        yield holder


@pytest.mark.skipif(shutil.which("nft") is None, reason="nft is not installed")
@pytest.mark.parametrize("backend", ["kernel", "millrace"])
def test_connections_of_a_source_are_counted_as_in_the_kernel(tmp_path, backend):
    with Wire(**ROUTER) as wire:
        saved = loaded(wire, tmp_path, TWO_EACH)
        if backend == "kernel":
            with routed.kernel_router(wire.middle, PORTS_OF_KERNEL, ()), holding(wire):
                return
        wire.in_middle("nft", "flush", "ruleset")
        text = BEHIND_NFT.format(file=saved)
        with Topology(tmp_path, text, prefix=wire.prefix) as running:
            with holding(wire) as holder:
                workers = [name for name in running.lives() if name.startswith("front")]
                for name in workers:
                    running.kill(name)
                    running.wait_alive(name)
                assert holder.tell(FIRST) == "ECONNREFUSED"
                assert holder.tell(SECOND) == "open"
                assert holder.tell(SECOND) == "ECONNREFUSED"
                assert holder.tell("-" + FIRST) == "closed"
                assert holder.tell(FIRST) == "open"
                more = saved.read_text().replace('"val": 2', '"val": 3')
                saved.write_text(more)
                ask("reload", running.name, "firewall")
                assert holder.tell(FIRST) == "open"
                assert holder.tell(FIRST) == "ECONNREFUSED"
            running.settle()


RULESET = """
table inet t {
  chain web {
    tcp dport { 80, 443 } accept
    tcp dport 81 drop
  }
  chain f {
    type filter hook forward priority 0; policy drop;
    ct state vmap { established : accept, related : accept, invalid : drop }
    icmp type echo-request accept
    iifname "porta" ip daddr 192.0.2.0/24 udp dport 50-60 ct state new accept
    iifname != "portb" ip saddr != { 10.1.0.200, 10.2.0.0/16 } \
      udp dport != { 22, 80-443 } ct state != { established, invalid } accept
    ip daddr != 192.0.2.0/24 tcp dport != { 22, 8000-8080 } tcp flags & (syn | ack) != ack drop
    iifname "porta" jump web
    iifname "portb" tcp dport 22 accept
    iifname "portb" counter reject
    ip saddr 10.1.0.0/24 tcp flags syn / syn,ack tcp dport 8000-8080 log reject with tcp reset
  }
}
"""
PORTS = (22, 53, 80, 81, 443, 8000)
LISTENER = """
import selectors, socket, sys
wait = selectors.DefaultSelector()
for port in map(int, sys.argv[2:]):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        one = socket.socket(socket.AF_INET, kind)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind((sys.argv[1], port))
        if kind == socket.SOCK_STREAM:
            one.listen()
        wait.register(one, selectors.EVENT_READ)
while True:
    for key, _ in wait.select():
        if key.fileobj.type == socket.SOCK_STREAM:
            key.fileobj.accept()
        else:
            key.fileobj.sendto(*key.fileobj.recvfrom(100))
"""
# What becomes of a connection and of a datagram to each port, all at once.
PROBE = """
import errno, json, socket, sys, threading
said = {}
def ask(kind, port):
    with socket.socket(socket.AF_INET, kind) as asking:
        asking.settimeout(2)  # seconds; a drop is silent
        try:
            asking.connect((sys.argv[1], port))
            if kind == socket.SOCK_DGRAM:
                asking.send(b"?")
                asking.recv(10)
            said[f"{kind.name} {port}"] = "open"
        except OSError as error:
            said[f"{kind.name} {port}"] = errno.errorcode.get(error.errno, "silence")
asks = [threading.Thread(target=ask, args=(kind, int(port))) for port in sys.argv[2:]
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
for one in asks: one.start()
for one in asks: one.join()
print(json.dumps(said, sort_keys=True))
"""
BEHIND_NFT = """
workers: {{ front: {{ kind: classifier, dispatch: flow }} }}
ports:
  lan: {{ device: afpacket, interface: porta, mac: "02:00:00:00:00:0a", addresses: [10.1.0.1/24] }}
  wan: {{ device: afpacket, interface: portb, mac: "02:00:00:00:00:0b", addresses: [192.0.2.1/24] }}
functions:
  flow: {{ type: flow, max: 10000 }}
  firewall: {{ type: firewall, nft: {file}, non_ip: pass }}
  route: {{ type: route, table: none.routes }}
paths:
  all: {{ from: [lan, wan], run: [flow, firewall, route] }}
"""


def probed(wire, expected=None):
    """What each side has heard of the other's ports, but for silence. On a host without time also
    what is answered may be silent: each side asks again until it has heard what is expected, or,
    where nothing is, twice nothing new."""
    wire.a.wait_for(wire.b.ip)
    both = []
    for number, (host, server) in enumerate(((wire.a, wire.b), (wire.b, wire.a))):
        heard, quiet = set(), []

        def hear(host=host, server=server, heard=heard, quiet=quiet, number=number):
            said = json.loads(host.run("python3", "-c", PROBE, server.ip, *PORTS).stdout)
            new = {(port, what) for port, what in said.items() if what != "silence"} - heard
            heard.update(new)
            quiet.append(not new)
            return heard == expected[number] if expected else quiet[-2:] == [True, True]
        with serving(server, LISTENER, *PORTS, port=PORTS[-1]):
            wait_until(hear, PATIENCE, lambda heard=heard: f"other than {heard}, of {expected}")
        both.append(heard)
    return both


PORTS_OF_KERNEL = {"lan": routed.Port("porta", "02:00:00:00:00:0a", ("10.1.0.1/24",)),
                   "wan": routed.Port("portb", "02:00:00:00:00:0b", ("192.0.2.1/24",))}


def loaded(wire, folder, ruleset):
    """Rules in the kernel of the middle. Returns a file that has them as nft lists them."""
    introduce(wire, "10.1.0.1", "192.0.2.1")
    (folder / "none.routes").write_text("# the networks of the ports\n")
    (folder / "rules.nft").write_text(ruleset)
    wire.in_middle("nft", "-f", folder / "rules.nft")
    saved = folder / "rules.json"
    saved.write_text(wire.in_middle("nft", "-j", "list", "ruleset").stdout)
    return saved


def verdicts(backend, folder, expected=None):
    with Wire(**ROUTER) as wire:
        saved = loaded(wire, folder, RULESET)
        if backend == "kernel":
            with routed.kernel_router(wire.middle, PORTS_OF_KERNEL, ()):
                return probed(wire)
        wire.in_middle("nft", "flush", "ruleset")
        with Topology(folder, BEHIND_NFT.format(file=saved), prefix=wire.prefix):
            return probed(wire, expected)


@pytest.mark.skipif(shutil.which("nft") is None, reason="nft is not installed")
def test_rules_of_nft_say_what_they_say_in_the_kernel(tmp_path):
    expected = verdicts("kernel", tmp_path)
    assert {"open", "ECONNREFUSED"} == {said for side in expected for _, said in side}
    assert all(0 < len(side) < 2 * len(PORTS) for side in expected), "of some there is silence"
    assert verdicts("millrace", tmp_path, expected) == expected
