# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""ids tells of transactions and drops as Suricata does, by the cases that its makers publish.

ids-cases/suricata-verify-apps.txt names each case that differs, with its cause. One that differs
and is not there fails, and so does one that is there and agrees.
"""

import pathlib
from collections import Counter

from ids_verify import cases
from ids_verify_apps import judge

KNOWN = pathlib.Path(__file__).parent / "ids-cases/suricata-verify-apps.txt"


def test_lines_of_transactions_are_those_of_suricata(tmp_path):
    lines = [line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
    known = dict(line.split(": ", 1) for line in lines)
    judged = {}
    for number, case in enumerate(cases({"basic", "http", "advanced", "norules"})):
        folder = tmp_path / str(number)
        folder.mkdir()
        judged[case.name] = judge(case, folder)
    results = Counter(one.result for one in judged.values())
    print(f"right {results['right']}, wrong {results['wrong']}, "
          f"cannot judge {results['cannot judge']}")
    for name, one in judged.items():
        if one.result != "right" and one.why != "no checks of these lines":
            print(f"  {one.result}: {name}: {one.why}")
    differ = {name for name, one in judged.items() if one.result == "wrong"}
    assert sorted(differ - set(known)) == [], "these differ"
    assert sorted(set(known) - differ) == [], "these agree: take them off the list"
    assert results["right"] > results["wrong"]
