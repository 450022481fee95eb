# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What `millrace flows`, events and IPFIX say of connections between two hosts is what these have
sent each other."""

import contextlib
import csv
import json
import os
import shutil
import subprocess

import pytest

from processes import PATIENCE, wait_until
from routed import FAMILIES, LEFT, RIGHT, lan, lay_left, lay_right, wait_for_addresses, wan
from topology import BIN, Topology, millrace
from wire import Wire, run

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
HEADERS = {"ipv4": 28, "ipv6": 48}
PORT = 7000
COLLECTOR = 4739
FIRST_SOURCE, FIRST_ECHO = 5000, 4321  # a port; an identifier of pings
ATTEMPTS = 10  # a flow ends in parts where this host stands still
TEXT = """
events: {{ file: {folder}/eve.json, ipfix: {{ collector: "127.0.0.1:{collector}", domain: 7 }} }}
ports:
{ports}functions:
  flow:   {{ type: flow, max: 4096, udp: {udp}, udp_stream: {udp}, icmp: {udp}, icmpv6: {udp} }}
  router: {{ type: route, table: way.routes }}
paths:
  main: {{ from: [lan, wan], to: wan, run: [flow, router], lanes: 4 }}
"""
# COUNT datagrams of SIZE bytes, each behind the answer to the one before. ADDRESS SOURCE-PORT SIZE
# COUNT
SENDER = """
import socket, sys
address, source, size, count = sys.argv[1], *map(int, sys.argv[2:])
sender = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
sender.bind(("", source))
sender.settimeout(60)
sender.connect((address, %d))
for _ in range(count):
    sender.send(bytes(size))
    assert len(sender.recv(65536)) == size
""" % PORT
# Answers each datagram, and keeps TCP connections until its end.
ANSWERER = """
import selectors, socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
datagrams, listener = socket.socket(family, socket.SOCK_DGRAM), socket.socket(family)
datagrams.bind((sys.argv[1], %d))
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((sys.argv[1], %d))
listener.listen()
waiting = selectors.DefaultSelector()
for one in (datagrams, listener):
    waiting.register(one, selectors.EVENT_READ)
while True:
    for key, _ in waiting.select():
        if key.fileobj is datagrams:
            datagrams.sendto(*datagrams.recvfrom(65536))
        elif key.fileobj is listener:
            waiting.register(listener.accept()[0], selectors.EVENT_READ)
        elif not key.fileobj.recv(65536):
            waiting.unregister(key.fileobj)
            key.fileobj.close()
