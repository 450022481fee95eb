# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The dashboards as Grafana has them, and their queries as Grafana would send them."""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "dashboards/grafana"
NO_DATA_IS_A_FAULT = "–"  # noValue of panels that always have something to show
NO_NUMBER = " or vector(NaN)"  # end of a query whose curve goes on without a number
METRIC = re.compile(r"\bmillrace_[a-z0-9_]+")


def dashboards():
    """uid -> dashboard"""
    texts = [path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.json"))]
    return {one["uid"]: one for one in map(json.loads, texts)}


def panels(dashboard):
    """All that ask something, rows opened."""
    for panel in dashboard["panels"]:
        yield from (one for one in [panel, *panel.get("panels", [])] if one.get("targets"))


def may_be_empty(panel):
    return panel["fieldConfig"]["defaults"].get("noValue", NO_DATA_IS_A_FAULT) != NO_DATA_IS_A_FAULT


def interpolated(expression, topology, rate_seconds=4, **variables):
    """A query with its variables replaced; those not given are `All`."""
    values = {"topology": topology, "stage": ".*", "worker": ".*", "port": ".*",
              "__rate_interval": f"{rate_seconds}s", "__interval": "15s", "__range": "15m",
              **variables}
    for name, value in values.items():
        expression = re.sub(rf"\${{?{name}\b}}?", value, expression)
    # But those of label_replace.
    assert not re.search(r"\$(?!1\b|\{2\})", expression), expression
    return expression


def label_values(query, topology):
    """(selector, label) of a variable's query."""
    found = re.fullmatch(r"label_values\((.*), (\w+)\)", query)
    return interpolated(found[1], topology), found[2]


def metric_names(text):
    """Names as metrics.yaml has them: without what Prometheus adds to a histogram's."""
    return {re.sub(r"_(?:bucket|sum|count)$", "", name) for name in METRIC.findall(text)
            if name not in ("millrace_prometheus",)}
