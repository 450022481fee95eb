# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""nat-requirements.table has each requirement of its RFCs once, and each test that it names is
there."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
HEAD = re.compile(r"rfc (\d+) of (\d+): ")
REQUIREMENT = re.compile(r"REQ-(\d+) (met|by|part|none) (.+)")
GOOGLE_TEST = re.compile(r"TEST(?:_F|_P)?\((\w+),\s*(\w+)\)")
RFCS = {"4787", "5382", "5508"}


def read_table():
    """{RFC: (how many, {number: (how, [tests])})}"""
    table, rows = {}, None
    for line in (HERE / "nat-requirements.table").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if head := HEAD.match(line):
            rows = {}
            table[head[1]] = (int(head[2]), rows)
        elif one := REQUIREMENT.match(line):
            assert int(one[1]) not in rows, f"twice: {line}"
            rows[int(one[1])] = (one[2], [])
        elif line.startswith("  test "):
            rows[max(rows)][1].append(line.removeprefix("  test "))
        else:
            assert line.startswith("  "), line
    return table


def names_of_google_tests():
    return {f"{suite}.{name}" for folder in ("unit", "golden")
            for file in (SOURCE / "tests" / folder).rglob("*_test.cpp")
            for suite, name in GOOGLE_TEST.findall(file.read_text(encoding="utf-8"))}


def test_each_requirement_stands_there_once_in_order():
    table = read_table()
    assert set(table) == RFCS
    for count, rows in table.values():
        assert list(rows) == list(range(1, count + 1))


def test_what_is_met_is_shown():
    for rfc, (_, rows) in read_table().items():
        for number, (how, tests) in rows.items():
            assert (how == "none") == (not tests), f"RFC {rfc} REQ-{number}"


def test_tests_that_are_named_exist():
    known = names_of_google_tests()
    for _, rows in read_table().values():
        for _, tests in rows.values():
            for name in tests:
                file, _, function = name.partition("::")
                if function:
                    text = (SOURCE / file).read_text(encoding="utf-8")
                    assert f"def {function}(" in text, name
                else:
                    assert name in known, name
