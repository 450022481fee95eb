# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Two hosts, each in a network namespace of its own, and between them a third namespace with the
other ends of their cables, where a topology has its ports. Ports of device `tap` are the hosts'
interfaces themselves."""

import contextlib
import hashlib
import itertools
import json
import os
import pathlib
import subprocess

import metrics
from processes import PATIENCE, wait_until
from topology import Topology

NUMBERS = itertools.count(1)
# What a cable does not do: several segments in one frame (`super_frames`: it does). Checksums are
# left to be filled in.
MERGING = ("tso", "gso", "gro")
# Pages of a folder, by ADDRESS FOLDER. The usual server looks up its own name before it listens,
# which takes seconds where a route leads to no name server.
PAGES = """
import functools, http.server, socket, socketserver, sys
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
    server_bind = socketserver.TCPServer.server_bind
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[2])
Server((sys.argv[1], 8080), handler).serve_forever()
"""
# Takes connections, and writes what each brings into a file of its own: ADDRESS FOLDER.
SINK = """
import pathlib, socket, sys, threading
server = socket.create_server((sys.argv[1], 7000), backlog=64)
def take(connection, number):
    with open(pathlib.Path(sys.argv[2]) / f"got-{number}", "wb", buffering=0) as file:
        while data := connection.recv(65536):
            file.write(data)
for number in range(10**6):
    threading.Thread(target=take, args=(server.accept()[0], number), daemon=True).start()