""" % (PORT, PORT)
# A connection from port 5001 that is closed when its input ends. ADDRESS
CALLER = """
import socket, sys
caller = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
caller.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
caller.bind(("", 5001))
caller.connect((sys.argv[1], %d))
print("connected", flush=True)
sys.stdin.read()
caller.close()
""" % PORT


@contextlib.contextmanager
def tracked(folder, udp=120, before=lambda wire: None):
    """Hosts `wire.a` and `wire.b` with a router between them that tracks connections. `before` is
    called when the namespaces are there."""
    with Wire(addresses=("10.1.0.5/24", "192.0.2.1/30"), no_dad=True) as wire:
        before(wire)
        lay_left(wire.a)
        lay_right(wire.b)
        (folder / "way.routes").write_text("10.99.0.0/16 drop\n")
        lines = ""
        for name, port in (("lan", lan(wire.port_a)), ("wan", wan(wire.port_b))):
            addresses = ", ".join(f'"{address}"' for address in port.addresses)
            lines += (f'  {name}: {{ device: afpacket, interface: {port.interface}, '
                      f'mac: "{port.mac}", addresses: [{addresses}] }}\n')
        with Topology(folder, TEXT.format(folder=folder, ports=lines, udp=udp,
                                           collector=COLLECTOR),
                      prefix=wire.prefix) as running:
            wire.running = running
            wait_for_addresses(wire.a.namespace, wire.b.namespace)
            for family in FAMILIES:
                wire.b.start("python3", "-c", ANSWERER, RIGHT[family])
                wire.a.wait_for(RIGHT[family])
                wait_until(lambda family=family: send(wire, family, 4999, 1, 1, check=False) == 0,
                           PATIENCE, "the answerer")
            yield wire


def send(wire, family, source, size, count, check=True):
    return wire.a.run("python3", "-c", SENDER, RIGHT[family], source, size, count,
                      check=check).returncode


def flows(wire, filters="", *words):
    said = millrace("flows", wire.running.name, "--json", "--filter", filters, *words).stdout
    return json.loads(said)


def only(wire, filters):
    found = flows(wire, filters)["flows"]
    assert len(found) == 1, found
    return found[0]


@pytest.fixture(name="wire", scope="module")
def fixture_wire(tmp_path_factory):
    with tracked(tmp_path_factory.mktemp("flows")) as wire:
        yield wire


@pytest.mark.parametrize("family", FAMILIES)
def test_datagrams_are_counted_both_ways(wire, family):
    send(wire, family, 5000, 100, 7)
    flow = only(wire, f"proto=udp src={LEFT[family]} sport=5000")
    assert flow["first"] == {"src": LEFT[family], "sport": 5000, "dst": RIGHT[family],
                             "dport": PORT}
    assert flow["answer"] == {"src": RIGHT[family], "sport": PORT, "dst": LEFT[family],
                              "dport": 5000}
    assert flow["packets"] == [7, 7]
    assert flow["bytes"] == [7 * (100 + HEADERS[family])] * 2
    assert flow["state"] == "established" and not flow["translated"]
    assert 0 < flow["expires_s"] <= 120 and flow["idle_s"] <= flow["age_s"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_connection_of_tcp_goes_through_its_states(wire, family):
    caller = subprocess.Popen(["ip", "netns", "exec", wire.a.namespace, "python3", "-c", CALLER,
                               RIGHT[family]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    mine = f"proto=tcp addr={RIGHT[family]} sport=5001"
    try:
        assert caller.stdout.readline() == b"connected\n"
        wait_until(lambda: only(wire, mine)["state"] == "established", PATIENCE, "it is open")
        assert only(wire, mine)["assured"]
    finally:
        caller.communicate()
    wait_until(lambda: only(wire, mine)["state"] == "time_wait", PATIENCE, "it is closed")
    packets = only(wire, mine)["packets"]
    assert packets[0] >= 4 and packets[1] >= 2


@pytest.mark.parametrize("family", FAMILIES)
def test_pings_are_flows_by_their_identifier(wire, family):
    wire.a.ping(RIGHT[family], "-e", 4321, "-s", "56", count=3)

    def pinged():
        return [flow for flow in flows(wire, "proto=icmp,icmpv6")["flows"]
                if flow["first"].get("icmp_id") == 4321 and flow["first"]["dst"] == RIGHT[family]]
    # The last answers may be on their way.
    wait_until(lambda: [flow["packets"] for flow in pinged()] == [[3, 3]], PATIENCE, pinged)
    found = pinged()
    assert found[0]["bytes"] == [3 * (56 + HEADERS[family])] * 2


def test_filter_count_and_top_agree_with_the_list(wire):
    for source in range(6000, 6010):
        send(wire, "ipv4", source, 1000, 1)
    mine = "proto=udp sport=6000-6009"
    assert len(flows(wire, mine)["flows"]) == 10
    assert flows(wire, mine, "--count") == {"ok": True, "count": 10,
                                            "states": {"established": 10}}
    done = millrace("flows", wire.running.name, "--filter", mine, "--count")
    assert done.stdout == "10\n"
    assert flows(wire, mine + " dst!=192.0.2.0/30", "--count")["count"] == 0
    talkers = flows(wire, mine, "--top", 5)["talkers"]
    assert [one["source"] for one in talkers] == [LEFT["ipv4"]]
    assert talkers[0]["connections"] == 10
    assert talkers[0]["bytes"] == 10 * 2 * (1000 + HEADERS["ipv4"])
    for order in ("rate", "packets", "flows"):
        assert len(flows(wire, mine, "--top", 1, "--by", order)["talkers"]) == 1
    page = millrace("flows", wire.running.name, "--filter", mine).stdout.splitlines()
    assert page[0].split()[:2] == ["proto", "first"] and len(page) == 12
    assert page[-1] == "10 connections; room for 4096"


def test_a_question_without_an_answer_stays_new(wire):
    sender = "import socket; socket.socket(2, 2).sendto(b'?', ('192.0.2.1', 9))"
    wire.a.run("python3", "-c", sender)
    wait_until(lambda: flows(wire, "proto=udp dport=9")["flows"], PATIENCE, "it is seen")
    flow = only(wire, "proto=udp dport=9")
    assert flow["state"] == "new" and flow["packets"] == [1, 0]
    assert flow["bytes"] == [1 + HEADERS["ipv4"], 0]


def test_mistakes_are_explained(wire):
    def said(*words):
        done = millrace("flows", wire.running.name, *words, check=False)
        assert done.returncode != 0
        return done.stdout + done.stderr
    assert "did you mean 'sport'?" in said("--filter", "sporrt=1")
    assert "no function of type flow 'x'" in said("--function", "x")


def test_followers_hear_of_begin_and_end(tmp_path):
    with tracked(tmp_path, udp=2) as wire:
        follower = subprocess.Popen(
            [BIN / "millrace", "flows", wire.running.name, "--follow", "--json", "--filter",
             "sport=5000"], stdout=subprocess.PIPE, text=True)
        try:
            # Connections of a lane end while packets come to it.
            wire.a.start("ping", "-i", "0.2", RIGHT["ipv4"])
            for _ in range(ATTEMPTS):  # it ends in between where this host stands still
                send(wire, "ipv4", 5000, 100, 3)
                begun = json.loads(follower.stdout.readline())
                ended = json.loads(follower.stdout.readline())
                assert begun["what"] in ("new", "there") and ended["what"] == "ended"
                assert begun["first"] == ended["first"]
                if ended["packets"] == [3, 3]:
                    break
            else:
                raise AssertionError(f"never told whole: {ended}")
        finally:
            follower.kill()
            follower.communicate()


# Takes all datagrams, so the kernel refuses none: refused ones are lost and counted.
SINK = """
import socket
sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sink.bind(("127.0.0.1", %d))
while True:
    sink.recv(65536)
