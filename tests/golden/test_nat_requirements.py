# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""nat-requirements.table and nat64-requirements.table have each requirement of their RFCs once, and
each test that they name is there."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
HEAD = re.compile(r"rfc (\d+) of (\d+): ")
REQUIREMENT = re.compile(r"(REQ-\d+|[\d.]+/\d+) (met|by|part|none) (.+)")
GOOGLE_TEST = re.compile(r"TEST(?:_F|_P)?\((\w+),\s*(\w+)\)")
CASE = re.compile(r"^case (.+)$", re.MULTILINE)
BY_NUMBER = {"4787", "5382", "5508"}
BY_SECTION = {"6146", "7915"}


def place_of(name):
    """Of REQ-N or SECTION/N: (section, N)."""
    *section, number = (int(part) for part in re.findall(r"\d+", name))
    return tuple(section), number


def read_table():
    """{RFC: (how many, {place: (how, [tests])})}; a case of nat64.golden is "case NAME"."""
    table, rows = {}, None
    lines = [line for name in ("nat-requirements.table", "nat64-requirements.table")
             for line in (HERE / name).read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if head := HEAD.match(line):
            rows = {}
            table[head[1]] = (int(head[2]), rows)
        elif one := REQUIREMENT.match(line):
            last = place_of(one[1])
            assert last not in rows, f"twice: {line}"
            rows[last] = (one[2], [])
        elif line.startswith(("  test ", "  case ")):
            rows[last][1].append(line.strip().removeprefix("test "))
        else:
            assert line.startswith("  "), line
    return table


def names_of_google_tests():
    return {f"{suite}.{name}" for folder in ("unit", "golden")
            for file in (SOURCE / "tests" / folder).rglob("*_test.cpp")
            for suite, name in GOOGLE_TEST.findall(file.read_text(encoding="utf-8"))}


def test_each_requirement_stands_there_once_in_order():
    table = read_table()
    assert set(table) == BY_NUMBER | BY_SECTION
    for rfc, (count, rows) in table.items():
        if rfc in BY_NUMBER:
            assert list(rows) == [((), number) for number in range(1, count + 1)]
            continue
        assert list(rows) == sorted(rows), f"RFC {rfc}"
        assert len(rows) == count, f"RFC {rfc}"
        for section, number in rows:
            assert number == 1 or (section, number - 1) in rows, f"RFC {rfc}: {section} {number}"


def test_what_is_met_is_shown():
    for rfc, (_, rows) in read_table().items():
        for number, (how, tests) in rows.items():
            assert (how == "none") == (not tests), f"RFC {rfc} {number}"


def test_tests_that_are_named_exist():
    known = names_of_google_tests()
    cases = {f"case {name}"
             for name in CASE.findall((HERE / "nat64.golden").read_text(encoding="utf-8"))}
    for _, rows in read_table().values():
        for _, tests in rows.values():
            for name in tests:
                file, _, function = name.partition("::")
                if name.startswith("case "):
                    assert name in cases, name
                elif function:
                    text = (SOURCE / file).read_text(encoding="utf-8")
                    assert f"def {function}(" in text, name
                else:
                    assert name in known, name
