# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The rules on how tests wait, each with what breaks it and what does not."""

import pytest

from source import File
from waits import waits


def findings(text, path="tests/pipeline/test_x.py"):
    return [(finding.line, finding.message.split(":")[0]) for finding in waits(File(path, text))]


@pytest.mark.parametrize("text, said", [
    ("time.sleep(1)\nassert done\n", "an assertion behind a sleep"),
    ("time.sleep(0.5)  # it takes a while\nassert running.audit()['x'] > 3\n",
     "an assertion behind a sleep"),
    ("assert used < (time.monotonic() - began) / 2\n", "a verdict by the clock"),
    ("assert time.monotonic() - began < 5\n", "a verdict by the clock"),
    ("IN = 'in: { device: generate, count: 3000, rate_mpps: 0.01 }'\n",
     "a load of so many packets at a rate"),
    ("IN = 'in: { device: generate, rate_mpps: 0.01, count: 3000 }'\n",
     "a load of so many packets at a rate"),
    ("wait_until(lambda: x(1), 5, 'x')\n", "a limit of its own"),
    ("wait_until(told(lambda one: 'x' in one[len('x')]), 30, 'x')\n", "a limit of its own"),
])
def test_what_depends_on_the_speed_of_a_machine_is_found(text, said):
    assert findings(text) == [(1, said)]
    assert findings(text, "tests/bench/run.py") == [], "a bench measures"


@pytest.mark.parametrize("text", [
    "time.sleep(1)\nassert not done\n",
    "time.sleep(1)\nassert applying.poll() is None\n",
    "time.sleep(1)\nrunning.kill('front.0')\n",
    "assert a < b\n",
    "IN = 'in: { device: generate, count: 0, rate_mpps: 0.01 }'\n",
    "IN = 'in: { device: generate, count: 3000 }'\n",
    "wait_until(lambda: x(1), PATIENCE, 'x')\n",
])
def test_what_does_not_is_left_alone(text):
    assert findings(text) == []