"""


def run(*words, check=True, timeout=PATIENCE):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, timeout=timeout)
    if check:
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done


def hears(host, ip, *words):
    """What a ping of one packet from `host` says: an answer, or an error, which are waited for."""
    return host.run("ping", "-c", "1", "-W", PATIENCE, *words, ip, check=False,
                    timeout=2 * PATIENCE).stdout


def wait_heard(run_there, ip, said="1 received", *words):
    """Until a ping says that. It asks five times a second and ends by the first answer or error, or
    after some time, which grows, so that a host with little time hears the answer at last."""
    waits = itertools.chain((1, 2, 5), itertools.repeat(10))

    def heard():
        done = run_there("ping", "-c", "1", "-i", "0.2", "-w", next(waits), *words, ip, check=False)
        return said in done.stdout
    wait_until(heard, PATIENCE, f"'{said}' of {ip}")


class Host:
    """A network namespace with one interface, `eth`."""

    def __init__(self, namespace, address, mac):
        self.namespace, self.address, self.mac = namespace, address, mac
        self.ip = address.split("/")[0]
        self.children = []

    def run(self, *words, **how):
        return run("ip", "netns", "exec", self.namespace, *words, **how)

    def start(self, *words):
        # Not text: no user reads it.
        child = subprocess.Popen(["ip", "netns", "exec", self.namespace, *map(str, words)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.children.append(child)
        return child

    def listen(self, port, *words):
        """A server that is started and has its port of TCP."""
        child = self.start(*words)
        wait_until(lambda: self.run("ss", "-Hltn", f"sport = :{port}").stdout, PATIENCE,
                   f"a server at port {port}")
        return child

    def add_address(self, address):
        # Of IPv6 it is there at once, without a search for a duplicate.
        how = ("nodad",) if ":" in address else ()
        run("ip", "-n", self.namespace, "address", "add", address, "dev", "eth", *how)

    def come_up(self):
        self.add_address(self.address)
        run("ip", "-n", self.namespace, "link", "set", "eth", "up")

    def neighbour(self, ip, mac):
        run("ip", "-n", self.namespace, "neighbour", "replace", ip, "lladdr", mac, "dev", "eth")

    def route(self, prefix, via):
        run("ip", "-n", self.namespace, "route", "add", prefix, "via", via, "onlink", "dev", "eth")

    def ping(self, ip, *words, count=3):
        """Some answer comes, which is waited for; it ends as soon as all have come."""
        self.run("ping", "-c", count, "-i", "0.1", "-W", PATIENCE, *words, ip,
                 timeout=2 * PATIENCE)

    def hears(self, ip, *words):
        return hears(self, ip, *words)

    def wait_for(self, ip):
        """Until the other side answers."""
        wait_heard(self.run, ip)

    def unplug(self):
        """The cable is gone, with both its ends."""
        run("ip", "-n", self.namespace, "link", "del", "eth")

    def end(self):
        for child in self.children:
            child.kill()
            child.wait()
        run("ip", "netns", "del", self.namespace, check=False)


class Wire:
    """`with Wire() as wire:` hosts `wire.a`, `wire.b`; ports `wire.port_a`, `wire.port_b` in the
    namespace that `wire.prefix` leads to. Of device `tap` the topology makes these itself.
    `no_dad`: its interfaces use their addresses of IPv6 at once, where each else looks for a
    duplicate for two seconds."""

    def __init__(self, mtu=1500, addresses=("10.9.0.1/24", "10.9.0.2/24"), queues=1, device=None,
                 super_frames=False, no_dad=False):
        self.mtu, self.queues, self.taps = mtu, str(queues), device == "tap"
        self.merging = "on" if super_frames else "off"
        self.no_dad = no_dad
        self.number = f"{os.getpid()}-{next(NUMBERS)}"
        self.middle = f"mr-mid-{self.number}"
        self.prefix = ("ip", "netns", "exec", self.middle)
        self.port_a, self.port_b = "porta", "portb"
        self.a = Host(f"mr-a-{self.number}", addresses[0], "02:00:00:00:0a:01")
        self.b = Host(f"mr-b-{self.number}", addresses[1], "02:00:00:00:0b:01")

    def __enter__(self):
        try:
            run("ip", "netns", "add", self.middle)
            run("ip", "-n", self.middle, "link", "set", "lo", "up")
            for host, port in ((self.a, self.port_a), (self.b, self.port_b)):
                run("ip", "netns", "add", host.namespace)
                run("ip", "-n", host.namespace, "link", "set", "lo", "up")
                if not self.taps:
                    self.plug(host, port)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def index_of(self, port):
        """The number by which the kernel knows it."""
        return int(run("ip", "-n", self.middle, "-o", "link", "show", port).stdout.split(":")[0])

    def plug(self, host, port, mtu=None, index=None):
        """A cable between them; `mtu` and `index` of its end at the port."""
        number = () if index is None else ("index", index)
        queues = ("numtxqueues", self.queues, "numrxqueues", self.queues)
        run("ip", "link", "add", "eth", "netns", host.namespace, "address", host.mac, "mtu",
            self.mtu, *queues, "type", "veth", "peer", "name", port, *number, "netns",
            self.middle, "mtu", mtu or self.mtu, *queues)
        if self.no_dad:
            host.run("sysctl", "-qw", "net.ipv6.conf.eth.accept_dad=0")
            self.in_middle("sysctl", "-qw", f"net.ipv6.conf.{port}.accept_dad=0")
        host.come_up()
        run("ip", "-n", self.middle, "link", "set", port, "up")
        switches = [word for name in MERGING for word in (name, self.merging)]
        host.run("ethtool", "-K", "eth", *switches)

    def hand_over(self):
        """Gives each host the interface that a topology has made for it."""
        for host, port in ((self.a, self.port_a), (self.b, self.port_b)):
            run("ip", "-n", self.middle, "link", "set", port, "netns", host.namespace, "name",
                "eth")
            run("ip", "-n", host.namespace, "link", "set", "eth", "address", host.mac)
            host.come_up()

    @contextlib.contextmanager
    def between(self, folder, text, **how):
        """A topology that has its ports here."""
        if self.taps:  # until both have theirs the kernel has nothing to say
            for namespace in (self.middle, self.a.namespace, self.b.namespace):
                run("ip", "netns", "exec", namespace, "sysctl", "-qw",
                    "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")
        with Topology(folder, text, prefix=self.prefix, **how) as running:
            if self.taps:
                self.hand_over()
            yield running

    def set_port_b(self, state):
        """Up or down."""
        if self.taps:
            self.b.run("ip", "link", "set", "eth", state)
        else:
            self.in_middle("ip", "link", "set", self.port_b, state)

    def __exit__(self, kind, error, trace):
        for host in (self.a, self.b):
            host.end()
        run("ip", "netns", "del", self.middle, check=False)

    def in_middle(self, *words, **how):
        return run(*self.prefix, *words, **how)

    def metrics_of(self, running):
        """Of a topology here: its telemetry listens in this namespace."""
        url = f"http://{metrics.address_of(running.run_dir)}/metrics"
        return metrics.Metrics(self.in_middle("curl", "-sS", url).stdout)

    def features(self, port):
        """What `ethtool -k` says is on."""
        lines = self.in_middle("ethtool", "-k", port).stdout.splitlines()
        return {line.split(":")[0].strip() for line in lines if ": on" in line}

    # What the hosts do with each other.

    def fetch(self, folder, megabytes, to=None):
        """curl at a from a server at b; the hash of what arrives is that of what was sent. `to`:
        the address by which a reaches b."""
        page = folder / "page"
        page.write_bytes(os.urandom(1 << 20) * megabytes)
        server = self.b.listen(8080, "python3", "-c", PAGES, self.b.ip, folder)
        try:
            out = folder / "fetched"
            host = to or self.b.ip
            host = f"[{host}]" if ":" in host else host
            self.a.run("curl", "-sS", "--retry", "20", "--retry-delay", "1", "--retry-connrefused",
                       "--max-time", str(PATIENCE), "-o", out, f"http://{host}:8080/page",
                       timeout=2 * PATIENCE)
            assert digest(out) == digest(page)
        finally:
            server.kill()
            server.wait()

    def iperf(self, *words, seconds=None, amount="4M"):
        """What iperf3 at a has to say of a run with a server at b: of so many bytes, or seconds.
        When it ends, up to all of the bytes may be on their way: fetch() holds what arrives. Of
        datagrams both sides begin by one each, which may be lost: then it is run again."""
        length = ("-n", amount) if seconds is None else ("-t", seconds)
        answers = []

        def has_run():
            answers.append(self.iperf_once(*length, *words, seconds=seconds or 0))
            return "error" not in answers[-1]
        if "-u" in words:
            wait_until(has_run, PATIENCE, lambda: f"a run of iperf3: {answers[-1]['error']}")
        else:
            assert has_run(), answers[-1]["error"]
        return answers[-1]["end"]

    def iperf_once(self, *words, seconds):
        server = self.b.listen(5201, "iperf3", "-s", "-1", "-B", self.b.ip)
        try:
            done = self.a.run("iperf3", "-c", self.b.ip, "-J", *words, check=False,
                              timeout=seconds + PATIENCE)
            return json.loads(done.stdout)
        finally:
            server.kill()
            server.wait()


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def received(folder):
    """What SINK has written there."""
    return b"".join(file.read_bytes() for file in sorted(folder.glob("got-*")))
