# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured: a case is a topology and an offered rate."""

import dataclasses
import random
import struct

PACKETS = 1024  # of a capture, where a case does not say
BATCH = 64  # packets a slot holds by default
FULL_TABLE = 900_000  # routes: about what the Internet's table has
# Bytes in a buffer by name. The FCS, 4 bytes, is not among them, so that 64 is the smallest frame;
# 1514 is named by its bytes without it. IMIX: 7 small frames to 4 middle ones to a large one.
FRAMES = {"64": (60,), "128": (124,), "512": (508,), "1514": (1514,),
          "imix": (60,) * 7 + (590,) * 4 + (1514,)}
DISTINCT = 16_384  # packets, each to an address of its own, of a case with the full table


@dataclasses.dataclass
class Case:
    name: str
    dispatch: str
    lanes: int
    workers: int
    slots: int
    rate_mpps: float  # offered; 0: as fast as it is taken
    streams: int = 1  # each with a path, a group of workers and an egress of its own
    frame: str = "64"
    prefixes: int = 0  # of the table; 0: 257
    order: str = "kept"

    @property
    def buffers(self):
        """Of a stream: what the plan gives it, or enough for all packets of the full table."""
        return max(self.slots * BATCH + 512, DISTINCT if self.prefixes else 0)

    @property
    def actors(self):
        """Those that have to have a core of their own."""
        return 2 * self.streams + self.workers


def flow(lanes, workers, slots, rate=0, **more):
    words = [f"flow-{lanes}x{workers}", *more.pop("words", []), f"{rate or 'full'}"]
    return Case("-".join(words), "flow", lanes, workers, slots, rate, **more)


def anywhere(workers, rate=0, slots=16, **more):
    words = [f"any-1x{workers}", *more.pop("words", []), f"{rate or 'full'}"]
    return Case("-".join(words), "any", 1, workers, slots, rate, **more)


def unordered(workers, rate=0):
    """As anywhere(), without order: what that costs is the difference."""
    return Case(f"none-16x{workers}-{rate or 'full'}", "any", 16, workers, 16, rate, order="none")


def quick_cases():
    return [
        anywhere(1),
        anywhere(1, 10),
        anywhere(1, words=["imix"], frame="imix"),
        anywhere(1, words=["table"], prefixes=FULL_TABLE),
        anywhere(2),
        unordered(2),
        flow(8, 2, 24),
        flow(8, 2, 24, 10),
        flow(8, 2, 24, words=["table", "imix"], prefixes=FULL_TABLE, frame="imix"),
    ]


def cases_for(cores, quick):
    if quick:
        return quick_cases()
    cases = [anywhere(1, rate) for rate in (0, 60, 30, 10, 1)]
    cases += [anywhere(1, slots=8, words=["8slots"])]
    cases += [anywhere(1, words=[frame], frame=frame) for frame in FRAMES if frame != "64"]
    cases += [anywhere(1, words=["table"], prefixes=FULL_TABLE)]
    cases += [anywhere(2), unordered(2), anywhere(2, 10), unordered(2, 10)]
    cases += [anywhere(2, words=["table"], prefixes=FULL_TABLE), anywhere(4), unordered(4)]
    cases += [flow(4, 2, 16, rate) for rate in (0, 10, 1)]
    cases += [flow(8, 2, 24, rate) for rate in (0, 30, 10, 1)]
    cases += [flow(8, 2, 24, words=[frame], frame=frame) for frame in ("128", "imix")]
    cases += [flow(8, 2, 24, words=["table"], prefixes=FULL_TABLE)]
    cases += [flow(8, 2, 24, words=["table", "imix"], prefixes=FULL_TABLE, frame="imix")]
    cases += [flow(16, 4, 48), flow(16, 4, 48, 10)]
    if cores >= 15:
        cases.append(Case("any-5x(1x1)-full", "any", 1, 5, 16, 0, streams=5))
    return cases


def topology_of(case, folder):
    """The YAML of a case, whose capture and tables are written into `folder`."""
    count = case.workers // case.streams
    capture = folder / f"{case.name}.pcap"
    write_capture(capture, case.buffers, case.frame, case.prefixes)
    ports, workers, functions, paths = [], [], [], []
    for s in range(case.streams):
        ports.append(f"  in{s}: {{ device: replay, file: '{capture}', "
                     f"rate_mpps: {case.rate_mpps} }}")
        ports.append(f'  out{s}: {{ device: "null" }}')
        workers.append(f"  g{s}: {{ kind: classifier, count: {count}, max: {count}, "
                       f"dispatch: {case.dispatch} }}")
        table = folder / f"table{s}-{case.prefixes}.routes"
        if not table.exists():
            table.write_text(routes_text(case.prefixes, f"out{s}"))
        functions.append(f"  f{s}: {{ type: route, table: {table}, on: g{s} }}")
        paths.append(f"  p{s}: {{ from: [in{s}], run: [f{s}], to: out{s}, lanes: {case.lanes}, "
                     f"order: {case.order}, slots: {case.slots}, buffers: {case.buffers} }}")
    sections = {"ports": ports, "workers": workers, "functions": functions, "paths": paths}
    text = f"millrace: 1\nname: bench\negress: {{ count: {case.streams} }}\n"
    for name, lines in sections.items():
        text += name + ":\n" + "\n".join(lines) + "\n"
    return text


def prefix_of(number):
    """The network of 24 bits with this number: an odd factor permutes the 2^22 of 128.0.0.0/2."""
    return 0x80000000 | (number * 2_654_435 & 0x3FFFFF) << 8


def routes_text(prefixes, port):
    """A table of so many made routes to `port`, or of 256 networks and a default route."""
    if not prefixes:
        return (f"0.0.0.0/0 {port} 02:00:00:00:00:02\n"
                + "".join(f"10.{i}.0.0/16 {port} 02:00:00:00:00:03\n" for i in range(256)))
    lines = []
    for i in range(prefixes):
        net = prefix_of(i)
        lines.append(f"{net >> 24}.{net >> 16 & 255}.{net >> 8 & 255}.0/24 {port} "
                     f"02:00:00:00:00:{10 + i % 80}\n")
    return "".join(lines)


def checksum(header):
    total = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def made_frame(number, size, target, dice):
    """UDP, `size` bytes."""
    source = 0xC0A80000 | dice.getrandbits(16)
    header = struct.pack("!BBHHHBBHII", 0x45, 0, size - 14, number & 0xFFFF, 0, 64, 17, 0, source,
                         target)
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    udp = struct.pack("!HHHH", 1024 + dice.getrandbits(12), 53, size - 34, 0)
    return (bytes.fromhex("020000000001020000000099") + b"\x08\x00" + header + udp
            + bytes(size - 42))


def write_capture(path, packets=PACKETS, frame="64", prefixes=0):
    """Frames of the named sizes: UDP to random addresses in 10.0.0.0/8, or in random networks of a
    table of so many prefixes; seeded."""
    dice = random.Random(1)
    sizes = FRAMES[frame]
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i in range(packets):
            target = (prefix_of(dice.randrange(prefixes)) | dice.getrandbits(8) if prefixes
                      else 0x0A000000 | dice.getrandbits(24))
            made = made_frame(i, dice.choice(sizes), target, dice)
            out.write(struct.pack("<IIII", i, 0, len(made), len(made)) + made)
