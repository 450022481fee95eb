# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""One panel of a source as Grafana's JSON; what its source leaves out has a default here.

Keys of a panel: `title` (at most 20 characters), `type`, `size` (columns of 24, height), `means`
and `do` (its description), `unit` and `queries`; `spark` (a stat has a curve), `worst: low` (the
lowest value is the worst one), `steps` ([[colour, from], ...]; of a timeseries its threshold
lines), `mappings` ({value: [text, colour]}), and others of PANEL_KEYS by Grafana's names.
"""

import functools
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
TITLE_MAX = 20
PANEL_KEYS = {"title", "type", "size", "means", "do", "unit", "queries", "min", "max", "decimals",
              "steps", "mappings", "stack", "options", "columns", "drill", "empty", "log", "spark",
              "worst"}
QUERY_KEYS = {"expr", "histogram", "legend", "column", "unit", "decimals", "steps", "mappings",
              "colour"}
TYPES = ("timeseries", "stat", "table", "heatmap", "state-timeline")
# Grafana's own `pps` says milli below one: "667 mp/s" reads as mega.
UNITS = {"pps": "count:p/s"}
NOW_POINTS = 10000  # keeps $__rate_interval short in a stat however long the range is
UNKNOWN = "–"
LEGEND_BESIDE = 8  # columns of 24 from which on there is room for the legend on the right
MAXIMUM_TOO = 12


# Numbers of count_values -> labels of the exposition, which has 16 digits and exponents.
BOUNDS = (("0[.]0000([1-9])([0-9]*)", "$1.${2}e-05"), ("0[.]00000([1-9])([0-9]*)", "$1.${2}e-06"),
          ("8[.]192e-06", "8.192000000000001e-06"), ("0[.]008388608", "0.008388608000000001"))


class Refused(Exception):
    """A source breaks a rule of this format."""


def thresholds(steps, unknown="text"):
    """The first colour holds from 0: what is not known, below, has a neutral one."""
    rows = [[colour, value or 0] for colour, value in steps or []]
    return {"mode": "absolute", "steps": [{"color": colour, "value": value}
                                          for colour, value in [[unknown, None], *rows]]}


@functools.cache
def runbook():
    """Alert -> [the first sentence that its runbook says, no colour]."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    found = {}
    for name, words in re.findall(r"^### (Millrace\w+)\n(.*?)(?=\n\n|\Z)", text, re.M | re.S):
        sentence = re.split(r"(?<=[.:]) (?=[A-Z`])", " ".join(words.split()))[0]
        found[name] = [sentence, None]
    return found


def mappings(values, unknown=None):
    """{value: [text, colour]}, or "runbook". `unknown`: text for what is no number."""
    values = runbook() if values == "runbook" else values or {}
    made = []
    if values:
        made.append({"type": "value", "options": {
            str(value): {"text": text, "index": index} | ({"color": colour} if colour else {})
            for index, (value, (text, colour)) in enumerate(values.items())}})
    if unknown:
        made.append({"type": "special", "options": {
            "match": "null+nan", "result": {"text": unknown, "color": "text",
                                            "index": len(values)}}})
    return made


def link(target):
    """{to: dashboard, with: {variable: label of the series}} -> a data link."""
    variables = "".join(f"&var-{name}=${{__field.labels.{label}}}"
                        for name, label in target.get("with", {}).items())
    title = target["to"].capitalize() if "with" not in target else (
        f"{target['to'].capitalize()} of this " + " and ".join(target["with"]))
    return {"title": title, "targetBlank": False,
            "url": f"/d/millrace-{target['to']}?var-datasource=${{datasource}}"
                   f"&var-topology=${{topology}}{variables}&${{__url_time_range}}"}


def used_range(metric):
    """Of a histogram's buckets those from the first to the last that counted anything in the time
    shown, so that the rest takes no room. The last one's bound is a quantile, made a label."""
    def counted(bound=""):
        chosen = metric.removesuffix("}") + bound + "}"
        return f"round(sum by (le) (increase({chosen}[$__range] @ end())), 0.001)"
    finite, infinite = counted(',le!="+Inf"'), counted(',le="+Inf"')
    most = f"scalar(max({finite}))"
    last = f'count_values("le", histogram_quantile(1, {counted()}))'
    for number, label in BOUNDS:
        last = f'label_replace({last}, "le", "{label}", "le", "{number}")'
    return (f"sum by (le) (rate({metric}[$__rate_interval])) and on (le) (({finite} > 0 < {most}) "
            f"or {last} or ({infinite} > {most}))")


