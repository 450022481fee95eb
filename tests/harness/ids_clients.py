#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Clients of ids_servers.py through an IPS, until the input ends: SECONDS ADDRESS...

Each kind has a client for each address, so that there are flows of several lanes. It does the same
thing again and again: what no rule forbids has to be answered within SECONDS, and what one forbids
is sent as well, once in three times. At the end prints, as
JSON, how often each kind was answered, how often it sent what is forbidden, and what failed."""

import itertools
import json
import socket
import ssl
import sys
import threading
import time

SECONDS, ADDRESSES = float(sys.argv[1]), sys.argv[2:]
PAGE = bytes(range(256)) * 512
# What a rule has dropped stays dropped, with all that follows between the same addresses and ports:
# what is forbidden has ports of its own, of which the kernel gives none to others.
BLOCKED_PORTS = itertools.cycle(range(2000, 32000))
done = threading.Event()
answered, forbidden, failed = {}, {}, []


def source(is_forbidden):
    """Where a client binds to."""
    return ("", next(BLOCKED_PORTS) if is_forbidden else 0)


def connect(address, port, is_forbidden):
    connection = socket.create_connection((address, port), SECONDS, source(is_forbidden))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def read_all(connection):
    data = b""
    while piece := connection.recv(65536):
        data += piece
    return data


def send_in_two(connection, text):
    """The second half leaves when the first one has arrived: they are two segments."""
    half = len(text) // 2
    connection.sendall(text[:half])
    while connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 28)[24:28] != bytes(4):
        time.sleep(0.001)
    connection.sendall(text[half:])


def give_up(connection):
    """The other side has no answer to what is forbidden: a short wait lets it be sent again."""
    connection.settimeout(0.5)
    try:
        read_all(connection)
    except OSError:
        pass


def http(address, number, is_forbidden):
    with connect(address, 8080, is_forbidden) as connection:
        path = "blocked" if is_forbidden else "page"
        send_in_two(connection, f"GET /{path}?{number} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        if is_forbidden:
            return give_up(connection)
        head, _, body = read_all(connection).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200") and body == PAGE, head


def tls(address, number, is_forbidden):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    name = "blocked.test" if is_forbidden else "open.test"
    connection = connect(address, 8443, is_forbidden)
    try:
        if is_forbidden:
            connection.settimeout(0.5)
        with context.wrap_socket(connection, server_hostname=name) as wrapped:
            text = b"%d " % number * 5000
            wrapped.sendall(text)
            echo = b""
            while len(echo) < len(text):
                echo += wrapped.recv(65536)
            assert echo == text
    except OSError:
        if not is_forbidden:
            raise
    finally:
        connection.close()


def dns(address, number, is_forbidden):
    name = f"host-{number}.{'blocked' if is_forbidden else 'open'}.test"
    question = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(source(is_forbidden))
        client.settimeout(0.5)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            client.sendto(bytes.fromhex("123401000001000000000000") + question
                          + bytes.fromhex("0000010001"), (address, 53))
            try:
                assert client.recv(2048).endswith(bytes.fromhex("c0000207"))
                return
            except TimeoutError:
                if is_forbidden:
                    return
        raise TimeoutError(name)


def words(address, number, is_forbidden):
    with connect(address, 7000, is_forbidden) as connection:
        connection.sendall(b"%d begins " % number)
        send_in_two(connection, b"blocked-word" if is_forbidden else b"harmless-one")
        connection.shutdown(socket.SHUT_WR)
        if is_forbidden:
            return give_up(connection)
        read_all(connection)


def repeat(kind, address):
    number = 0
    while not done.is_set() or number < 3:  # each sends what is forbidden at least once
        is_forbidden = number % 3 == 2
        try:
            kind(address, number, is_forbidden)
        except (OSError, AssertionError) as error:
            if not is_forbidden:
                failed.append(f"{kind.__name__} {number} of {address}: {error!r}")
        counts = forbidden if is_forbidden else answered
        counts[kind.__name__] = counts.get(kind.__name__, 0) + 1
        number += 1


threads = [threading.Thread(target=repeat, args=(kind, address))
           for kind in (http, tls, dns, words) for address in ADDRESSES]
for thread in threads:
    thread.start()
print("ready", flush=True)
sys.stdin.read()
done.set()
for thread in threads:
    thread.join()
print(json.dumps({"answered": answered, "forbidden": forbidden, "failed": failed}))
