# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""ids gives the alerts that Suricata gives, by the cases that its makers publish.

ids-cases/suricata-verify.txt names each case that differs, with its cause. One that differs and is
not there fails, and so does one that is there and agrees: the file says what is so.
"""

import pathlib
from collections import Counter

import pytest

from ids_verify import cases, judge

KNOWN = pathlib.Path(__file__).parent / "ids-cases/suricata-verify.txt"


def known_differences():
    """case -> cause."""
    lines = [line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


@pytest.mark.parametrize("level", ["basic", "http", "http-evader", "advanced"])
def test_alerts_are_those_of_suricata(level, tmp_path):
    evader = level == "http-evader"
    chosen = [case for case in cases({"http"} if evader else {level})
              if case.name.startswith("http-evader") == evader]
    judged = {case.name: judge(case, tmp_path) for case in chosen}
    results = Counter(one.result for one in judged.values())
    print(f"{level}: right {results['right']}, wrong {results['wrong']}, "
          f"cannot judge {results['cannot judge']}")
    for name, one in judged.items():
        if one.result != "right":
            print(f"  {one.result}: {name}: {one.why}")
    differ = {name for name, one in judged.items() if one.result == "wrong"}
    known = {name for name in known_differences() if name in judged}
    assert sorted(differ - known) == [], "these differ"
    assert sorted(known - differ) == [], "these agree: take them off the list"
    assert results["right"] > results["wrong"]
