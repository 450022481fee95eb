# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Grafana's JSON of the dashboards, made of source/*.yaml:

    build.py          grafana/*.json, rewritten when changed
    build.py check    exit 1 when one of them is not what its source makes

A source has title, uid, question, variables and rows of panels; a panel has type, size (columns of
24, height), `means` and `do` (its description), unit and queries. What is left out has a default
here. Needs python3-yaml.
"""

import json
import pathlib
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE / "source"
MADE = HERE / "grafana"
SCHEMA_VERSION = 38  # of Grafana 10.0; later ones migrate it when they load it
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS = 24
ANNOTATION_STEP = "15s"
KINDS = {
    # Of one that does not run only its bypass may be known.
    "topology": ("Topology", 'label_values({__name__=~"millrace_topology_info|'
                 'millrace_bypass_active"}, topology)', False),
    "stage": ("Stage", 'label_values(millrace_worker_info{topology="$topology"}, group)', True),
    "worker": ("Worker", 'label_values(millrace_worker_info{topology="$topology", '
               'group=~"$stage"}, worker)', True),
    "worker_stage": ("Stage", 'label_values(millrace_worker_info{topology="$topology", '
                     'kind=~"classifier|gpu"}, group)', True),
    "gpu_worker": ("Worker", 'label_values(millrace_gpu_info{topology="$topology"}, worker)', True),
    "port": ("Port", 'label_values(millrace_port_info{topology="$topology"}, port)', True),
}
PANEL_KEYS = {"title", "type", "size", "means", "do", "unit", "queries", "min", "max", "decimals",
              "steps", "mappings", "stack", "options", "columns", "drill", "legend", "empty",
              "overrides", "log"}
NOW_POINTS = 10000  # keeps $__rate_interval short in a stat however long the range is


class Refused(Exception):
    """A source breaks a rule of this format."""


def variable(name):
    """Sorted by the alphabet; workers are numbers."""
    label, query, many = KINDS[name]
    return {
        "name": name.rpartition("_")[2], "label": label, "type": "query",
        "datasource": SOURCE, "definition": query,
        "query": {"query": query, "refId": "PrometheusVariableQueryEditor-VariableQuery"},
        "refresh": 2, "sort": 3 if label == "Worker" else 1, "regex": "", "hide": 0,
        "skipUrlSync": False, "options": [],
        "multi": many, "includeAll": many, "allValue": ".*" if many else None,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]} if many else {},
    }


def source_variable():
    return {"name": "datasource", "label": "Data source", "type": "datasource",
            "query": "prometheus", "regex": "", "refresh": 1, "hide": 0, "skipUrlSync": False,
            "multi": False, "includeAll": False, "options": [], "current": {}}


def change_of(metric, seen_by, where):
    """Looked at every 15 seconds over the last 30, so that one change is one mark, however long the
    time between scrapes. Grafana looks less often the longer the time shown (until 11.6 at 100
    points only: each 5 minutes of 6 hours, whatever `step` says), so the second half compares with
    the point before, $__interval ago: nothing that lies between two points is missed."""
    series = metric + '{' + ",".join(['topology="$topology"', *where]) + '}'
    return (f"{seen_by}({series}[30s]) > 0 "
            f"or ({series} != bool {series} offset $__interval) > 0")


def annotation(name, colour, metric, seen_by, title, text, where=()):
    return {"name": name, "datasource": SOURCE, "enable": True, "hide": False, "iconColor": colour,
            "expr": change_of(metric, seen_by, where), "step": ANNOTATION_STEP,
            "titleFormat": title, "textFormat": text, "tagKeys": "", "useValueForTime": False}


def thresholds(steps):
    """[[colour, from], ...]; the first holds from below."""
    rows = steps or [["green", None]]
    return {"mode": "absolute", "steps": [{"color": colour, "value": value}
                                          for colour, value in rows]}


def mappings(values):
    """{value: [text, colour]}"""
    if not values:
        return []
    return [{"type": "value", "options": {
        str(value): {"text": text, "color": colour, "index": index}
        for index, (value, (text, colour)) in enumerate(values.items())}}]


def link(target):
    """{to: dashboard, with: {variable: label of the series}} -> a data link."""
    variables = "".join(f"&var-{name}=${{__field.labels.{label}}}"
                        for name, label in target.get("with", {}).items())
    title = target["to"].capitalize() if "with" not in target else (
        f"{target['to'].capitalize()} of this " + " and ".join(target["with"]))
    return {"title": title, "targetBlank": False,
            "url": f"/d/millrace-{target['to']}?var-datasource=${{datasource}}"
                   f"&var-topology=${{topology}}{variables}&${{__url_time_range}}"}


def target(panel, number, query):
    table = panel["type"] == "table"
    heatmap = panel["type"] == "heatmap"
    # Of a range the last value of each series would be shown, of those too that ended long ago.
    instant = panel["type"] in ("table", "bargauge", "stat")
    return {"refId": chr(ord("A") + number), "datasource": SOURCE, "editorMode": "code",
            "expr": " ".join(query["expr"].split()), "legendFormat": query.get("legend", "__auto"),
            "format": "table" if table else "heatmap" if heatmap else "time_series",
            "instant": instant, "range": not instant}


def reduced(panel, **more):
    return {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "orientation": "auto", **more, **panel.get("options", {})}


def legend(panel):
    calcs = panel.get("legend", ["lastNotNull", "max"])
    return {"displayMode": "table" if calcs else "list", "placement": "bottom",
            "showLegend": True, "calcs": calcs}


def options(panel):
    kind = panel["type"]
    if kind == "timeseries":
        return {"legend": legend(panel), "tooltip": {"mode": "multi", "sort": "desc"}}
    if kind == "stat":
        return reduced(panel, textMode="auto", colorMode="value", graphMode="none",
                       justifyMode="auto")
    if kind == "bargauge":
        return reduced(panel, displayMode="gradient", orientation="horizontal", showUnfilled=True,
                       valueMode="color", minVizHeight=10, minVizWidth=0)
    if kind == "table":
        first = panel["columns"]["labels"][0]
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
                "fillOpacity": 20 if panel.get("stack") else 5, "showPoints": "auto",
                "spanNulls": False, "scaleDistribution": scale,
                "stacking": {"mode": "normal" if panel.get("stack") else "none", "group": "A"}}
    if kind == "table":
        return {"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False,
                "filterable": False}
    if kind == "state-timeline":
        return {"fillOpacity": 70, "lineWidth": 0}
    return {}


def column_override(name, column):
    """{unit, steps, mappings, hide...} of one column."""
    properties = [{"id": "unit", "value": column["unit"]}] if "unit" in column else []
    if "decimals" in column:
        properties.append({"id": "decimals", "value": column["decimals"]})
    if "mappings" in column:
        properties.append({"id": "mappings", "value": mappings(column["mappings"])})
    if "steps" in column:
        properties += [{"id": "thresholds", "value": thresholds(column["steps"])}]
    if "steps" in column or "mappings" in column:
        properties.append({"id": "custom.cellOptions",
                           "value": {"type": "color-background", "mode": "basic"}})
    return {"matcher": {"id": "byName", "options": name}, "properties": properties}


def transformations(panel):
    """A table's queries side by side, one row for each set of labels."""
    if panel["type"] != "table":
        return []
    queries, hidden = panel["queries"], ["Time", *panel.get("columns", {}).get("hide", [])]
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
    if unknown:
        raise Refused(f"{where}: unknown {sorted(unknown)}")
    for key in ("title", "type", "size", "means", "do", "queries", "unit"):
        if not panel.get(key):
            raise Refused(f"{where}: has no {key}")
    if panel["type"] not in ("timeseries", "stat", "table", "heatmap", "bargauge",
                             "state-timeline"):
        raise Refused(f"{where}: type {panel['type']}")
    if panel["type"] == "table" and not all("column" in query for query in panel["queries"]):
        raise Refused(f"{where}: each query of a table has a column")


def panel_json(where, panel, place, number):
    check(where, panel)
    defaults = {"unit": panel["unit"], "mappings": mappings(panel.get("mappings")),
                "thresholds": thresholds(panel.get("steps")), "custom": custom(panel),
                "color": {"mode": "thresholds" if panel["type"] != "timeseries"
                          else "palette-classic"},
                "links": [link(target) for target in panel.get("drill", [])]}
    defaults |= {key: panel[key] for key in ("min", "max", "decimals") if key in panel}
    if panel["type"] != "timeseries" or "empty" in panel:
        defaults["noValue"] = panel.get("empty", "–")
    return {
        "id": number, "type": panel["type"], "title": panel["title"], "gridPos": place,
        "description": f"{' '.join(panel['means'].split())}\n\n**What to do:** "
                       f"{' '.join(panel['do'].split())}",
        "datasource": SOURCE, "options": options(panel),
        "fieldConfig": {"defaults": defaults,
                        "overrides": [column_override(query["column"], query)
                                      for query in panel["queries"]
                                      if panel["type"] == "table"]},
        "targets": [target(panel, index, query) for index, query in enumerate(panel["queries"])],
        "transformations": transformations(panel),
        **({"maxDataPoints": NOW_POINTS} if panel["type"] == "stat" else {}),
    }


def laid_out(name, source):
    """All panels, rows among them, from left to right and from top to bottom."""
    made, below = [text_panel(source["question"])], 2
    for row in source["rows"]:
        made.append({"id": len(made) + 1, "type": "row", "title": row["title"], "panels": [],
                     "collapsed": False,
                     "gridPos": {"h": 1, "w": COLUMNS, "x": 0, "y": below},
                     **({"repeat": row["repeat"]} if "repeat" in row else {})})
        at, top, height = 0, below + 1, 0
        for panel in row["panels"]:
            width, tall = panel["size"]
            if at + width > COLUMNS:
                at, top, height = 0, top + height, 0
            place = {"h": tall, "w": width, "x": at, "y": top}
            made.append(panel_json(f"{name}: {panel.get('title')}", panel, place, len(made) + 1))
            at, height = at + width, max(height, tall)
        below = top + height
    return made


def text_panel(question):
    return {"id": 1, "type": "text", "title": "", "transparent": True,
            "gridPos": {"h": 2, "w": COLUMNS, "x": 0, "y": 0},
            "options": {"mode": "markdown", "content": " ".join(question.split())}}


def dashboard(name, source, common):
    links = [{"type": "dashboards", "tags": ["millrace"], "title": "Millrace", "icon": "dashboard",
              "asDropdown": False, "includeVars": True, "keepTime": True, "targetBlank": False,
              "tooltip": "", "url": ""}]
    return {
        "uid": source["uid"], "title": source["title"], "tags": ["millrace"],
        "description": " ".join(source["question"].split()), "editable": True, "version": 1,
        "schemaVersion": SCHEMA_VERSION, "graphTooltip": 1, "refresh": "5s", "links": links,
        "time": {"from": "now-15m", "to": "now"}, "timezone": "browser", "weekStart": "",
        "fiscalYearStartMonth": 0, "liveNow": False,
        "timepicker": {"refresh_intervals": ["1s", "5s", "10s", "30s", "1m", "5m", "15m"]},
        "annotations": {"list": [annotation(**entry) for entry in common["annotations"]]},
        "templating": {"list": [source_variable(), *map(variable, source["variables"])]},
        "panels": laid_out(name, source),
    }


def made():
    """path -> text of every JSON file."""
    common = yaml.safe_load((SOURCES / "annotations.yaml").read_text(encoding="utf-8"))
    texts = {}
    for path in sorted(set(SOURCES.glob("*.yaml")) - {SOURCES / "annotations.yaml"}):
        source = yaml.safe_load(path.read_text(encoding="utf-8"))
        text = json.dumps(dashboard(path.stem, source, common), indent=2, ensure_ascii=False)
        texts[MADE / f"{path.stem}.json"] = text + "\n"
    return texts


def main(arguments):
    if arguments not in ([], ["check"]):
        sys.exit(__doc__)
    try:
        texts = made()
    except Refused as refused:
        sys.exit(f"build.py: {refused}")
    stale = [path for path, text in texts.items()
             if not path.exists() or path.read_text(encoding="utf-8") != text]
    stale += set(MADE.glob("*.json")) - set(texts)
    if arguments:
        sys.exit(f"run dashboards/build.py: not up to date: {stale}" if stale else 0)
    for path in stale:
        if path in texts:
            path.parent.mkdir(exist_ok=True)
            path.write_text(texts[path], encoding="utf-8")
        else:
            path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
