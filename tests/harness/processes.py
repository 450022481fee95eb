# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What /proc says of processes."""

import os
import pathlib
import re
import time

TICKS = os.sysconf("SC_CLK_TCK")
# Seconds after which a test says that something does not come. What comes ends the wait at once, so
# only a failure takes as long, and a busy host is none.
PATIENCE = 120
POLL = 0.05  # seconds between two polls; shorter at first, as most of what is awaited is near
MOST = 3.0  # seconds between two polls that count: more says that the host stood still


def stat_fields(pid):
    """The fields of /proc/PID/stat behind the name, from "state" on."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return text[text.rfind(")") + 2:].split()


def start_time(pid):
    """Ticks since boot at which the process started: with the pid, which process it is."""
    return int(stat_fields(pid)[19])


def memory_bytes(pid):
    """Of a process: what it shares with others in equal parts, huge pages in full."""
    kilobytes = 0
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.split(":")[0] in ("Pss", "Private_Hugetlb", "Shared_Hugetlb"):
            kilobytes += int(line.split()[1])
    return kilobytes * 1024


def status_megabytes(pid, key):
    """Of a process: a size of its /proc status, as RssAnon, which it has for itself, or VmRSS."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(rf"^{key}:\s+(\d+) kB", status, re.MULTILINE)[1]) / 1024


def sleeps(pid):
    """How often its main thread has given a processor away to wait for something."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("voluntary_ctxt_switches:"):
            return int(line.split()[1])
    raise ValueError(f"no switches of process {pid}")


def cpu_seconds(pid):
    """User and system time of all its threads so far."""
    fields = stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / TICKS


def is_running(pid):
    try:
        return stat_fields(pid)[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def executable(pid):
    return os.readlink(f"/proc/{pid}/exe")


def processes_of(run_dir):
    """pid -> executable of every process whose command line names the run directory."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if os.fsencode(run_dir) in words and is_running(int(entry.name)):
                found[int(entry.name)] = executable(int(entry.name))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def wait_none(run_dir):
    """Until no process names it: one that was killed ends as soon as it gets a processor."""
    wait_until(lambda: not processes_of(run_dir), PATIENCE,
               lambda: f"all have ended: {processes_of(run_dir)}")


def telemetry_pid(run_dir):
    """Of the topology that runs there."""
    return next(pid for pid, path in processes_of(run_dir).items()
                if os.path.basename(path) == "millrace-telemetry")


def wait_until(condition, seconds, what):
    """Polls until the condition gives something true, which is returned. `what` is awaited: a text,
    or what gives one at the end. Of the time between two polls no more than MOST counts: what is
    awaited may have stood still as well, and a command that asks for it too; a tenth of `seconds`
    where that is more, as a command that gives up late is no such one."""
    left, pause = seconds, POLL / 16
    while True:
        before = time.monotonic()
        value = condition()
        if value:
            return value
        if left <= 0:
            raise AssertionError(f"after {seconds} s: not {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(2 * pause, POLL)
        left -= min(time.monotonic() - before, max(MOST, seconds / 10))
