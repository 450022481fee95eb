# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The function `route` does what tests/golden/router-cases say, and counts what it drops."""

import os

import pytest

from routed import MILLRACE_READY
from router_cases import FILES, read_cases, run_case
from router_millrace import MillraceRouter

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root"),
    pytest.mark.skipif(not MILLRACE_READY, reason="route answers no ARP yet")]


@pytest.mark.parametrize("name", FILES)
def test_route_does_what_the_cases_say(tmp_path, name):
    world, cases = read_cases(name)
    failures = []
    with MillraceRouter(world, tmp_path) as router:
        for case in cases:
            wrong = run_case(case, router.hosts, world)
            dropped = router.dropped()
            missing = [reason for reason in case.drops if not dropped.get(reason)]
            if missing:
                wrong.append(f"dropped {dropped}, not {missing}")
            if wrong:
                failures.append(f"{name}.cases:{case.line}: {case.name}\n     "
                                + "\n     ".join(wrong))
    assert not failures, "\n".join(failures)
