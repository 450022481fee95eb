# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON is what its source makes, and what Grafana 10 and later can load."""

import itertools
import re
import subprocess
import sys

import pytest
import yaml

import build
import panel as source_panel
import panels
from panels import ROOT

ALL = panels.dashboards()
BY_PANEL = [pytest.param(panel, id=f"{one['uid']}: {panel['title']}")
            for one in ALL.values() for panel in panels.panels(one)]
# Whatever an angular panel was is gone in Grafana 11.
TYPES = {"row", "text", "timeseries", "stat", "table", "heatmap", "bargauge", "state-timeline"}


def test_the_json_is_up_to_date():
    done = subprocess.run([sys.executable, ROOT / "dashboards/build.py", "check"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_there_are_five_and_each_asks_one_question():
    assert set(ALL) == {f"millrace-{name}"
                        for name in ("overview", "latency", "workers", "gpu", "security", "flows")}
    for one in ALL.values():
        assert one["panels"][0]["type"] == "text" and "?" in one["panels"][0]["options"]["content"]
        assert "__inputs" not in one and one["schemaVersion"] >= 36
        assert [link["tags"] for link in one["links"]] == [["millrace"]]
        assert len(one["annotations"]["list"]) >= 2


def test_variables_come_before_what_depends_on_them():
    for one in ALL.values():
        known = set()
        for variable in one["templating"]["list"]:
            used = set(re.findall(r"\$(\w+)", str(variable.get("query", ""))))
            assert used <= known, variable
            known.add(variable["name"])
        assert {"datasource", "topology"} <= known
        asked = " ".join(target["expr"] for panel in panels.panels(one)
                         for target in panel["targets"])
        used = set(re.findall(r"\$([a-z_]\w*)", asked)) - {"__rate_interval", "__range"}
        assert used <= known
        assert known <= used | {"datasource"}, "a variable that no panel asks by"


def test_panels_lie_beside_each_other():
    for one in ALL.values():
        ids = [panel["id"] for panel in one["panels"]]
        assert len(set(ids)) == len(ids)
        places = [panel["gridPos"] for panel in one["panels"]]
        for place in places:
            assert 0 <= place["x"] and place["x"] + place["w"] <= build.COLUMNS
        for a, b in itertools.combinations(places, 2):
            assert (a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
                    or a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]), (a, b)
        assert {panel["type"] for panel in one["panels"]} <= TYPES


@pytest.mark.parametrize("panel", BY_PANEL)
def test_a_panel_says_what_it_means_and_what_to_do(panel):
    means, _, do = panel["description"].partition("\n\n**What to do:** ")
    assert len(means) > 30 and len(do) > 15
    references = [target["refId"] for target in panel["targets"]]
    assert len(set(references)) == len(references)
    for target in panel["targets"]:
        assert target["datasource"] == source_panel.SOURCE == panel["datasource"]
        assert 'topology="$topology"' in target["expr"]


@pytest.mark.parametrize("panel", BY_PANEL)
def test_what_is_named_in_a_panel_is_in_its_series(panel):
    """Labels of legends and links, which Grafana would leave empty without a word."""
    for target in panel["targets"]:
        grouped = set().union(*(re.split(r",\s*", labels) for labels in
                                re.findall(r"\bby \(([\w, ]+)\)", target["expr"])))
        legend = "" if target["legendFormat"] == "__auto" else target["legendFormat"]
        named = set(re.findall(r"\{\{(\w+)\}\}", legend))
        named |= set(re.findall(r"__field\.labels\.(\w+)",
                                str(panel["fieldConfig"]["defaults"]["links"])))
        assert named <= grouped, target["expr"]
    for link in panel["fieldConfig"]["defaults"]["links"]:
        assert re.match(r"/d/([\w-]+)\?", link["url"])[1] in ALL


def test_what_has_ended_is_not_shown_as_a_present_value():
    """A stat takes the last value of each series of a range: of what is over it would stay. One
    with a curve goes on to the present, with no number."""
    for one in ALL.values():
        for panel in panels.panels(one):
            if panel["type"] != "stat":
                continue
            defaults, shown = panel["fieldConfig"]["defaults"], panel["options"]
            assert defaults["noValue"]
            if shown["graphMode"] == "none":
                assert all(target["instant"] and not target["range"] for target in panel["targets"])
                continue
            assert shown["reduceOptions"]["calcs"] == ["last"]
            for target in panel["targets"]:
                assert target["range"] and target["expr"].endswith(") or vector(NaN)")
            none = [one["options"] for one in defaults["mappings"] if one["type"] == "special"]
            assert [one["match"] for one in none] == ["null+nan"]
            assert none[0]["result"]["text"] == defaults["noValue"]


@pytest.mark.parametrize("panel", BY_PANEL)
def test_what_there_is_not_is_no_number(panel):
    """Quantiles of nothing and 0 / 0 are NaN, which a stat prints and a legend keeps."""
    for target in panel["targets"]:
        shown = target["expr"].removesuffix(" or vector(NaN)").strip("()")
        if shown.startswith("histogram_quantile("):
            assert shown.endswith(" >= 0"), target["expr"]
        if re.search(r"/ \(sum by .*rate\(", target["expr"]):
            assert target["expr"].count("> 0)") == 1, target["expr"]


def test_a_topology_that_only_its_bypass_is_left_of_can_be_chosen():
    for one in ALL.values():
        query = next(variable["definition"] for variable in one["templating"]["list"]
                     if variable["name"] == "topology")
        assert re.search(panels.label_values(query, "t")[0].partition('~"')[2].rstrip('"}'),
                         "millrace_bypass_active")


def test_provisioning_names_what_is_there():
    folder = ROOT / "dashboards/provisioning"
    source = yaml.safe_load((folder / "datasources/millrace.yaml").read_text())["datasources"][0]
    assert source["type"] == "prometheus" and source["url"] == "${MILLRACE_PROMETHEUS_URL}"
    scrape = yaml.safe_load((ROOT / "dashboards/prometheus/prometheus.yml").read_text())
    assert source["jsonData"]["timeInterval"] == scrape["scrape_configs"][0]["scrape_interval"]
    provider = yaml.safe_load((folder / "dashboards/millrace.yaml").read_text())["providers"][0]
    assert provider["type"] == "file" and provider["options"]["path"] == "${MILLRACE_DASHBOARDS}"