def expression(panel, query):
    if "histogram" in query:
        return used_range(query["histogram"])
    expr = " ".join(query["expr"].split())
    # So that a curve goes on to the present when there is nothing any more, with no number.
    return f"({expr}) or vector(NaN)" if panel.get("spark") else expr


def target(panel, number, query):
    table, heatmap = panel["type"] == "table", panel["type"] == "heatmap"
    # Of a range the last value of each series would be shown, of those too that ended long ago.
    instant = panel["type"] in ("table", "stat") and not panel.get("spark")
    return {"refId": chr(ord("A") + number), "datasource": SOURCE, "editorMode": "code",
            "expr": expression(panel, query), "legendFormat": query.get("legend", "__auto"),
            "format": "table" if table else "heatmap" if heatmap else "time_series",
            "instant": instant, "range": not instant}


def legend(panel):
    """A table with the worst first; beside the curves where it would have room for few below."""
    wide = panel["size"][0]
    return {"displayMode": "table", "placement": "right" if wide >= LEGEND_BESIDE else "bottom",
            "showLegend": True, "calcs": ["lastNotNull", "max"][:1 + (wide >= MAXIMUM_TOO)],
            "sortBy": "Last *", "sortDesc": panel.get("worst") != "low"}


def options(panel):
    kind = panel["type"]
    if kind == "timeseries":
        return {"legend": legend(panel), "tooltip": {"mode": "multi", "sort": "desc"}}
    if kind == "stat":
        last = "last" if panel.get("spark") else "lastNotNull"
        return {"reduceOptions": {"calcs": [last], "fields": "", "values": False},
                "orientation": "auto", "textMode": "auto", "colorMode": "value",
                "graphMode": "area" if panel.get("spark") else "none", "justifyMode": "auto",
                **panel.get("options", {})}
    if kind == "table":
        columns = panel["columns"]
        first = columns.get("sort", columns["labels"][0])
        return {"showHeader": True, "cellHeight": "sm",
                "sortBy": [{"displayName": first, "desc": False}],
                "footer": {"show": False, "reducer": ["sum"], "countRows": False, "fields": ""}}
    if kind == "state-timeline":
        return {"alignValue": "left", "mergeValues": True, "rowHeight": 0.9, "showValue": "auto",
                "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
                "tooltip": {"mode": "single", "sort": "none"}}
    return {"calculate": False, "cellGap": 1, "cellValues": {}, "filterValues": {"le": 1e-9},
            "color": {"mode": "scheme", "scheme": "Oranges", "fill": "dark-orange", "steps": 64,
                      "exponent": 0.5, "scale": "exponential", "reverse": False},
            "exemplars": {"color": "rgba(255,0,255,0.7)"}, "legend": {"show": True},
            "rowsFrame": {"layout": "auto"},
            "tooltip": {"show": True, "mode": "single", "yHistogram": True},
            "yAxis": {"axisPlacement": "left", "reverse": False, "unit": panel["unit"]}}


def custom(panel):
    kind = panel["type"]
    if kind == "timeseries":
        scale = {"type": "log", "log": 10} if panel.get("log") else {"type": "linear"}
        return {"drawStyle": "line", "lineWidth": 1, "lineInterpolation": "linear",
                "fillOpacity": 20 if panel.get("stack") else 0, "showPoints": "auto",
                "spanNulls": False, "scaleDistribution": scale,
                "thresholdsStyle": {"mode": "dashed" if panel.get("steps") else "off"},
                "stacking": {"mode": "normal" if panel.get("stack") else "none", "group": "A"}}
    if kind == "table":
        return {"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False,
                "filterable": False}
    if kind == "state-timeline":
        return {"fillOpacity": 70, "lineWidth": 0}
    return {}


