# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The Linux kernel as a router: run in a network namespace of its own (`unshare -n`).

Reads {"ports": {name: {"mac", "addresses"}}, "routes": [[prefix, port or null, mac]],
"frames": [hex]} from standard input and sends each frame into the first port. Writes a list:
[port, hex] of what came out for each frame, or null.
"""

import ipaddress
import json
import pathlib
import select
import socket
import subprocess
import sys

WAIT_SECONDS = 0.05
OUTGOING = socket.PACKET_OUTGOING


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def write(path, text):
    pathlib.Path("/proc/sys/net", path).write_text(text)


def lay_ports(ports):
    """Each port is `name`, our end of the wire is `name-peer`."""
    for setting in ("all", "default"):
        write(f"ipv6/conf/{setting}/disable_ipv6", "1")
        write(f"ipv4/conf/{setting}/rp_filter", "0")
        write(f"ipv4/conf/{setting}/send_redirects", "0")
    for name, port in ports.items():
        ip("link", "add", name, "address", port["mac"], "type", "veth", "peer", f"{name}-peer")
        for end in (name, f"{name}-peer"):
            ip("link", "set", end, "up")
        for address in port["addresses"]:
            ip("address", "add", address, "dev", name)
    write("ipv4/ip_forward", "1")


def lay_routes(ports, routes):
    """A gateway for each next hop: an unused address of the port's network with its MAC address."""
    gateways = {}
    for prefix, port, mac in routes:
        if port is None:
            ip("route", "add", "blackhole", prefix)
            continue
        network = ipaddress.ip_interface(ports[port]["addresses"][0]).network
        if ipaddress.ip_network(prefix) == network:
            for address in network:
                if str(address) not in gateways.values():
                    ip("neighbour", "replace", str(address), "lladdr", mac, "dev", port)
            continue
        if (port, mac) not in gateways:
            own = {address.split("/")[0] for address in ports[port]["addresses"]}
            free = [str(host) for host in network.hosts() if str(host) not in own]
            gateways[port, mac] = free[len(gateways) % len(free)]
            ip("neighbour", "replace", gateways[port, mac], "lladdr", mac, "dev", port)
        ip("route", "add", prefix, "via", gateways[port, mac], "dev", port)


def open_peers(ports):
    peers = {}
    for name in ports:
        peer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        peer.bind((f"{name}-peer", 0))
        peers[peer] = name
    return peers


def own_addresses(ports):
    return {ipaddress.ip_interface(address).ip.packed
            for port in ports.values() for address in port["addresses"]}


def came_out(peers, macs, own):
    """The next frame to one of the next hops that is no answer of the router, or None."""
    while True:
        ready, _, _ = select.select(list(peers), [], [], WAIT_SECONDS)
        if not ready:
            return None
        frame, address = ready[0].recvfrom(65536)
        answer = frame[12:14] != b"\x08\x00" or frame[26:30] in own
        if address[2] != OUTGOING and frame[:6].hex(":") in macs and not answer:
            return [peers[ready[0]], frame.hex()]


def main():
    task = json.load(sys.stdin)
    lay_ports(task["ports"])
    lay_routes(task["ports"], task["routes"])
    peers = open_peers(task["ports"])
    entry = next(iter(peers))
    own = own_addresses(task["ports"])
    macs = {mac for _, port, mac in task["routes"] if port}
    results = []
    for frame in task["frames"]:
        try:
            entry.send(bytes.fromhex(frame))
        except OSError:
            results.append(None)  # shorter than an Ethernet header: no device takes it
            continue
        results.append(came_out(peers, macs, own))
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
