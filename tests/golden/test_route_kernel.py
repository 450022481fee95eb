# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The golden tables of route against the Linux kernel; what differs is what README.md says."""

import json
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent

# Cases where README.md says that the kernel does otherwise: it drops ...
KERNEL_DROPS = {"the unicast MAC of another station: the port decides what it takes",
                "the unicast MAC of another station",
                "a hop-by-hop option that nobody knows and that asks for a drop",
                "an extension header cut short by the payload length: nobody looks"}
# ... forwards ...
KERNEL_FORWARDS = {"a priority tag, VLAN 0", "from this network, 0.0.0.0/8",
                   "from a link-local address, 169.254.0.0/16",
                   "a jumbogram, or what segmentation offload leaves: no payload length, "
                   "hop-by-hop options", "from an IPv4-mapped address"}
# ... or changes more.
KERNEL_FILLS_IN = {"record route option: forwarded, not filled in"}


def read_golden(name):
    """(ports, routes, cases) of a golden table; a case is a dictionary of its lines."""
    ports, routes, cases, in_file = {}, [], [], False
    for line in (FOLDER / name).read_text().splitlines():
        word, _, rest = line.partition(" ")
        if in_file:
            in_file = line != "end"
            fields = [*line.split(), None]
            if in_file and fields[1] == "drop":
                routes.append([fields[0], None, None])
            elif in_file:
                routes.append(fields[:3])
        elif word == "port":
            name, mac, *addresses = rest.split()
            ports[name] = {"mac": mac, "addresses": addresses}
        elif word == "file":
            in_file = True
        elif word == "case":
            cases.append({"case": rest})
        elif cases and word and word != "#":
            cases[-1][word] = rest.strip()
    return ports, routes, cases


@pytest.fixture(name="kernel", scope="module")
def fixture_kernel():
    """(case, [port, hex] or None) of each case of both tables, as the kernel does it."""
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode:
        pytest.skip("a network namespace takes root")
    results = []
    for name in ("route.golden", "route_ipv6.golden"):
        ports, routes, cases = read_golden(name)
        task = {"ports": ports, "routes": routes, "frames": [case.get("in", "") for case in cases]}
        done = subprocess.run(["unshare", "-n", sys.executable, FOLDER / "route_kernel.py"],
                              input=json.dumps(task), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        results += zip(cases, json.loads(done.stdout))
    return results


def without_padding(frame):
    """The kernel cuts off what is behind the packet."""
    if frame[24:28] == "86dd":
        return frame[:2 * (54 + int(frame[36:40], 16))]
    return frame[:2 * (14 + int(frame[32:36], 16))]


def test_the_kernel_forwards_and_drops_the_same_packets(kernel):
    named = KERNEL_DROPS | KERNEL_FORWARDS | KERNEL_FILLS_IN
    assert named <= {case["case"] for case, _ in kernel}
    for case, result in kernel:
        forwards = "drop" not in case
        if case["case"] in KERNEL_DROPS | KERNEL_FORWARDS:
            forwards = not forwards
        assert (result is not None) == forwards, case["case"]


def test_the_kernel_sends_the_same_bytes_out_of_the_same_port(kernel):
    compared = 0
    for case, result in kernel:
        if result is None or "out" not in case:
            continue
        port, frame = result
        assert port == case["to"], case["case"]
        same = frame == without_padding(case["out"])
        assert same == (case["case"] not in KERNEL_FILLS_IN), case["case"]
        compared += 1
    assert compared >= 45
