# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What an operator with ten seconds sees, by the JSON of the panels: colours, units, places."""

import re

import pytest
import yaml

import panels
from panels import ROOT

ALL = panels.dashboards()
BY_PANEL = [pytest.param(panel, id=f"{one['uid']}: {panel['title']}")
            for one in ALL.values() for panel in panels.panels(one)]
OF_TYPE = {kind: [one for one in BY_PANEL if one.values[0]["type"] == kind]
           for kind in ("timeseries", "stat", "table", "heatmap", "state-timeline")}
FIRST_ROW = ["Received", "Transmitted", "Dropped by policy", "Refused and lost",
             "In the time shown", "Latency p99", "Workers missing", "Alerts", "Unaccounted"]
NOT_A_TERM = ("half", "99 of 100", "999 of 1,000", "how long they took", "at the door",
              "what becomes of", "gone past")
NEUTRAL = {"text", "transparent"}


def overview(title):
    return next(panel for panel in panels.panels(ALL["millrace-overview"])
                if panel["title"] == title)


def defaults(panel):
    return panel["fieldConfig"]["defaults"]


def base_colour(thresholds):
    assert thresholds["steps"][0]["value"] is None
    return thresholds["steps"][0]["color"]


@pytest.mark.parametrize("panel", OF_TYPE["state-timeline"])
def test_a_dead_worker_has_its_own_word_and_colour(panel):
    """By thresholds a state timeline shows their range, "-∞+", in the colour of the first."""
    assert defaults(panel)["color"]["mode"].startswith("palette-")
    states = defaults(panel)["mappings"][0]["options"]
    assert states["0"]["text"] == "down" and states["1"]["text"] == "up"
    assert states["0"]["color"] != "green" == states["1"]["color"]


def test_the_first_row_says_what_came_left_and_was_lost_whatever_lost_it():
    places = {panel["title"]: panel["gridPos"] for panel in panels.panels(ALL["millrace-overview"])}
    top = min(place["y"] for place in places.values())
    assert [title for title, place in places.items() if place["y"] == top] == FIRST_ROW
    for title, asked in (
            ("Dropped by policy", ["millrace_drops_total", 'cause=~"policy|packet"']),
            ("Refused and lost", ["millrace_port_missed_packets_total", 'cause="loss"']),
            ("In the time shown", ["millrace_port_missed_packets_total", 'cause="loss"',
                                   "[$__range]"])):
        text = " ".join(target["expr"] for target in overview(title)["targets"])
        assert all(part in text for part in asked), title
    for title in FIRST_ROW[:4] + ["Latency p99", "Workers missing"]:
        assert overview(title)["options"]["graphMode"] == "area", title


def test_drops_by_reason_lie_beside_the_alerts_below_the_first_row():
    alerts, drops = overview("Firing alerts")["gridPos"], overview("Drops by reason")["gridPos"]
    assert alerts["y"] == drops["y"] == overview("Received")["gridPos"]["y"] + 4
    assert "millrace_port_missed_packets_total" in overview("Drops by reason")["targets"][1]["expr"]


@pytest.mark.parametrize("panel", OF_TYPE["stat"])
def test_only_a_threshold_gives_a_number_a_colour_and_nothing_unknown_has_one(panel):
    assert base_colour(defaults(panel)["thresholds"]) == "text"
    if len(defaults(panel)["thresholds"]["steps"]) > 1:
        assert {"red", "orange"} & {step["color"]
                                    for step in defaults(panel)["thresholds"]["steps"]}


@pytest.mark.parametrize("panel", OF_TYPE["table"])
def test_in_a_table_what_is_not_known_has_no_colour(panel):
    assert base_colour(defaults(panel)["thresholds"]) in NEUTRAL
    for override in panel["fieldConfig"]["overrides"]:
        given = {one["id"]: one["value"] for one in override["properties"]}
        if "custom.cellOptions" in given:
            assert base_colour(given["thresholds"]) == "transparent", override["matcher"]


@pytest.mark.parametrize("panel", BY_PANEL)
def test_no_unit_says_milli_for_what_is_below_one(panel):
    units = [defaults(panel)["unit"]] + [
        one["value"] for override in panel["fieldConfig"]["overrides"]
        for one in override["properties"] if one["id"] == "unit"]
    assert not {"pps", "si:p/s", "packets/s"} & set(units), "667 mp/s reads as mega"


def test_places_that_nobody_takes_are_not_shown_like_workers():
    workers = overview("Workers")
    assert 'state!~"alive|vacant"' in workers["targets"][2]["expr"]
    colours = {override["matcher"]["options"]: override["properties"][0]["value"]["fixedColor"]
               for override in workers["fieldConfig"]["overrides"]}
    legends = {target["refId"]: target["legendFormat"] for target in workers["targets"]}
    assert {legends[letter]: colour for letter, colour in colours.items()}["missing"] == "red"


