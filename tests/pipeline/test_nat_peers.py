# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Protocols that tell each other addresses and ports, through `nat` and through the kernel's
masquerade, without a helper in either: FTP, DNS, SIP, TFTP. Each test says what works; where both
differ, why."""

import contextlib
import os
import shutil

import pytest

from nat_peers import BIG_ANSWER
from processes import PATIENCE, wait_until
from routed import (RIGHT, ROUTES, WAN, kernel_router, lan, lay_left, lay_right, needs,
                    wait_for_addresses, wan)
from test_nat import translated
from wire import Wire, digest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")

PEERS = os.path.join(os.path.dirname(__file__), "..", "harness", "nat_peers.py")
SERVER = RIGHT["ipv4"]
INSIDE = "10.1.0.5"
MASQUERADE = """
table ip nat {{
  chain out {{ type nat hook postrouting priority srcnat;
    oifname {b} ip saddr 10.1.0.0/24 masquerade; }}
}}
"""
# Registers from port 5060 with the Via and Contact that it is given, and prints lines: the answer's
# Via and Contact, then the request that the registrar sends to the contact, or "silence". What
# comes late of an earlier one has another Call-ID.
REGISTER = r"""
import os, re, socket, sys
via, contact, server = sys.argv[1:]
phone = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
phone.bind(("0.0.0.0", 5060))
phone.settimeout(2)
lines = ["REGISTER sip:example.org SIP/2.0", f"Via: SIP/2.0/UDP {via};branch=z9hG4bK1",
         "From: <sip:a@example.org>;tag=1", "To: <sip:a@example.org>", f"Call-ID: {os.getpid()}",
         "CSeq: 1 REGISTER", f"Contact: <sip:a@{contact}>", "Content-Length: 0", "", ""]
def heard():
    while True:
        text = phone.recv(2000).decode()
        if f"Call-ID: {os.getpid()}\r" in text:
            return text
phone.sendto("\r\n".join(lines).encode(), (server, 5060))
try:
    answer = heard()
    print(answer.split("\r\n")[1])
    print(re.search("Contact: (.*)\r", answer)[1])
    phone.settimeout(0.5)
    print(heard().split("\r\n")[0])
except OSError:
    print("silence")
