# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""nat64.golden is what nat64_table.py makes; version_change_test.cpp reads it."""

import nat64_table


def test_the_table_is_what_scapy_makes():
    assert nat64_table.TABLE.read_text() == nat64_table.table(), (
        "run: python3 tests/golden/nat64_table.py")