""" % COLLECTOR


def start_collectors(stack, wire, folder):
    """nfcapd, or a sink in its place, and tshark where it is; each until the end of `stack`."""
    def start(*words):
        child = subprocess.Popen(["ip", "netns", "exec", wire.middle, *map(str, words)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        stack.callback(child.communicate)
        stack.callback(child.terminate)
        return child
    if shutil.which("nfcapd"):
        (folder / "nfcapd").mkdir()
        start("nfcapd", "-p", COLLECTOR, "-b", "127.0.0.1", "-w", folder / "nfcapd")
    else:
        start("python3", "-c", SINK)
    listening = ("ip", "netns", "exec", wire.middle, "ss", "-uln")
    wait_until(lambda: f":{COLLECTOR} " in run(*listening).stdout, PATIENCE, "a collector")
    if shutil.which("tshark"):
        child = start("tshark", "-i", "lo", "-f", f"udp port {COLLECTOR}", "-w",
                      folder / "ipfix.pcap")
        while "Capturing on" not in child.stderr.readline():
            assert child.poll() is None


def told_of(folder):
    """The ends of flows in eve.json."""
    lines = map(json.loads, (folder / "eve.json").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["event_type"] == "flow"]


def of_number(folder, family, number):
    """(ends of the datagrams' flow, ends of the pings') of an attempt."""
    mine = [line for line in told_of(folder) if line["src_ip"] == LEFT[family]]
    return ([line for line in mine if line.get("src_port") == FIRST_SOURCE + number],
            [line for line in mine if line["millrace"].get("icmp_id") == FIRST_ECHO + number])


def end_whole(wire, folder, family):
    """A flow of datagrams and one of pings, each of which ends once: one that this host stood still
    in has ended in between as well, and others are begun."""
    for number in range(ATTEMPTS):
        send(wire, family, FIRST_SOURCE + number, 100, 7)
        wire.a.ping(RIGHT[family], "-e", FIRST_ECHO + number, "-s", 56, count=3)

        def counts(number=number):
            return [sum(line["flow"]["pkts_toserver"] for line in lines)
                    for lines in of_number(folder, family, number)]
        wait_until(lambda counts=counts: counts() == [7, 3], PATIENCE,
                   lambda counts=counts: f"their ends: {counts()}")
        if all(len(lines) == 1 for lines in of_number(folder, family, number)):
            return
    raise AssertionError(f"in each attempt flows of {family} ended in parts")


@pytest.fixture(name="ended", scope="module")
def fixture_ended(tmp_path_factory):
    """A folder with what was told and exported of flows that have ended."""
    folder = tmp_path_factory.mktemp("ended")
    with contextlib.ExitStack() as stack:
        before = lambda wire: start_collectors(stack, wire, folder)
        with tracked(folder, udp=2, before=before) as wire:
            for family in FAMILIES:
                wire.a.start("ping", "-e", 9000, "-i", "0.2", RIGHT[family])
            for family in FAMILIES:
                end_whole(wire, folder, family)
            # Telemetry listens in the namespace of the ports.
            written = wire.metrics_of(wire.running)
            assert written.total("millrace_events_lost_total") == 0
            ends = written.by("cause", "millrace_flows_ended_total")
            assert ends["expired"] >= 4 and ends["evicted"] == 0
            assert written.total("millrace_flow_packets_total", state="established") > 0
    return folder


@pytest.mark.parametrize("family", FAMILIES)
def test_the_end_of_a_flow_is_told(ended, family):
    mine = [line for line in told_of(ended) if line["src_ip"] == LEFT[family]]
    udp, = [line for line in mine if line.get("src_port", 0) in range(FIRST_SOURCE, 6000)
            and line["flow"]["pkts_toserver"] == 7]
    assert (udp["dest_ip"], udp["dest_port"], udp["proto"]) == (RIGHT[family], PORT, "UDP")
    size = 7 * (100 + HEADERS[family])
    flow = udp["flow"]
    assert (flow["pkts_toserver"], flow["pkts_toclient"]) == (7, 7)
    assert (flow["bytes_toserver"], flow["bytes_toclient"]) == (size, size)
    assert (flow["state"], flow["reason"], flow["alerted"]) == ("established", "timeout", False)
    assert flow["start"] <= flow["end"] < udp["timestamp"]
    ping, *_ = [line for line in mine if line["flow"]["pkts_toserver"] == 3
                and line["millrace"].get("icmp_id", 0) in range(FIRST_ECHO, 5000)]
    assert ping["icmp_type"] == (8 if family == "ipv4" else 128)
    assert ping["flow"]["pkts_toserver"] == ping["flow"]["pkts_toclient"] == 3


def ends_of(line):
    """As collectors have them: of ICMP type and code stand for the port."""
    port = line.get("dest_port", line.get("icmp_type", 0) * 256)
    flow = line["flow"]
    return (line["src_ip"], line.get("src_port", 0), line["dest_ip"], port, flow["pkts_toserver"],
            flow["bytes_toserver"], flow["pkts_toclient"], flow["bytes_toclient"])


@pytest.mark.skipif(not shutil.which("nfdump"), reason="no nfdump")
def test_nfdump_counts_the_same(ended):
    # ts, te, td, sa, da, sp, dp, pr, flg, fwd, stos, ipkt, ibyt, opkt, obyt, ...
    said = run("nfdump", "-q", "-R", ended / "nfcapd", "-o", "csv").stdout
    rows = [row for row in csv.reader(said.splitlines()) if len(row) > 15]
    found = [(row[3], int(row[5]), row[4], int(row[6]), *map(int, row[11:15])) for row in rows]
    assert sorted(found) == sorted(map(ends_of, told_of(ended)))


@pytest.mark.skipif(not shutil.which("tshark"), reason="no tshark")
def test_tshark_counts_the_same(ended):
    read = ("tshark", "-r", ended / "ipfix.pcap", "-d", f"udp.port=={COLLECTOR},cflow")
    assert run(*read, "-Y", "_ws.malformed").stdout == ""
    def total(field):
        numbers = run(*read, "-T", "fields", "-e", field).stdout.replace(",", " ").split()
        return sum(map(int, numbers))
    told = [ends_of(line) for line in told_of(ended)]
    assert total("cflow.packets") == sum(row[4] + row[6] for row in told)
    assert total("cflow.octets") == sum(row[5] + row[7] for row in told)
