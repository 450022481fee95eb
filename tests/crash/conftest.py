# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Where the tests' own modules lie; what every test of real processes needs."""

import os
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
for folder in ("harness", "golden"):
    sys.path.insert(0, str(TESTS / folder))

import topology  # noqa: E402

# No actor is to be found hung because this host is busy: the longest limit. A test of that sets its
# own.
topology.Topology.heartbeat_limit = "60s"


@pytest.fixture
def seed():
    """Printed with a failure; MILLRACE_SEED repeats it."""
    given = os.environ.get("MILLRACE_SEED")
    value = int(given) if given else int.from_bytes(os.urandom(4), "big")
    print(f"MILLRACE_SEED={value}")
    return value
