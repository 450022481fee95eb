# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Where the shared data and the built programs lie; every frame of the shared captures."""

import atexit
import functools
import os
import pathlib
import shutil
import struct
import tarfile
import tempfile

import pytest

from capture_records import ETHERNET, ethernet_captures, packets_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MILLRACE_BUILD", ROOT / "build/release"))


def shared_folder():
    """Where the shared data lies; skips the test when it is not there."""
    folder = pathlib.Path(os.environ.get("MILLRACE_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no shared data at {folder} (MILLRACE_SHARED)")
    return folder


@functools.cache
def extracted(archive):
    """A folder with what is in the archive, until this process ends: tests share it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="millrace-shared-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return folder


def unpack(name):
    """The folder of `name`.tar.xz of the shared data, unpacked; to be read only."""
    return extracted(shared_folder() / "data" / f"{name}.tar.xz") / name


def captured_frames():
    """(capture, number of the packet from 1, bytes) of every packet of every Ethernet capture."""
    captures = ethernet_captures(unpack("pcap"))
    assert len(captures) > 850
    return [(path.name, number, packet[0]) for path in captures
            for number, packet in enumerate(packets_of(path)[1], 1)]


def write_capture(path, frames):
    """A classic capture; times are the packets' numbers in microseconds."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, ETHERNET))
        for number, frame in enumerate(frames):
            out.write(struct.pack("<IIII", number // 10**6, number % 10**6, len(frame),
                                  len(frame)))
            out.write(frame)
    return path
