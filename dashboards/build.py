# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Grafana's JSON of the dashboards, made of source/*.yaml:

    build.py          grafana/*.json, rewritten when changed
    build.py check    exit 1 when one of them is not what its source makes

A source has title, uid, question, variables and rows of panels (panel.py). Needs python3-yaml.
"""

import json
import pathlib
import sys

import yaml

from panel import SOURCE, Refused, panel_json

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE / "source"
MADE = HERE / "grafana"
SCHEMA_VERSION = 38  # of Grafana 10.0; later ones migrate it when they load it
COLUMNS = 24
ANNOTATION_STEP = "1s"
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


def change_of(metric, where, change):
    """When it changed last, in milliseconds: a mark is as thin as that, and at that time, however
    far apart the points are that Grafana looks at (until 11.6 it takes 100 for the whole range,
    whatever `step` says). Each looks at all since the point before; several that see the same
    change are one mark. What changes while it is not scraped, as telemetry or the host stands
    still, is marked behind that, if it is no longer than a minute."""
    series = metric + '{' + ",".join(['topology="$topology"', *where]) + '}'
    before = f"last_over_time({series}[1m] offset 1s)"
    return f"1000 * max_over_time(timestamp({series} {change} {before})[$__interval:1s])"


def annotation(name, colour, metric, title, text, where=(), change="!="):
    return {"name": name, "datasource": SOURCE, "enable": True, "hide": False, "iconColor": colour,
            "expr": change_of(metric, where, change), "step": ANNOTATION_STEP,
            "titleFormat": title, "textFormat": text, "tagKeys": "", "useValueForTime": True}


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
              "asDropdown": True, "includeVars": True, "keepTime": True, "targetBlank": False,
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
