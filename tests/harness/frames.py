# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Packets that tests make and read; shares no code with the path."""

import random
import struct

MAGIC = b"MILLRACE"
NUMBERED_BYTES = 82


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def frame(flow, number, payload):
    """A TCP or UDP packet of a flow: (protocol, source, port, destination, port)."""
    protocol, source, source_port, destination, destination_port = flow
    if protocol == 6:
        ports = struct.pack("!HHIIBBHHH", source_port, destination_port, number, 0, 0x50, 0x10,
                            8192, 0, 0)
    else:
        ports = struct.pack("!HHHH", source_port, destination_port, 8 + len(payload), 0)
    header = struct.pack("!BBHHHBBHII", 0x45, 0, 20 + len(ports) + len(payload), number & 0xFFFF,
                         0x4000, 64, protocol, 0, source, destination)
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    macs = bytes.fromhex("020000000001020000000002")
    return macs + b"\x08\x00" + header + ports + payload


def flow_frames(seed, count, flows):
    """Packets of so many flows in random turns, both directions, each with its number inside."""
    chance = random.Random(seed)
    known = [(chance.choice((6, 17)), chance.randrange(0x0A000000, 0x0B000000),
              chance.randrange(1024, 65536), chance.randrange(0x0A000000, 0x0B000000),
              chance.randrange(1, 1024)) for _ in range(flows)]
    made = []
    for number in range(count):
        flow = chance.choice(known)
        if chance.random() < 0.3:
            flow = (flow[0], *flow[3:5], *flow[1:3])
        payload = struct.pack("!Q", number) + b"x" * chance.randrange(0, 300)
        made.append(frame(flow, number, payload))
    return made


def flow_key(data):
    """The flow of a packet of flow_frames(), the same for both directions."""
    ends = sorted([(data[26:30], data[34:36]), (data[30:34], data[36:38])])
    return data[23], *ends


def by_flow(frames):
    """flow -> its packets in their order."""
    flows = {}
    for data in frames:
        flows.setdefault(flow_key(data), []).append(data)
    return flows


def write_capture(path, frames):
    """A classic capture in microseconds. A frame may be (bytes, length on the wire)."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for number, data in enumerate(frames):
            data, wire = data if isinstance(data, tuple) else (data, len(data))
            out.write(struct.pack("<IIII", number // 10**6, number % 10**6, len(data), wire))
            out.write(data)
    return path


def read_capture(path):
    """The frames of a capture that the pcap port wrote; asserts that it is whole."""
    data = path.read_bytes()
    assert data[:4] == b"\x4d\x3c\xb2\xa1", path
    frames, at = [], 24
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        assert at + 16 + size <= len(data), f"{path}: its last record is incomplete"
        frames.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return frames


def numbers_in(path):
    """The numbers in a capture of numbered packets of 82 bytes, in their order."""
    data = memoryview(path.read_bytes())[24:]
    record = struct.Struct("<8xII42x8s8x8s16x")
    assert len(data) % record.size == 0, f"{path}: its last record is incomplete"
    numbers = []
    for captured, wire, magic, number in record.iter_unpack(data):
        assert captured == wire == NUMBERED_BYTES and magic == MAGIC
        numbers.append(int.from_bytes(number, "big"))
    return numbers
