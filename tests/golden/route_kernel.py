# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The Linux kernel as a router of both families: run in a network namespace of its own (`unshare
-n`).

Reads {"ports": {name: {"mac", "addresses"}}, "routes": [[prefix, port or null, mac]],
"frames": [hex]} from standard input and sends each frame into the first port. Writes a list:
[port, hex] of what came out for each frame, or null.
"""

import ipaddress
import itertools
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
        write(f"ipv6/conf/{setting}/accept_dad", "0")
        write(f"ipv6/conf/{setting}/accept_ra", "0")
        write(f"ipv4/conf/{setting}/rp_filter", "0")
        write(f"ipv4/conf/{setting}/send_redirects", "0")
    for name, port in ports.items():
        ip("link", "add", name, "address", port["mac"], "type", "veth", "peer", f"{name}-peer")
        write(f"ipv6/conf/{name}-peer/disable_ipv6", "1")
        for end in (name, f"{name}-peer"):
            ip("link", "set", end, "up")
        for address in port["addresses"]:
            ip("address", "add", address, "dev", name, *(["nodad"] if ":" in address else []))
    write("ipv4/ip_forward", "1")
    write("ipv6/conf/all/forwarding", "1")


def network_of(port, version):
    """The first network of the port of that family, and its first addresses."""
    network = next(interface.network for interface in map(ipaddress.ip_interface, port["addresses"])
                   if interface.version == version)
    return network, [str(address) for address in itertools.islice(network, 256)]


def lay_routes(ports, routes):
    """A gateway for each next hop: an unused address of the port's network with its MAC address."""
    gateways = {}
    for prefix, port, mac in routes:
        if port is None:
            ip("route", "add", "blackhole", prefix)
            continue
        version = ipaddress.ip_network(prefix).version
        network, addresses = network_of(ports[port], version)
        if ipaddress.ip_network(prefix) == network:
            for address in addresses:
                if address not in gateways.values():
                    ip("neighbour", "replace", address, "lladdr", mac, "dev", port)
            continue
        if (port, mac, version) not in gateways:
            own = {address.split("/")[0] for address in ports[port]["addresses"]}
            inner = addresses if network.prefixlen == 127 else addresses[1:-1]
            free = [address for address in inner if address not in own]
            gateways[port, mac, version] = free[len(gateways) % len(free)]
            ip("neighbour", "replace", gateways[port, mac, version], "lladdr", mac, "dev", port)
        ip("route", "add", prefix, "via", gateways[port, mac, version], "dev", port)


def open_peers(ports):
    peers = {}
    for name in ports:
        peer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        peer.bind((f"{name}-peer", 0))
        peers[peer] = name
    return peers


def own_addresses(ports):
    interfaces = [ipaddress.ip_interface(address)
                  for port in ports.values() for address in port["addresses"]]
    anycasts = {interface.network.network_address.packed for interface in interfaces
                if interface.version == 6}
    return anycasts | {interface.ip.packed for interface in interfaces}


def came_out(peers, macs, own, sent):
    """What the router made of `sent`, the next frame to one of the next hops, or None."""
    while True:
        ready, _, _ = select.select(list(peers), [], [], WAIT_SECONDS)
        if not ready:
            return None
        frame, address = ready[0].recvfrom(65536)
        source = {b"\x08\x00": frame[26:30], b"\x86\xdd": frame[22:38]}.get(frame[12:14])
        answer = source is None or source in own or source not in sent
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
            entry.send(sent := bytes.fromhex(frame))
        except OSError:
            results.append(None)  # shorter than an Ethernet header: no device takes it
            continue
        results.append(came_out(peers, macs, own, sent))
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