def column_override(name, column):
    """{unit, steps, mappings, links...} of one column. What is not known has no colour."""
    properties = [{"id": key, "value": column[key]}
                  for key in ("unit", "decimals", "links") if key in column]
    painted = "steps" in column or isinstance(column.get("mappings"), dict)
    if "mappings" in column:
        properties.append({"id": "mappings", "value": mappings(column["mappings"])})
    if painted:
        properties += [{"id": "thresholds",
                        "value": thresholds(column.get("steps"), unknown="transparent")},
                       {"id": "custom.cellOptions",
                        "value": {"type": "color-background", "mode": "basic"}}]
    return {"matcher": {"id": "byName", "options": name}, "properties": properties}


def overrides(panel):
    """Columns of a table; colours that belong to a query."""
    if panel["type"] == "table":
        shown = panel["columns"].get("show", {})
        return [*(column_override(query["column"], query) for query in panel["queries"]),
                *(column_override(name, column) for name, column in shown.items())]
    return [{"matcher": {"id": "byFrameRefID", "options": chr(ord("A") + number)},
             "properties": [{"id": "color",
                             "value": {"mode": "fixed", "fixedColor": query["colour"]}}]}
            for number, query in enumerate(panel["queries"]) if "colour" in query]


def transformations(panel):
    """A table's queries side by side, one row for each set of labels."""
    if panel["type"] != "table":
        return []
    queries, hidden = panel["queries"], ["Time", *panel["columns"].get("hide", [])]
    renamed = {f"Value #{chr(ord('A') + number)}" if len(queries) > 1 else "Value":
               query["column"] for number, query in enumerate(queries)}
    return [{"id": "merge", "options": {}},
            {"id": "organize", "options": {
                "excludeByName": {name: True for name in hidden},
                "indexByName": {name: number for number, name in enumerate(
                    [*panel["columns"]["labels"], *renamed])},
                "renameByName": renamed}}]


def check(where, panel):
    unknown = set(panel) - PANEL_KEYS
    unknown |= {key for query in panel.get("queries") or [] for key in set(query) - QUERY_KEYS}
    if unknown:
        raise Refused(f"{where}: unknown {sorted(unknown)}")
    for key in ("title", "type", "size", "means", "do", "queries", "unit"):
        if not panel.get(key):
            raise Refused(f"{where}: has no {key}")
    if panel["type"] not in TYPES:
        raise Refused(f"{where}: type {panel['type']}")
    if len(panel["title"]) > TITLE_MAX:
        raise Refused(f"{where}: its title is longer than {TITLE_MAX} characters")
    if panel["type"] == "table" and not all("column" in query for query in panel["queries"]):
        raise Refused(f"{where}: each query of a table has a column")


def colour_mode(panel):
    """By thresholds a state timeline would show their ranges, and no mapping's text or colour."""
    by_palette = panel["type"] in ("timeseries", "state-timeline")
    return {"mode": "palette-classic" if by_palette else "thresholds"}


def panel_json(where, panel, place, number):
    check(where, panel)
    unknown = panel.get("empty", UNKNOWN)
    defaults = {"unit": UNITS.get(panel["unit"], panel["unit"]),
                "mappings": mappings(panel.get("mappings"),
                                     unknown if panel.get("spark") else None),
                "thresholds": thresholds(
                    panel.get("steps"),
                    unknown="text" if panel["type"] == "stat" else "transparent"),
                "custom": custom(panel), "color": colour_mode(panel),
                "links": [link(target) for target in panel.get("drill", [])]}
    if panel["type"] == "timeseries" and not panel.get("log"):
        defaults["min"] = 0
    defaults |= {key: panel[key] for key in ("min", "max", "decimals") if key in panel}
    if panel["type"] != "timeseries" or "empty" in panel:
        defaults["noValue"] = unknown
    return {
        "id": number, "type": panel["type"], "title": panel["title"], "gridPos": place,
        "description": f"{' '.join(panel['means'].split())}\n\n**What to do:** "
                       f"{' '.join(panel['do'].split())}",
        "datasource": SOURCE, "options": options(panel),
        "fieldConfig": {"defaults": defaults, "overrides": overrides(panel)},
        "targets": [target(panel, index, query) for index, query in enumerate(panel["queries"])],
        "transformations": transformations(panel),
        **({"maxDataPoints": NOW_POINTS} if panel["type"] == "stat" else {}),
    }
