# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`flow` and `firewall` with the rules that the kernel has, for tests/golden/flow-cases."""

import subprocess

from flow_cases import LASTING, TIMES, load_rules
from router_millrace import MillraceRouter, topology_text

POLICIES = {"": "", "strict": ", pickup: false", "liberal": ", liberal: true"}
FUNCTIONS = """functions:
  flow: {{ type: flow, max: 10000{policy}{times} }}
  firewall: {{ type: firewall, nft: rules.json, non_ip: pass }}
"""


class MillraceFilter(MillraceRouter):
    """`with MillraceFilter(world, folder, policy) as router:` as MillraceRouter."""

    def __init__(self, world, folder, policy):
        super().__init__(world, folder)
        self.policy = POLICIES[policy]

    def topology(self, cables):
        (self.folder / "rules.json").write_text(load_rules(cables))
        subprocess.run([*cables.prefix, "nft", "flush", "ruleset"], check=True)
        text = topology_text(self.world).replace("run: [router]", "run: [flow, firewall, router]")
        return text.replace("functions:\n", FUNCTIONS.format(
            policy=self.policy, times="".join(f", {time}: {LASTING}" for time in TIMES)))
