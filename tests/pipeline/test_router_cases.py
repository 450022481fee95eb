# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The function `route` does what tests/golden/router-cases say, and counts what it drops."""

import os

import pytest

from router_cases import FILES, read_cases, run_case
from router_groups import check_all, world_of_groups
from router_millrace import MillraceRouter

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")


@pytest.mark.parametrize("name", FILES)
def test_route_does_what_the_cases_say(tmp_path, name):
    world, cases = read_cases(name)
    failures = []
    with MillraceRouter(world, tmp_path) as router:
        for case in cases:
            wrong = run_case(case, router.hosts, world)
            dropped, answered = router.ended()
            # What is answered is consumed, not dropped.
            missing = [reason for reason in case.drops if not dropped.get(reason)]
            if missing and not answered and not case.ours:
                wrong.append(f"dropped {dropped}, not {missing}")
            if case.ours:
                wrong = [] if wrong else [f"it does what RFCs say, though: {case.ours}"]
            if wrong:
                failures.append(f"{name}.cases:{case.line}: {case.name}\n     "
                                + "\n     ".join(wrong))
    assert not failures, "\n".join(failures)


def test_flows_are_shared_out_to_several_next_hops(tmp_path):
    with MillraceRouter(world_of_groups(), tmp_path) as router:
        check_all(router.hosts)
