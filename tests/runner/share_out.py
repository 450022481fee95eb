# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs folders of pytest files by several workers, each file whole by one of them.

    share_out.py [--workers N] FOLDER... [-- ARGUMENT OF PYTEST...]

Each file runs in a mount namespace with a /run/millrace, /dev/shm and /run/netns of its own, so
that files that look at what runs on the host do not meet. Those of ALONE judge the whole host:
they run when the others have ended. The longest begin first, by the times of the last run
(MILLRACE_CACHE, else ~/.cache/millrace). Prints what each file printed when it has ended, then
the counts of each folder and of all; exit status 0 if nothing failed and something of each folder
passed.

Most tests wait most of the time: with more workers than processors a run is shorter.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ALONE = tuple(f"pipeline/test_{name}.py" for name in ("running", "rights", "hosts", "package"))
LIMIT_SECONDS = 3600  # of one file: it hangs
COUNTS = re.compile(r"(\d+) (passed|failed|skipped|error|deselected)")
NAMESPACE = """
mount --make-rprivate /
for at in /run/millrace /run/netns /dev/shm; do
  mkdir -p "$at"; mount -t tmpfs -o mode=1777 none "$at"
done
chmod 755 /run/millrace /run/netns
exec "$@"
"""


def times_file():
    home = os.environ.get("MILLRACE_CACHE") or pathlib.Path.home() / ".cache/millrace"
    return pathlib.Path(home) / "times.json"


def read_times():
    """file -> seconds of its last run; none where nothing is known."""
    try:
        return json.loads(times_file().read_text())
    except (OSError, ValueError):
        return {}


def keep_times(times):
    times_file().parent.mkdir(parents=True, exist_ok=True)
    times_file().write_text(json.dumps(read_times() | times))


def longest_first(files, times):
    """What was never run may be the longest, and of several the one with the most text."""
    return sorted(files, key=lambda file: (-times.get(str(file), float("inf")),
                                           -file.stat().st_size))


def is_alone(file):
    return "/".join(file.parts[-2:]) in ALONE


def command_of(file, arguments):
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
              "-o", "tmp_path_retention_policy=failed", "-o", "faulthandler_timeout=600",
              *arguments, str(file)]
    if os.geteuid() != 0:
        return pytest
    return ["unshare", "--mount", "bash", "-ec", NAMESPACE, "bash", *pytest]


def run_file(file, arguments):
    """(file, exit status, output, seconds). One that hangs is ended as by Ctrl-C."""
    began = time.monotonic()
    with subprocess.Popen(command_of(file, arguments), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        try:
            output, _ = process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate()
            output += f"\n{file}: ended after {LIMIT_SECONDS} s\n"
            process.returncode = process.returncode or 1
    return file, process.returncode, output, time.monotonic() - began


def counts_in(output):
    """Of the last line of pytest: how many passed, failed, were skipped."""
    lines = [line for line in output.splitlines() if COUNTS.search(line)]
    return {what: int(count) for count, what in COUNTS.findall(lines[-1])} if lines else {}


def run_files(files, workers, arguments, tell):
    """All of them; what `tell` gets is one of run_file()."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        runs = [pool.submit(run_file, file, arguments) for file in files]
        for run in concurrent.futures.as_completed(runs):
            tell(*run.result())


def split_at_dashes(words):
    """Ours, and pytest's behind `--`."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("folders", metavar="FOLDER", nargs="+", type=pathlib.Path)
    words, arguments = split_at_dashes(sys.argv[1:])
    options = parser.parse_args(words)
    total, times, bad = collections.Counter(), {}, []
    passed_in, seconds_of = collections.Counter(), collections.Counter()

    def tell(file, status, output, seconds):
        counts = counts_in(output)
        total.update(counts)
        passed_in[file.parent] += counts.get("passed", 0)
        seconds_of[file.parent] += seconds
        times[str(file)] = seconds
        if status not in (0, 5) or not counts:
            bad.append(str(file))
            print(output)
        passed = ", ".join(f"{count} {what}" for what, count in counts.items()) or "no result"
        print(f"{file}: {passed} in {seconds:.0f} s", flush=True)

    found = [file for folder in options.folders for file in sorted(folder.glob("test_*.py"))]
    files = longest_first(found, read_times())
    run_files([file for file in files if not is_alone(file)], options.workers, arguments, tell)
    run_files([file for file in files if is_alone(file)], 1, arguments, tell)
    keep_times(times)
    for folder in options.folders:
        print(f"{folder}: {passed_in[folder]} passed, {seconds_of[folder]:.0f} s of a worker")
    bad += [str(folder) for folder in options.folders if passed_in[folder] == 0]
    if bad:
        print("failed:", *bad)
    failed = total["failed"] + total["error"]
    print(f"{total['passed']} passed, {failed} failed, {total['skipped']} skipped")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
