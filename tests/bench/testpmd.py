# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""DPDK's own forwarder on DPDK's null driver, which gives packets without an end and takes all of
them: one core, both directions of two ports."""

import re
import shutil
import subprocess
import time

NAMES = ("dpdk-testpmd", "testpmd")


def mpps(cores, seconds, mode="io", size=60):
    """Millions of packets a second of one forwarding core, or None where it is not installed.
    `mode`: io (packets as they are), mac (with other MAC addresses). The first core is for its
    command line."""
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        return None
    words = [program, "-l", f"{cores[0]},{cores[-1]}", "--in-memory", "--no-pci",
             "--no-telemetry", "-m", "128", "--vdev", f"net_null0,size={size}", "--vdev",
             f"net_null1,size={size}", "--", "-i", f"--forward-mode={mode}",
             "--total-num-mbufs=16383"]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    try:
        # A moment to come up, one to warm up; packets since the statistics were cleared.
        for command, wait in (("", 4), ("start", 0.5), ("clear port stats all", seconds),
                              ("show port stats all", 0.2), ("stop", 0.2), ("quit", 0)):
            child.stdin.write(command + "\n")
            child.stdin.flush()
            time.sleep(wait)
        text = child.communicate(timeout=30)[0]
    finally:
        child.kill()
        child.wait()
    # Both ports receive and send: one core's work is what both transmit.
    shown = text[text.find("NIC statistics"):text.find("Telling cores to stop")]
    counts = [int(count) for count in re.findall(r"TX-packets: (\d+)", shown)]
    return sum(counts) / seconds / 1e6 if len(counts) == 2 else None
