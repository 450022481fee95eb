# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured: a case is a topology and an offered rate."""

import dataclasses
import random
import struct

PACKETS = 1024  # of the capture that is replayed; it lies in the buffers of the smallest case


@dataclasses.dataclass
class Case:
    name: str
    dispatch: str
    lanes: int
    workers: int
    slots: int
    rate_mpps: float  # offered; 0: as fast as it is taken
    streams: int = 1
    function: str = "route"


def cases_for(cores, quick):
    if quick:
        return [
            Case("any-1x1-full", "any", 1, 1, 8, 0),
            Case("any-1x1-1", "any", 1, 1, 8, 1),
            Case("flow-4x2-full", "flow", 4, 2, 16, 0),
        ]
    cases = [
        Case(f"any-1x1-{rate or 'full'}", "any", 1, 1, 8, rate) for rate in (0, 60, 30, 10, 1)
    ]
    cases += [Case("any-1x2-full", "any", 1, 2, 8, 0)]
    cases += [Case(f"flow-4x2-{rate or 'full'}", "flow", 4, 2, 16, rate) for rate in (0, 10, 1)]
    cases += [Case(f"flow-8x2-{rate or 'full'}", "flow", 8, 2, 24, rate) for rate in (0, 30, 10, 1)]
    cases += [
        Case("flow-16x4-full", "flow", 16, 4, 48, 0),
        Case("flow-16x4-10", "flow", 16, 4, 48, 10),
    ]
    if cores >= 15:
        cases.append(Case("any-5x(1x1)-full", "any", 1, 5, 16, 0, streams=5))
    return cases


def topology_of(case, folder):
    """The YAML of a case. Each stream has ports, a path and a group of its own."""
    groups = 1 if case.streams == 1 else case.streams
    count = case.workers // groups
    ports, workers, functions, paths = [], [], [], []
    for s in range(case.streams):
        ports.append(
            f"  in{s}: {{ device: replay, file: {folder}/small.pcap, rate_mpps: {case.rate_mpps} }}"
        )
        ports.append(f'  out{s}: {{ device: "null" }}')
        workers.append(
            f"  g{s}: {{ kind: classifier, count: {count}, max: {count}, "
            f"dispatch: {case.dispatch} }}"
        )
        table = folder / f"table{s}.routes"
        table.write_text(
            f"0.0.0.0/0 out{s} 02:00:00:00:00:02\n"
            + "".join(f"10.{i}.0.0/16 out{s} 02:00:00:00:00:03\n" for i in range(256))
        )
        functions.append(f"  f{s}: {{ type: route, table: {table}, on: g{s} }}")
        paths.append(
            f"  p{s}: {{ from: [in{s}], run: [f{s}], to: out{s}, lanes: {case.lanes}, "
            f"slots: {case.slots} }}"
        )
    sections = {"ports": ports, "workers": workers, "functions": functions, "paths": paths}
    text = f"millrace: 1\nname: bench\negress: {{ count: {case.streams} }}\n"
    for name, lines in sections.items():
        text += name + ":\n" + "\n".join(lines) + "\n"
    return text


def checksum(header):
    total = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def write_capture(path):
    """Frames of 60 bytes (64 with FCS): UDP to random addresses in 10.0.0.0/8, seeded."""
    dice = random.Random(1)
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i in range(PACKETS):
            source = 0xC0A80000 | dice.getrandbits(16)
            target = 0x0A000000 | dice.getrandbits(24)
            header = struct.pack("!BBHHHBBHII", 0x45, 0, 46, i, 0, 64, 17, 0, source, target)
            header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
            udp = struct.pack("!HHHH", 1024 + dice.getrandbits(12), 53, 26, 0)
            frame = (
                bytes.fromhex("020000000001020000000099") + b"\x08\x00" + header + udp + bytes(18)
            )
            out.write(struct.pack("<IIII", i, 0, len(frame), len(frame)) + frame)
