# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Servers of protocols that tell each other addresses and ports, for tests of translations:
`python3 nat_peers.py ftp|dns|sip|tftp ADDRESS [FOLDER]`. They do what usual servers do, and have no
help for hosts behind a translation but what their RFCs say."""

import pathlib
import re
import socket
import socketserver
import struct
import sys
import threading

PATIENCE = 120  # seconds: this host may have no time for the other side
REPEAT = 0.3  # seconds without an answer
BIG_ANSWER = 40  # addresses of big.test, which are told by TCP alone


class Ftp(socketserver.StreamRequestHandler):
    """RFC 959, RFC 2428. A data connection to another host than the client is refused, as by all
    servers that follow RFC 2577."""
    folder = pathlib.Path()
    listener = target = None

    def handle(self):
        self.say("220 ready")
        while line := self.rfile.readline():
            verb, _, rest = line.decode().strip().partition(" ")
            getattr(self, f"do_{verb.lower()}", self.unknown)(rest)
            if verb.upper() == "QUIT":
                return

    def say(self, text):
        self.wfile.write(f"{text}\r\n".encode())

    def unknown(self, _):
        self.say("502 not here")

    do_user = do_type = do_cwd = lambda self, _: self.say("230 fine")
    do_quit = lambda self, _: self.say("221 bye")  # noqa: E731
    do_pwd = lambda self, _: self.say('257 "/"')  # noqa: E731

    def listen(self):
        self.target = None
        self.listener = socket.create_server((self.connection.getsockname()[0], 0))
        return self.listener.getsockname()

    def do_epsv(self, _):
        self.say(f"229 listening (|||{self.listen()[1]}|)")

    def do_pasv(self, _):
        address, port = self.listen()
        self.say(f"227 listening ({address.replace('.', ',')},{port // 256},{port % 256})")

    def connect_to(self, address, port):
        if address != self.client_address[0]:
            self.say("500 Illegal PORT command.")
            return
        self.listener, self.target = None, (address, port)
        self.say("200 that port")

    def do_eprt(self, rest):
        _, _, address, port, _ = rest.split("|")
        self.connect_to(address, int(port))

    def do_port(self, rest):
        *address, high, low = rest.split(",")
        self.connect_to(".".join(address), int(high) * 256 + int(low))

    def data(self):
        self.say("150 data comes")
        if self.target:
            return socket.create_connection(self.target, timeout=PATIENCE)
        return self.listener.accept()[0]

    def do_retr(self, name):
        with self.data() as data:
            data.sendall((self.folder / name).read_bytes())
        self.say("226 done")

    def do_stor(self, name):
        with self.data() as data, open(self.folder / f"stored-{name}", "wb") as file:
            while got := data.recv(65536):
                file.write(got)
        self.say("226 done")


def dns_answer(query, over_tcp):
    """Of A records. big.test has more than UDP's 512 bytes take, and says so there (RFC 1035
    4.2.1); other names have one address, the last byte of it the length of the name."""
    end = query.index(0, 12) + 5
    question = query[12:end]
    wanted = question[-4:] == struct.pack("!HH", 1, 1)  # A, IN
    big = question.startswith(b"\3big")
    count = (BIG_ANSWER if big else 1) if wanted else 0
    cut = big and wanted and not over_tcp
    count = 0 if cut else count
    flags = 0x8180 | (0x0200 if cut else 0)
    answer = query[:2] + struct.pack("!HHHHH", flags, 1, count, 0, 0) + question
    for number in range(count):
        address = bytes([192, 0, 2, number if big else len(question)])
        answer += struct.pack("!HHHIH", 0xc00c, 1, 1, 60, 4) + address
    return answer


class DnsByUdp(socketserver.BaseRequestHandler):
    def handle(self):
        query, out = self.request
        out.sendto(dns_answer(query, False), self.client_address)


class DnsByTcp(socketserver.StreamRequestHandler):
    def handle(self):
        while size := self.rfile.read(2):
            answer = dns_answer(self.rfile.read(int.from_bytes(size, "big")), True)
            self.wfile.write(len(answer).to_bytes(2, "big") + answer)


def sip_answer(request, peer):
    """Of a registrar: what it says, and where it goes. RFC 3261 18.2: to the address that it comes
    from, and the port that Via names; with `rport` to the port that it comes from (RFC 3581)."""
    via = re.search(r"^Via: SIP/2.0/UDP ([\d.]+)(?::(\d+))?([^\r\n]*)", request, re.M)
    told, port, more = via[1], int(via[2] or 5060), via[3]
    if told != peer[0]:
        more += f";received={peer[0]}"
    if ";rport" in more:
        port = peer[1]
        more = more.replace(";rport", f";rport={port}")
    kept = [line for line in request.splitlines()
            if line.split(":")[0] in ("From", "To", "Call-ID", "CSeq", "Contact")]
    lines = ["SIP/2.0 200 OK", f"Via: SIP/2.0/UDP {told}:{via[2] or 5060}{more}", *kept,
             "Content-Length: 0", "", ""]
    return "\r\n".join(lines), (peer[0], port)


class Sip(socketserver.BaseRequestHandler):
    """A registrar that calls a client at its contact as soon as that has registered."""

    def handle(self):
        data, out = self.request
        request = data.decode()
        if not request.startswith("REGISTER"):
            return
        answer, to = sip_answer(request, self.client_address)
        out.sendto(answer.encode(), to)
        contact = re.search(r"^Contact: <sip:\w+@([\d.]+):(\d+)>", request, re.M)
        call_id = re.search(r"^Call-ID: .*\r", request, re.M)[0]  # by which the client knows it
        call = (f"OPTIONS sip:client SIP/2.0\r\nTo: <{contact[1]}:{contact[2]}>\r\n"
                f"{call_id}\n\r\n")
        try:
            out.sendto(call.encode(), (contact[1], int(contact[2])))
        except OSError:
            pass  # no way to the address that the client has inside


class Tftp(socketserver.BaseRequestHandler):
    """RFC 1350: answers come from a port of their own."""
    folder = pathlib.Path()

    def handle(self):
        request = self.request[0]
        name = request[2:].split(b"\0")[0].decode()
        content = (self.folder / name).read_bytes()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.bind((self.server.server_address[0], 0))
            out.settimeout(REPEAT)
            for number in range(len(content) // 512 + 1):
                block = content[number * 512:number * 512 + 512]
                if not self.deliver(out, number + 1, block):
                    return

    def deliver(self, out, number, block):
        for _ in range(int(PATIENCE / REPEAT)):
            try:
                out.sendto(struct.pack("!HH", 3, number) + block, self.client_address)
                if out.recv(100) == struct.pack("!HH", 4, number):
                    return True
            except OSError:  # nothing came, or an ICMP error
                continue
        return False


class UdpServer(socketserver.ThreadingUDPServer):
    daemon_threads = True


class TcpServer(socketserver.ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True


SERVERS = {"ftp": [(TcpServer, 21, Ftp)], "sip": [(UdpServer, 5060, Sip)],
           "dns": [(UdpServer, 53, DnsByUdp), (TcpServer, 53, DnsByTcp)],
           "tftp": [(UdpServer, 69, Tftp)]}


def main(protocol, address, folder="."):
    Ftp.folder = Tftp.folder = pathlib.Path(folder)
    servers = [kind((address, port), handler) for kind, port, handler in SERVERS[protocol]]
    threads = [threading.Thread(target=server.serve_forever) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
