# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prefixes with several next hops: what every router does with them, whatever its hash. A check
takes a router's hosts, and fails by itself."""

import collections

from scapy.layers.inet import IP, UDP, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, fragment6
from scapy.layers.l2 import Ether

from router_world import World

HOST = "02:00:00:00:00:05"
DEAD = "10.3.0.99"  # no host answers for it
FLOWS = 160
# By chance one of these is missed about once in 10^9 runs of a router whose hash is not known.
SHARE = {1: (0.25, 0.75), 3: (0.5, 0.95)}


def world_of_groups():
    world = World()
    world.groups = [("10.68.0.0/16", [("dmz", "10.3.0.5", 1), ("wan", "192.0.2.1", 1)]),
                    ("10.69.0.0/16", [("dmz", "10.3.0.5", 3), ("wan", "192.0.2.1", 1)]),
                    ("10.70.0.0/16", [("dmz", DEAD, 1), ("wan", "192.0.2.1", 1)]),
                    ("2001:db8:70::/48", [("dmz", "2001:db8:3::5", 1),
                                          ("wan", "2001:db8:2::1", 1)])]
    return world


def to_router(world, packet):
    return bytes(Ether(src=HOST, dst=world.ports["lan"].mac) / packet)


def datagram(network, flow, payload):
    """One of flow number `flow`; what is no part of the flow differs by `payload`."""
    udp = UDP(sport=2000 + flow, dport=53) / payload
    if ":" in network:
        return IPv6(src="2001:db8:1::5", dst=f"{network}::9", hlim=64, tc=len(payload) % 8) / udp
    return IP(src="10.1.0.5", dst=f"{network}.0.9", id=len(payload), tos=len(payload) % 8) / udp


def flow_of(frame):
    """The number of the flow of a datagram, or of the one that an ICMP error quotes."""
    if frame[12:14] != b"\x08\x00":
        at = 54
    else:
        at = 62 if frame[23] == 1 else 34
    return int.from_bytes(frame[at:at + 2], "big") - 2000


def ports_of_flows(hosts, network):
    """flow -> the ports that its packets came out of, each as often."""
    frames = [("lan", to_router(hosts.world, datagram(network, flow, b"x" * size)))
              for size in (8, 9, 24) for flow in range(FLOWS)]
    ports = collections.defaultdict(list)
    for port, frame in hosts.step(frames):
        ports[flow_of(frame)].append(port)
    return ports


def check_flows(hosts, network, weight):
    """All packets of a flow leave by one port, and flows are shared out by weight."""
    ports = ports_of_flows(hosts, network)
    assert sorted(ports) == list(range(FLOWS))
    assert all(len(found) == 3 and len(set(found)) == 1 for found in ports.values()), ports
    share = sum(found[0] == "dmz" for found in ports.values()) / FLOWS
    least, most = SHARE[weight]
    assert least < share < most, share


def pieces_of(network, flow):
    """A datagram in fragments."""
    packet = datagram(network, flow, b"y" * 3000)
    if ":" in network:
        body = packet[UDP].copy()
        del packet[IPv6].payload
        return fragment6(packet / IPv6ExtHdrFragment(id=flow) / body, 1280)
    packet.id = flow
    return fragment(packet, 1000)


def check_fragments(hosts):
    """All fragments of a datagram leave by one port."""
    for network, number in (("10.68", slice(18, 20)), ("2001:db8:70", slice(58, 62))):
        frames = [("lan", to_router(hosts.world, piece))
                  for flow in range(40) for piece in pieces_of(network, flow)]
        ports = collections.defaultdict(list)
        for port, frame in hosts.step(frames):
            ports[frame[number]].append(port)
        assert len(ports) == 40 and sum(map(len, ports.values())) == len(frames)
        assert all(len(set(found)) == 1 for found in ports.values()), ports


def check_a_dead_next_hop(hosts):
    """Flows of a next hop whose neighbour does not answer are answered with host unreachable, and
    not moved: Linux with fib_multipath_use_neigh off, as it is by default."""
    flows = 40  # fewer than may wait for a neighbour
    frames = [("lan", to_router(hosts.world, datagram("10.70", flow, b"z" * 8)))
              for flow in range(flows)]

    def ends(outputs):
        """flow -> what became of it."""
        found = {}
        for port, frame in outputs:
            if port == "wan" and frame[23] == 17:
                found[flow_of(frame)] = "forwarded"
            elif port == "lan" and frame[23] == 1 and frame[34:36] == b"\x03\x01":
                found[flow_of(frame)] = "unreachable"
        return found

    outputs = hosts.step(frames, lambda outputs: len(ends(outputs)) == flows)
    assert set(ends(outputs).values()) == {"forwarded", "unreachable"}


def check_all(hosts):
    check_flows(hosts, "10.68", 1)
    check_flows(hosts, "10.69", 3)
    check_flows(hosts, "2001:db8:70", 1)
    check_fragments(hosts)
    check_a_dead_next_hop(hosts)
