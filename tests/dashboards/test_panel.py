# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A panel's source: what is wrong in it is refused by name."""

import pytest

import panel as source_panel


def test_a_source_that_is_wrong_is_refused():
    good = {"title": "x", "type": "stat", "size": [4, 4], "means": "y", "do": "z", "unit": "s",
            "queries": [{"expr": "x"}]}
    source_panel.check("good", good)
    for change, word in (({"do": ""}, "has no do"), ({"type": "graph"}, "type graph"),
                         ({"colour": 1}, "colour"), ({"type": "table"}, "column"),
                         ({"title": "x" * 21}, "longer than 20"),
                         ({"queries": [{"expr": "x", "color": "red"}]}, "color")):
        with pytest.raises(source_panel.Refused, match=word):
            source_panel.check("panel", good | change)
