# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`flow` and `firewall` let pass what tests/golden/flow-cases say, by the rules that the kernel has
in tests/golden/test_flow_kernel.py."""

import os
import shutil

import pytest

from flow_cases import POLICIES, failures, play, read_cases
from flow_millrace import MillraceFilter
from router_world import World

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root"),
              pytest.mark.skipif(shutil.which("nft") is None, reason="needs nft")]


@pytest.mark.parametrize("policy", POLICIES)
def test_flow_and_firewall_do_what_the_cases_say(tmp_path, policy):
    cases = [case for case in read_cases() if case.policy == policy]
    with MillraceFilter(World(), tmp_path, policy) as router:
        plays = play(cases, router.hosts, router.world)
    wrong = failures(plays, lambda case: case.ours)
    assert not wrong, "\n".join(wrong)
