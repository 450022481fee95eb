# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of tests/golden/router-cases against the Linux kernel: it does the same, except where a
case says that it differs, and then it does."""

import os

import pytest

from router_cases import FILES, KernelRouter, read_cases, run_case
from router_groups import check_all, world_of_groups

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")


def test_there_are_cases_of_every_area():
    assert sum(len(read_cases(name)[1]) for name in FILES) >= 150


@needs_root
@pytest.mark.parametrize("name", FILES)
def test_the_kernel_does_what_the_cases_say(name):
    world, cases = read_cases(name)
    failures = []
    with KernelRouter(world) as router:
        for case in cases:
            wrong = run_case(case, router.hosts, world)
            if bool(wrong) != bool(case.differs):
                said = "\n     ".join(wrong) or f"the same, though it differs: {case.differs}"
                failures.append(f"{name}.cases:{case.line}: {case.name}\n     {said}")
    assert not failures, "\n".join(failures)


@needs_root
def test_the_kernel_shares_flows_out_as_we_do():
    with KernelRouter(world_of_groups()) as router:
        check_all(router.hosts)
