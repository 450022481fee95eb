# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A switch with one trunk and access ports, for kernels without 802.1Q: each port is a tap
interface of a host's namespace, whose frames get the port's tags on the trunk. Slow and obvious."""

import contextlib
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys

from wire import run

TUNSETIFF, TAP_NO_INFO = 0x400454ca, 0x1002
PACKET_AUXDATA, VLAN_VALID = 8, 1 << 4
MACS = 12
TYPES = (b"\x81\0", b"\x88\xa8")
PRIORITY = bytes.fromhex("81006000")


def read_trunk(trunk):
    """The kernel keeps the outer tag beside the frame."""
    frame, ancillary, _, _ = trunk.recvmsg(65536, 256)
    for _, kind, data in ancillary:
        if kind != PACKET_AUXDATA:
            continue
        status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", data[:20])
        if status & VLAN_VALID:
            frame = frame[:MACS] + struct.pack("!HH", tpid, tci) + frame[MACS:]
    return frame


def to_taps(frame, taps):
    rest = frame[MACS:]
    for tap, tags in taps.items():
        if tags == PRIORITY:
            tags = b""  # what has no VLAN needs no tag
        if rest.startswith(tags) and rest[len(tags):len(tags) + 2] not in TYPES:
            with contextlib.suppress(OSError):
                os.write(tap, frame[:MACS] + rest[len(tags):])


def relay(interface, ports):
    """`ports`: name of a tap -> its tags, in hex. Until the input ends."""
    trunk = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    trunk.setsockopt(263, PACKET_AUXDATA, 1)  # SOL_PACKET
    trunk.bind((interface, 0))
    taps = {}
    for name, tags in ports.items():
        tap = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", name.encode(), TAP_NO_INFO))
        taps[tap] = bytes.fromhex(tags)
    print("ready", flush=True)
    while True:
        for ready in select.select([trunk, sys.stdin, *taps], [], [])[0]:
            if ready is sys.stdin:
                return
            with contextlib.suppress(OSError):  # an interface that is down, or on its way
                if ready is trunk:
                    to_taps(read_trunk(trunk), taps)
                else:
                    frame = os.read(ready, 65536)
                    trunk.send(frame[:MACS] + taps[ready] + frame[MACS:])


class Access:
    """A host at an access port."""

    def __init__(self, namespace, interface):
        self.namespace, self.interface = namespace, interface

    def run(self, *words, **how):
        return run("ip", "netns", "exec", self.namespace, *words, **how)


class VlanSwitch:
    """`with VlanSwitch(host, {name: (tags, address, gateway)}) as hosts:` the trunk is `host`'s
    interface; `hosts[name]` has `address` and a route by `gateway`."""

    def __init__(self, host, ports):
        self.host, self.ports, self.child = host, ports, None
        self.names = {name: f"{host.namespace}-{name}" for name in ports}

    def __enter__(self):
        tags = {f"tap-{name}": port[0] for name, port in self.ports.items()}
        self.child = subprocess.Popen(
            ["ip", "netns", "exec", self.host.namespace, sys.executable, __file__, "eth",
             json.dumps(tags)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
        try:
            assert self.child.stdout.readline() == "ready\n"
            return {name: self.plug(name, *port[1:]) for name, port in self.ports.items()}
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def plug(self, name, addresses, gateways):
        namespace = self.names[name]
        run("ip", "netns", "add", namespace)
        run("ip", "-n", self.host.namespace, "link", "set", f"tap-{name}", "netns", namespace)
        for address in addresses:
            how = ("nodad",) if ":" in address else ()
            run("ip", "-n", namespace, "address", "add", address, "dev", f"tap-{name}", *how)
        run("ip", "-n", namespace, "link", "set", f"tap-{name}", "up")
        for gateway in gateways:
            run("ip", "-n", namespace, "route", "add", "default", "via", gateway)
        return Access(namespace, f"tap-{name}")

    def __exit__(self, *_):
        self.child.kill()
        self.child.communicate()
        for namespace in self.names.values():
            run("ip", "netns", "del", namespace, check=False)


if __name__ == "__main__":
    relay(sys.argv[1], json.loads(sys.argv[2]))
