# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tests wait for states and judge no speed: machines stall for seconds, and share their cores."""

import ast
import re

from source import Finding

FOLDERS = ("tests/pipeline/", "tests/crash/", "tests/golden/", "tests/dashboards/",
           "tests/harness/")
# What must not happen can only be given time to happen: then a stall hides a fault, and makes none.
NEGATIVE = r"not |.*\bis None\b|.*\bpoll\(\)"
SLEEP = re.compile(r"\btime\.sleep\([^\n]*\n\s*assert (?!" + NEGATIVE + ")")
CLOCK = r"(?:time\.(?:monotonic|time|perf_counter)\(\)|\b(?:elapsed|took)\b)"
SPEED = re.compile(rf"\bassert [^\n]*(?:[<>]=?[^\n]*{CLOCK}|{CLOCK}[^\n]*[<>]=? )")
# A source that has to outlast the commands of a test ends before them on a slow machine.
COUNT, RATE = r"\bcount: [1-9]\d*", r"\brate_mpps: 0?\.?\d*[1-9]"
LOAD = re.compile(rf"{COUNT}[^\n}}]*{RATE}|{RATE}[^\n}}]*{COUNT}")


def is_own_limit(node):
    """`wait_until(condition, 30, what)`: a number where others have PATIENCE, or times of it."""
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return False
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    return name == "wait_until" and isinstance(node.args[1], ast.Constant)


def waits(file):
    if not (file.path.startswith(FOLDERS) and file.path.endswith(".py")):
        return
    for pattern, instead in (
            (SLEEP, "an assertion behind a sleep: wait_until() it holds"),
            (SPEED, "a verdict by the clock: count what happened instead"),
            (LOAD, "a load of so many packets at a rate: count: 0, and drain it")):
        for match in pattern.finditer(file.text):
            yield Finding("waits", file.path, file.line_of(match.start()), instead)
    for node in filter(is_own_limit, ast.walk(ast.parse(file.text))):
        yield Finding("waits", file.path, node.lineno,
                      "a limit of its own: PATIENCE, which only failures wait for")


FILE_RULES = (waits,)
