#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Servers behind an IPS, which write down what reaches them: FOLDER ADDRESS...

port 8080, HTTP: a page of PAGE bytes for any request; `requests`: the request lines
port 8443, TLS: echoes; `names`: the server names that clients ask for (cert.pem, key.pem in FOLDER)
port 53, DNS over UDP: one address for any question; `questions`: what is asked
port 7000, TCP: takes anything; `words`: all bytes, a line a connection

A line is written before the answer, so what a client has an answer to is in the file."""

import pathlib
import socket
import ssl
import sys
import threading

PAGE = bytes(range(256)) * 512
FOLDER, ADDRESSES = pathlib.Path(sys.argv[1]), sys.argv[2:]


def in_a_thread(work, *arguments):
    threading.Thread(target=work, args=arguments, daemon=True).start()


def serve(port, answer, name):
    """Each connection has a thread. What a peer does to its own connection ends no other."""
    server = socket.create_server(("", port), backlog=256)
    file = open(FOLDER / name, "ab", buffering=0)  # pylint: disable=consider-using-with

    def one(connection):
        try:
            with connection:
                answer(connection, file)
        except OSError:
            pass  # reset, or TLS that was broken off

    while True:
        in_a_thread(one, server.accept()[0])


def http(connection, file):
    request = b""
    while b"\r\n\r\n" not in request:
        data = connection.recv(65536)
        if not data:
            break
        request += data
    file.write(request.partition(b"\r\n")[0] + b"\n")
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                       % (len(PAGE), PAGE))


def tls(connection, file):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(FOLDER / "cert.pem", FOLDER / "key.pem")
    context.sni_callback = lambda _, name, __: file.write(str(name).encode() + b"\n") and None
    with context.wrap_socket(connection, server_side=True) as wrapped:
        while data := wrapped.recv(65536):
            wrapped.sendall(data)


def words(connection, file):
    taken = b""
    while data := connection.recv(65536):
        taken += data
        file.write(taken.replace(b"\n", b" ") + b"\n")


def dns(address):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))
    with open(FOLDER / "questions", "ab", buffering=0) as file:
        while True:
            question, client = server.recvfrom(2048)
            file.write(question[12:].replace(b"\n", b" ") + b"\n")
            server.sendto(question[:2] + bytes.fromhex("81800001000100000000") + question[12:]
                          + bytes.fromhex("c00c000100010000003c0004c0000207"), client)


for each in ADDRESSES:
    in_a_thread(dns, each)
in_a_thread(serve, 8080, http, "requests")
in_a_thread(serve, 8443, tls, "names")
serve(7000, words, "words")
