# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The collection of wrong topologies in topology-errors/, as README.md there describes it."""

import dataclasses
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = HERE.parents[1] / "orchestration/schema/topology.schema.json"
USUAL = {"millrace:": "millrace: 1",
         "ports:": "ports: {a: {device: null}, b: {device: null}}",
         "paths:": "paths: {p: {from: a, to: b}}"}


@dataclasses.dataclass
class Case:
    """A topology of one file or several, and what is said about it."""

    section: str
    name: str
    files: dict = dataclasses.field(default_factory=lambda: {"t.yaml": []})
    modes: dict = dataclasses.field(default_factory=dict)
    expected: list = dataclasses.field(default_factory=list)

    def write(self, folder):
        """Lays the files out in `folder`; returns the topology's."""
        folder.chmod(0o755)
        for name, lines in self.files.items():
            file = folder / name
            file.parent.mkdir(exist_ok=True)
            file.write_text("".join(line + "\n" for line in lines))
            file.chmod(self.modes.get(name, 0o600 if not name.endswith(".yaml") else 0o644))
        return folder / "t.yaml"


def devices():
    """The names of all devices, as messages list them."""
    ports = json.loads(SCHEMA.read_text())["$defs"]["port"]["oneOf"]
    rules = [port["properties"]["device"] for port in ports]
    return ", ".join(sorted(rule.get("const") or rule["enum"][0] for rule in rules))


def add_usual(case):
    """What the topology does not say itself, behind its own lines."""
    lines = case.files["t.yaml"]
    whole = case.section == "document" and any(line.startswith("millrace:") for line in lines)
    if whole or (lines and lines[0][:1] in "-#"):
        return
    for start, line in USUAL.items():
        if not any(own.startswith(start) for own in lines):
            lines.append(line)


def cases_of(file):
    """The cases of one file, in its order."""
    cases, at = [], None
    for line in file.read_text().splitlines():
        if line.startswith("== "):
            cases.append(Case(file.stem, line[3:]))
            at = "t.yaml"
        elif line.startswith("-- file "):
            at, *mode = line[8:].split()
            cases[-1].files[at] = []
            if mode:
                cases[-1].modes[at] = int(mode[0], 8)
        elif line.startswith("=> "):
            cases[-1].expected.append(line[3:].replace("DEVICES", devices()))
        else:
            cases[-1].files[at].append(line)
    for case in cases:
        add_usual(case)
    return cases


CASES = [case for file in sorted((HERE / "topology-errors").glob("*.txt"))
         for case in cases_of(file)]
