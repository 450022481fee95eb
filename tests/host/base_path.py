# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""base_path.py FOLDER: makes FOLDER, with a link to each program of a new Debian with git and make,
and of the packages that `make deps` installs. What is used and in none of them is missed there."""

import pathlib
import re
import subprocess
import sys

PACKAGES = pathlib.Path(__file__).resolve().parents[2] / "orchestration/host/packages.txt"
FOLDERS = ("bin", "sbin", "usr/bin", "usr/sbin")
FIRST = ["bash", "git", "make", "sudo"]


def installed():
    """name -> (priority, names that it depends on or provides)"""
    form = "${Package}\t${Priority}\t${Essential}\t${Pre-Depends}, ${Depends}\t${Provides}\n"
    lines = subprocess.run(["dpkg-query", "-W", "-f", form], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    found, provided = {}, {}
    for line in lines:
        name, priority, essential, depends, provides = line.split("\t")
        wanted = re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", depends)
        found[name] = (priority == "required" or essential == "yes", wanted)
        for other in re.findall(r"(?:^|,)\s*([a-z0-9][a-z0-9+.-]*)", provides):
            provided.setdefault(other, []).append(name)
    return found, provided


def closure():
    """Names of all packages of such a host."""
    found, provided = installed()
    listed = [line for line in PACKAGES.read_text().split("\n") if line and line[0] != "#"]
    todo = [name for name, (base, _) in found.items() if base] + FIRST + listed
    done = set()
    while todo:
        name = todo.pop()
        if name in done:
            continue
        done.add(name)
        todo += found[name][1] if name in found else provided.get(name, [])
    return done & found.keys()


def programs(packages):
    """Paths of what they have installed, and of alternatives that point to it."""
    listing = subprocess.run(["dpkg-query", "-L", *sorted(packages)], capture_output=True,
                             text=True, check=True).stdout
    owned = {pathlib.Path(line) for line in listing.splitlines() if "bin/" in line}
    owned |= {path.resolve() for path in owned if path.is_file()}
    for folder in FOLDERS:
        for path in sorted(pathlib.Path("/", folder).iterdir()):
            if path in owned or path.resolve() in owned:
                yield path


def main():
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True)
    for path in programs(closure()):
        link = target / path.name
        if not link.exists() and not link.is_symlink():
            link.symlink_to(path)


if __name__ == "__main__":
    main()
