# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A client of ZeroMQ's wire protocol (ZMTP 3.0, NULL mechanism, DEALER) that says what it likes."""

import socket

from processes import PATIENCE

GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)


def read_exactly(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise ConnectionError("closed")
        data += piece
    return data


def frame(body, flags=0):
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | 2]) + len(body).to_bytes(8, "big") + body


class Dealer:
    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.connection.settimeout(PATIENCE)
        self.connection.connect(str(path))
        self.connection.sendall(GREETING)
        assert read_exactly(self.connection, len(GREETING))[:1] == b"\xff"
        kind = b"\x0bSocket-Type" + (6).to_bytes(4, "big") + b"DEALER"
        identity = b"\x08Identity" + bytes(4)
        self.connection.sendall(frame(b"\x05READY" + kind + identity, flags=4))
        self.read_frame()

    def read_frame(self):
        flags, = read_exactly(self.connection, 1)
        size = int.from_bytes(read_exactly(self.connection, 8 if flags & 2 else 1), "big")
        return read_exactly(self.connection, size)

    def send(self, *bodies):
        """One message of several frames."""
        for number, body in enumerate(bodies):
            self.connection.sendall(frame(body, flags=int(number + 1 < len(bodies))))

    def close(self):
        self.connection.close()
