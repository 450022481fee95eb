# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The Linux kernel as a router of both families: run in a network namespace of its own (`unshare
-n`).

Behind each frame goes another one that is certainly forwarded: when that one has come out, so has
whatever the kernel makes of the frame. No time decides.

Reads {"ports": {name: {"mac", "addresses"}}, "routes": [[prefix, port or null, mac]],
"frames": [hex]} from standard input and sends each frame into the first port. Writes a list:
[port, hex] of what came out for each frame, or null.
"""

import ipaddress
import itertools
import json
import os
import pathlib
import select
import socket
import struct
import subprocess
import sys

PATIENCE = 120
MARK = b"the frame before this one has had its turn"
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


def leads_to_a_port(ports, routes):
    """An IPv4 address whose longest prefix is a route to a next hop."""
    known = [(ipaddress.ip_network(prefix), port) for prefix, port, _ in routes]
    known += [(ipaddress.ip_interface(address).network, None)
              for port in ports.values() for address in port["addresses"]]
    for prefix, port in known:
        address = prefix.network_address + prefix.num_addresses // 2
        inside = [other for other in known if other[0].version == 4 and address in other[0]]
        if port and prefix.version == 4 and max(inside, key=lambda one: one[0].prefixlen) == (
                prefix, port):
            return address
    raise ValueError("no route of IPv4 leads to a port")


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def marker(mac, to):
    """A datagram to that address, for the port with that MAC address."""
    datagram = struct.pack("!HHHH", 9, 9, 8 + len(MARK), 0) + MARK
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(datagram), 0, 0, 64, 17, 0,
                         bytes([198, 18, 0, 1]), to.packed)
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return bytes.fromhex(mac.replace(":", "") + "02000000ff01" "0800") + header + datagram


def waiting(peers, seconds):
    """Sockets at which something waits, by then."""
    return select.select(list(peers), [], [], seconds)[0]


def read(peers, ready):
    """(port, frame) of the next one that has come out at each of these sockets."""
    for peer in ready:
        frame, address = peer.recvfrom(65536)
        if address[2] != OUTGOING:
            yield peers[peer], frame


def came_out(peers, macs, own, sent):
    """What the router made of `sent`: the first frame to one of the next hops, or None."""
    frames = []
    while not any(MARK in frame for _, frame in frames):
        ready = waiting(peers, PATIENCE)
        if not ready:
            raise TimeoutError("a frame that has to be forwarded is not")
        frames += read(peers, ready)
    while ready := waiting(peers, 0):
        frames += read(peers, ready)
    for port, frame in frames:
        source = {b"\x08\x00": frame[26:30], b"\x86\xdd": frame[22:38]}.get(frame[12:14])
        answer = source is None or source in own or source not in sent
        if frame[:6].hex(":") in macs and not answer and MARK not in frame:
            return [port, frame.hex()]
    return None


def main():
    task = json.load(sys.stdin)
    lay_ports(task["ports"])
    lay_routes(task["ports"], task["routes"])
    peers = open_peers(task["ports"])
    entry = next(iter(peers))
    own = own_addresses(task["ports"])
    macs = {mac for _, port, mac in task["routes"] if port}
    address = leads_to_a_port(task["ports"], task["routes"])
    mark = marker(task["ports"][peers[entry]]["mac"], address)
    # What is sent on one processor is forwarded there, one after the other.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    results = []
    for frame in task["frames"]:
        try:
            entry.send(sent := bytes.fromhex(frame))
        except OSError:
            results.append(None)  # shorter than an Ethernet header: no device takes it
            continue
        entry.send(mark)
        results.append(came_out(peers, macs, own, sent))
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