"""


@contextlib.contextmanager
def masqueraded(folder):
    """By the kernel."""
    with Wire(addresses=(f"{INSIDE}/24", f"{SERVER}/30"), no_dad=True) as wire:
        wire.public, wire.running = WAN["ipv4"], None
        lay_left(wire.a)
        lay_right(wire.b)
        rules = folder / "nat.nft"
        rules.write_text(MASQUERADE.format(b=wire.port_b))
        with kernel_router(wire.middle, {"lan": lan(wire.port_a), "wan": wan(wire.port_b)}, ROUTES):
            wire.in_middle("nft", "-f", rules)
            wait_for_addresses(wire.a.namespace, wire.b.namespace, wire.middle)
            yield wire


def behind(backend, folder, **how):
    return masqueraded(folder) if backend == "kernel" else translated(backend, folder, **how)


@contextlib.contextmanager
def ready(backend, folder, protocol, **how):
    """With the server of the protocol at `wire.b`, which has no way to addresses inside, as no
    host of the Internet has."""
    if backend == "kernel" and not shutil.which("nft"):
        pytest.skip("nft is not installed")
    with behind(backend, folder, **how) as wire:
        wire.backend = backend
        wire.a.wait_for(SERVER)
        wire.b.run("ip", "route", "add", "unreachable", "10.1.0.0/24")
        wire.b.start("python3", PEERS, protocol, SERVER, folder)
        listening = "-Hln" + ("t" if protocol == "ftp" else "u")
        wait_until(lambda: SERVER in wire.b.run("ss", listening).stdout, PATIENCE, "a server")
        yield wire
        if wire.running:
            wire.running.settle()


BACKENDS = pytest.mark.parametrize("backend", ["kernel", "masquerade", "millrace"])


def curl(wire, *words):
    return wire.a.run("curl", "-sS", "--max-time", PATIENCE, *words, f"ftp://{SERVER}/page",
                      check=False, timeout=2 * PATIENCE)


@needs("curl")
@BACKENDS
def test_ftp_works_in_passive_mode(backend, tmp_path):
    (tmp_path / "page").write_bytes(os.urandom(1 << 20))
    with ready(backend, tmp_path, "ftp") as wire:
        for mode in ([], ["--disable-epsv"]):  # EPSV; PASV
            got = curl(wire, *mode, "-o", tmp_path / "got")
            assert got.returncode == 0, got.stderr
            assert digest(tmp_path / "got") == digest(tmp_path / "page")
        sent = curl(wire, "-T", tmp_path / "got")
        assert sent.returncode == 0, sent.stderr
        assert digest(tmp_path / "stored-page") == digest(tmp_path / "page")
        said = wire.a.run("python3", "-c", "import ftplib, sys\n"
                          f"ftp = ftplib.FTP(sys.argv[1], 'anonymous', timeout={PATIENCE})\n"
                          "data = bytearray()\n"
                          "ftp.retrbinary('RETR page', data.extend)\n"
                          "print(len(data))", SERVER)
        assert said.stdout.split() == [str(1 << 20)]


@needs("curl")
@BACKENDS
@pytest.mark.parametrize("mode", ["EPRT", "PORT"])
def test_ftp_in_active_mode_is_refused_by_the_server(backend, mode, tmp_path):
    """The client tells its address inside: neither `nat` nor, without the helper `ftp`, the kernel
    changes what is said."""
    (tmp_path / "page").write_bytes(b"a page")
    with ready(backend, tmp_path, "ftp") as wire:
        got = curl(wire, "-v", "--ftp-port", "-", *(["--disable-eprt"] if mode == "PORT" else []))
        assert got.returncode == 30, got.stderr  # "FTP PORT failed"
        told = INSIDE.replace(".", ",") if mode == "PORT" else f"|1|{INSIDE}|"
        assert f"> {mode} {told}" in got.stderr and "500 Illegal PORT" in got.stderr


def addresses_of(wire, folder, name):
    """By the resolver of the C library, which asks once more by TCP where an answer is cut."""
    (folder / "resolv.conf").write_text(f"nameserver {SERVER}\n")
    said = wire.a.run("sh", "-c", f"mount --bind {folder}/resolv.conf /etc/resolv.conf && "
                      f"getent ahostsv4 {name}", check=False)
    return {line.split()[0] for line in said.stdout.splitlines()}


@needs("getent")
@BACKENDS
def test_names_are_found_by_udp_and_by_tcp(backend, tmp_path):
    with ready(backend, tmp_path, "dns") as wire:
        def found(name):
            return wait_until(lambda: addresses_of(wire, tmp_path, name), PATIENCE, name)
        for name in ("one.test", "three.test"):
            assert found(name) == {f"192.0.2.{len(name) + 6}"}
        assert found("big.test") == {f"192.0.2.{number}" for number in range(BIG_ANSWER)}


def register(wire, via, contact):
    return wire.a.run("python3", "-c", REGISTER, via, contact, SERVER).stdout.splitlines()


def registered(wire, via, contact, called=False):
    """The same, again and again until it is answered, and called where it is to be."""
    def said():
        lines = register(wire, via, contact)
        heard = len(lines) > 2 and (not called or lines[2] != "silence")
        return lines if heard else None
    return wait_until(said, PATIENCE, "an answer of the registrar")


@BACKENDS
def test_a_phone_registers_and_is_called_at_the_address_that_it_learns(backend, tmp_path):
    """RFC 3581: `rport` says what the outside sees. Contact and Via stay as they are said."""
    with ready(backend, tmp_path, "sip") as wire:
        inside = f"{INSIDE}:5060"
        via, contact, *call = registered(wire, f"{inside};rport", inside)
        assert f"received={wire.public}" in via and f"UDP {inside}" in via
        assert contact == f"<sip:a@{inside}>"
        assert call == ["silence"]  # the registrar has no way to that
        port = int(via.split("rport=")[1].split(";")[0])
        public = f"{wire.public}:{port}"
        _, contact, call = registered(wire, f"{inside};rport", public, called=True)
        assert contact == f"<sip:a@{public}>" and call.startswith("OPTIONS")


@BACKENDS
def test_a_phone_without_rport_is_answered_where_its_port_is_kept(backend, tmp_path):
    """The answer goes to the port that Via names. The kernel keeps a port that is free; `nat` does
    where the port is one of its host's lane, here in one of four cases."""
    with ready(backend, tmp_path, "sip") as wire:
        inside = f"{INSIDE}:5060"
        with_rport, *_ = registered(wire, f"{inside};rport", inside)
        kept = "rport=5060;" in with_rport
        if kept:
            said = registered(wire, inside, inside)
            assert said[0].startswith(f"Via: SIP/2.0/UDP {inside}")
        else:
            assert register(wire, inside, inside) == ["silence"]
        assert kept or backend != "kernel"


@needs("curl")
@pytest.mark.parametrize("backend, filtering, works", [
    ("masquerade", "endpoint", True), ("millrace", "endpoint", True),
    ("millrace", "address", True), ("millrace", "address-port", False),
    ("kernel", "", False)])
def test_tftp_answers_come_from_another_port(backend, filtering, works, tmp_path):
    """So they reach a mapping that is filtered by addresses at most (RFC 4787 REQ-8). The kernel's
    connections have both ports, as with `address-port`; its helper `tftp` waits for the other."""
    (tmp_path / "page").write_bytes(os.urandom(2000))
    how = {"filtering": filtering} if filtering else {}
    with ready(backend, tmp_path, "tftp", **how) as wire:
        got = wire.a.run("curl", "-sS", "--max-time", PATIENCE if works else 3, "-o",
                         tmp_path / "got", f"tftp://{SERVER}/page", check=False,
                         timeout=2 * PATIENCE)
        assert (got.returncode == 0) == works, got.stderr
        if works:
            assert digest(tmp_path / "got") == digest(tmp_path / "page")
