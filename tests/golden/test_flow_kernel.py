# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of tests/golden/flow-cases against the Linux kernel's conntrack: each packet passes or
not as its case says, except where the case says that Linux differs, and then it does."""

import os
import shutil

import pytest

from flow_cases import POLICIES, failures, kernel_filter, play, read_cases

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root")
needs_nft = pytest.mark.skipif(shutil.which("nft") is None, reason="needs nft")


def test_there_are_cases_of_every_area():
    assert len(read_cases()) >= 150


@needs_root
@needs_nft
@pytest.mark.parametrize("policy", POLICIES)
def test_the_kernel_does_what_the_cases_say(policy):
    cases = [case for case in read_cases() if case.policy == policy]
    with kernel_filter(policy) as router:
        plays = play(cases, router.hosts, router.world)
    wrong = failures(plays, lambda case: case.differs)
    assert not wrong, "\n".join(wrong)
