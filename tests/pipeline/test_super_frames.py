# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Stacks whose segmentation is left to the cable (TSO, GSO), at both ends of a topology that cuts
what they send, and sends them what it can put together."""

import json

import pytest
from flows import FLOWS, Load, Stream
from topology import QUICK_RESTARTS
from wire import Wire

MTU = 1500


def bump(wire, settings=""):
    device = "tap" if wire.taps else "afpacket"
    more = f"device: {device}, super_frames: true, mtu: {wire.mtu}{settings}"
    return f"""
ports:
  a: {{ interface: {wire.port_a}, {more} }}
  b: {{ interface: {wire.port_b}, {more} }}
paths:
  bump: {{ from: [a, b] }}
"""


def sent_by(host, direction="tx"):
    """(frames, bytes), as its interface counts them."""
    link, = json.loads(host.run("ip", "-j", "-s", "link", "show", "eth").stdout)
    return link["stats64"][direction]["packets"], link["stats64"][direction]["bytes"]


@pytest.mark.parametrize("device, settings", [
    ("afpacket", ""), ("afpacket", ", queues: 2"), ("afpacket", ", host: true"),
    ("tap", ""), ("tap", ", queues: 2")])
def test_a_file_arrives_whole_from_a_stack_that_sends_super_frames(tmp_path, device, settings):
    with Wire(MTU, super_frames=True, device=device) as wire, \
            wire.between(tmp_path, bump(wire, settings)) as running:
        wire.a.wait_for(wire.b.ip)
        wire.fetch(tmp_path, 20)
        wire.iperf()
        wire.iperf("-R", "-P", "8")
        audit = running.settle()
        assert audit["dropped"] == {}, audit
        frames, size = sent_by(wire.b)
        assert size / frames > 2 * MTU, "super-frames came, not packets"
        frames, size = sent_by(wire.a, "rx")
        assert size / frames > 2 * MTU, "and went"
        frames, size = sent_by(wire.b)
        # Counted after they were cut, with headers of their own.
        assert audit["received"] > (size + sent_by(wire.a)[1]) / (MTU + 14)


@pytest.mark.parametrize("device", ["afpacket", "tap"])
def test_datagrams_arrive_one_by_one_and_in_order(tmp_path, device):
    with Wire(MTU, super_frames=True, device=device) as wire, \
            wire.between(tmp_path, bump(wire)) as running:
        wire.a.wait_for(wire.b.ip)
        before = sent_by(wire.a)[0]
        with Load(wire, tmp_path, 20000, at_once=40) as load:
            while sent_by(wire.a)[0] < before + 200:
                pass
            sent, got = load.end(running)
        assert got == {"count": sent, "overtaken": 0, "flows": FLOWS}
        assert sent_by(wire.a)[0] - before < sent / 10, "40 of them in a frame"
        assert running.settle()["dropped"] == {}


def test_tcp_goes_on_when_io_workers_are_killed(tmp_path):
    with Wire(MTU, super_frames=True) as wire, \
            wire.between(tmp_path, bump(wire), words=QUICK_RESTARTS) as running:
        wire.a.wait_for(wire.b.ip)
        with Stream(wire, tmp_path, rate=40) as stream:
            for name in ("ingress.a.0", "ingress.b.0", "ingress.a.0", "ingress.a.0"):
                running.kill(name)
                running.wait_alive(name)
                stream.goes_on(4_000_000)
            stream.end()
        audit = running.settle()
        assert audit["dropped"] == {} and audit["received"] == audit["transmitted"], audit