@pytest.mark.parametrize("panel", BY_PANEL)
def test_terms_are_those_of_the_field_and_titles_are_short(panel):
    assert len(panel["title"]) <= 20
    said = [panel["title"], *(target["legendFormat"] for target in panel["targets"])]
    for term in NOT_A_TERM:
        assert not any(re.search(rf"\b{term}\b", text.lower()) for text in said), said


@pytest.mark.parametrize("panel", OF_TYPE["timeseries"])
def test_axes_fills_and_legends(panel):
    custom, legend = defaults(panel)["custom"], panel["options"]["legend"]
    logarithmic = custom["scaleDistribution"]["type"] == "log"
    assert defaults(panel).get("min") == (None if logarithmic else 0)
    assert (custom["fillOpacity"] > 0) == (custom["stacking"]["mode"] != "none")
    assert legend["displayMode"] == "table" and legend["calcs"][0] == "lastNotNull"
    assert legend["sortBy"] == "Last *"
    assert legend["sortDesc"] == (panel["title"] != "Free slots"), "the worst comes first"
    assert legend["placement"] == "right" or panel["gridPos"]["h"] >= 10, "room for all"


@pytest.mark.parametrize("panel", OF_TYPE["timeseries"])
def test_what_has_a_limit_shows_it_as_a_line(panel):
    lines = {"Busy": 0.95, "Ingress busy": 0.95, "Links, filled": 0.8, "Free slots": 0.1,
             "Load of the link": 0.95, "Table used": 0.8, "Pool used": 0.8}
    style = defaults(panel)["custom"]["thresholdsStyle"]["mode"]
    assert style == ("dashed" if panel["title"] in lines else "off")
    if panel["title"] in lines:
        assert defaults(panel)["thresholds"]["steps"][1]["value"] == lines[panel["title"]]


@pytest.mark.parametrize("panel", OF_TYPE["heatmap"])
def test_a_heat_map_covers_the_range_that_is_used(panel):
    assert all("histogram_quantile(1, " in target["expr"] and "> 0 < scalar(max(" in target["expr"]
               for target in panel["targets"])


def test_an_alert_has_the_colour_of_its_severity_and_leads_to_its_runbook():
    columns = {override["matcher"]["options"]: {one["id"]: one["value"]
                                                for one in override["properties"]}
               for override in overview("Firing alerts")["fieldConfig"]["overrides"]}
    severity = columns["severity"]["mappings"][0]["options"]
    assert {name: one["color"] for name, one in severity.items()} == {
        "critical": "red", "warning": "orange"}
    assert columns["severity"]["custom.cellOptions"]["type"] == "color-background"
    assert "${__value.raw}" in columns["alertname"]["links"][0]["url"]
    rules = yaml.safe_load((ROOT / "dashboards/prometheus/alerts.yml").read_text())["groups"]
    says = columns["runbook"]["mappings"][0]["options"]
    assert set(says) == {rule["alert"] for group in rules for rule in group["rules"]
                         if "alert" in rule}
    assert all(10 < len(one["text"]) < 150 for one in says.values())


def test_the_backend_in_use_is_the_first_column_of_the_gpu_board():
    table = panels.panels(ALL["millrace-gpu"]).__next__()
    order = table["transformations"][1]["options"]["indexByName"]
    assert order["backend"] == 0 and len(order) <= 4, "further columns would not fit"


@pytest.mark.parametrize("one", ALL.values(), ids=ALL)
def test_links_are_one_drop_down_and_the_question_is_one_row(one):
    assert [link["asDropdown"] for link in one["links"]] == [True]
    assert len(one["panels"][0]["options"]["content"]) <= 130


@pytest.mark.parametrize("one", ALL.values(), ids=ALL)
def test_marks_are_thin_and_one_kind_an_event(one):
    marks = one["annotations"]["list"]
    colours = [mark["iconColor"] for mark in marks]
    assert len(set(colours)) == len(colours) and all(mark["name"] for mark in marks)
    for mark in marks:
        assert mark["useValueForTime"] and mark["step"] == "1s", "at the change, not at a point"
        assert "{{" in mark["titleFormat"], "what it happened to"
        asked = re.fullmatch(r"1000 \* max_over_time\(timestamp\((.*) (!=|>|<) last_over_time\((.*)"
                             r"\[1m\] offset 1s\)\)\[\$__interval:1s\]\)", mark["expr"])
        assert asked[1] == asked[3]
    asked = " ".join(mark["expr"] for mark in marks)
    assert "recoveries" not in asked, "each recovery is a crash, a hang or a replacement already"
