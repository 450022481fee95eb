# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of router cases notices what is wrong: of what the kernel sends, each byte that is
not free is changed, and each frame is lost or comes twice."""

import os

import pytest

from router_cases import KernelRouter, compare, read_cases
from router_hosts import question

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
BYTES_MAX = 90  # headers and what is quoted of them
# (file, name of the case, whether every byte is given).
PROBES = (
    ("ipv4-header", "a datagram goes to the next hop of its prefix", True),
    ("arp", "a request for an address of ours is answered", True),
    ("icmp-ttl", "TTL 1 is answered with time exceeded", False),
    ("echo", "an echo request", False),
    ("fragmentation", "one byte more makes two fragments", True),
    ("redirect", "the next hop is a router of the same network", False),
    ("ipv6", "hop limit 1 is answered with time exceeded", False),
    ("nd", "a solicitation for an address of ours", False))


@needs_root
@pytest.mark.parametrize("name, title, given", PROBES)
def test_a_changed_or_lost_or_second_frame_is_noticed(name, title, given):
    world, cases = read_cases(name)
    case = next(case for case in cases if case.name == title)
    with KernelRouter(world) as router:
        for host in case.hosts:
            router.hosts.neighbours |= type(world)(hosts={"": host}).neighbours()
        step = case.steps[0]
        outputs = router.hosts.step(step.ins)
    assert not compare(step, outputs, world)
    for at, (port, frame) in enumerate(outputs):
        rest = outputs[:at] + outputs[at + 1:]
        assert compare(step, rest, world), "a frame is lost"
        if question(frame) is None:
            assert compare(step, [*outputs, (port, frame)], world), "a frame comes twice"
        assert compare(step, [*rest, ("dmz", frame)], world), "another port"
        missed = []
        for byte in range(min(len(frame), BYTES_MAX)):
            changed = bytearray(frame)
            changed[byte] ^= 0x11
            if not compare(step, [*rest, (port, bytes(changed))], world):
                missed.append(byte)
        # In headers of what the router makes itself a byte is free only if checksums do not
        # cover it, and then they would have to change with it.
        assert missed == [] if given else len(missed) <= 8, missed
