# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`make test-dashboards GRAFANA=HOME`: the dashboards in a real Grafana of 10 or later, over a
topology under load. Each is fetched by its API, each query of each panel goes through its
data source, and headless Chromium takes a picture of each into build/dashboards.

Exit 1 when a panel has an error, or no data where there should be some. Without GRAFANA everything
is skipped, and counted.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
import urllib.error

import browser
import conftest  # noqa: F401  pylint: disable=unused-import  (paths)
import page
import panels
import scene
import servers
from processes import PATIENCE, wait_until
from test_running import NOT_HERE
from topology import Topology

PICTURES = panels.ROOT / "build/dashboards"
SOURCE = "millrace-prometheus"
LOAD_SECONDS = 20
PAGE_SECONDS = 60
WIDTH, HEIGHT = 1600, 4000  # higher than every dashboard: Grafana draws what is in view


def version(grafana):
    """(major, text) of its health check."""
    text = json.loads(servers.fetch(grafana.url + "/api/health")).get("version", "0")
    return int(text.split(".")[0]), text


def asked(grafana, panel, target, topology):
    """Values of the answer of one query, as a panel would ask it. Raises Refused with its error."""
    query = {"refId": target["refId"], "datasource": {"type": "prometheus", "uid": SOURCE},
             "expr": panels.interpolated(target["expr"], topology), "format": target["format"],
             "instant": target["instant"], "range": target["range"], "intervalMs": 1000,
             "maxDataPoints": 500, "legendFormat": target["legendFormat"]}
    body = {"queries": [query], "from": "now-30s", "to": "now"}
    try:
        answer = json.loads(servers.fetch(grafana.url + "/api/ds/query", body))
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace")
        raise servers.Refused(f"{panel['title']}: {target['expr']}: {text}") from error
    result = answer["results"][target["refId"]]
    if result.get("error"):
        raise servers.Refused(f"{panel['title']}: {target['expr']}: {result['error']}")
    return sum(value not in (None, "NaN") for frame in result.get("frames", [])
               for value in (frame["data"]["values"] or [[]])[-1])


def faults_of(grafana, uid, topology):
    """What is wrong with one dashboard, and how many queries were run."""
    try:
        loaded = json.loads(servers.fetch(f"{grafana.url}/api/dashboards/uid/{uid}"))["dashboard"]
    except urllib.error.HTTPError as error:
        return [f"{uid}: not loaded, see grafana.log beside the pictures: {error}"], 0
    ours, faults, count = panels.dashboards()[uid], [], 0
    if len(loaded["panels"]) != len(ours["panels"]):
        faults.append(f"{uid}: {len(loaded['panels'])} panels, not {len(ours['panels'])}")
    for panel in panels.panels(loaded):
        rows = 0
        for target in panel["targets"]:
            count += 1
            try:
                rows += asked(grafana, panel, target, topology)
            except servers.Refused as refused:
                faults.append(f"{uid}: {refused}")
        if not rows and panel["title"] not in NOT_HERE:
            faults.append(f"{uid}: {panel['title']}: no data")
    return faults, count


def annotation_faults(grafana, topology):
    """Marks may be none: their queries have to be understood. They are the same everywhere."""
    one = next(iter(panels.dashboards().values()))
    for mark in one["annotations"]["list"]:
        if "expr" not in mark:
            continue
        target = {"refId": "Anno", "expr": mark["expr"], "format": "time_series",
                  "instant": False, "range": True, "legendFormat": ""}
        try:
            asked(grafana, {"title": f"marks {mark['name']}"}, target, topology)
        except servers.Refused as refused:
            yield str(refused)


def variable_faults(grafana, topology):
    """Through the proxy by which variables ask for their values."""
    for uid, one in panels.dashboards().items():
        for variable in one["templating"]["list"]:
            if variable["type"] != "query":
                continue
            selector, _ = panels.label_values(variable["definition"], topology)
            path = f"/api/datasources/proxy/uid/{SOURCE}/api/v1/series?match[]="
            answer = json.loads(servers.fetch(
                grafana.url + path + servers.urllib.parse.quote(selector)))
            if not answer.get("data"):
                yield f"{uid}: variable {variable['name']} has no values"


def picture(program, url, path, titles):
    """Faults of the page; its picture lies in `path`, with faults too."""
    try:
        with browser.Browser(program, WIDTH, HEIGHT) as opened:
            opened.open(url)
            end = time.monotonic() + PAGE_SECONDS
            while (faults := page.faults_of(opened.text(), titles)) and time.monotonic() < end:
                time.sleep(0.2)
            opened.picture(path)
            return faults
    except browser.Refused as refused:
        return [str(refused)]


def pictures(grafana, topology):
    """Faults, and how many dashboards were not looked at for want of a browser."""
    program = browser.program()
    if program is None:
        return [], len(panels.dashboards())
    faults = []
    PICTURES.mkdir(parents=True, exist_ok=True)
    for uid, one in panels.dashboards().items():
        url = (f"{grafana.url}/d/{uid}/?orgId=1&var-topology={topology}&from=now-2m&to=now"
               "&refresh=15m&kiosk&theme=light")
        titles = [panel["title"] for panel in panels.panels(one)]
        faults += [f"{uid}: {fault}: {url}"
                   for fault in picture(program, url, PICTURES / f"{uid}.png", titles)]
    return faults, 0


def examine(grafana, topology):
    """Prints what was done; the faults."""
    major, text = version(grafana)
    faults = [] if major >= 10 else [f"Grafana {text} is older than 10"]
    queries = 0
    for uid in panels.dashboards():
        found, count = faults_of(grafana, uid, topology)
        faults += found
        queries += count
    faults += variable_faults(grafana, topology)
    faults += annotation_faults(grafana, topology)
    seen, skipped = pictures(grafana, topology)
    print(f"test-dashboards: Grafana {text}, {len(panels.dashboards())} dashboards, "
          f"{queries} queries; pictures and log in {PICTURES.relative_to(panels.ROOT)}"
          + (f"; {skipped} pictures skipped: no chromium (Debian package chromium)"
             if skipped else ""))
    return faults + seen


def main(arguments):
    if not arguments or not arguments[0]:
        print(f"test-dashboards: {len(panels.dashboards())} dashboards skipped: "
              "GRAFANA=HOME names no Grafana")
        return 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        with Topology(folder, scene.text(folder), name=f"dashboards-{os.getpid()}") as topology:
            topology.endless = True
            with servers.Prometheus(folder / "prometheus",
                                    patterns=scene.of_topology(topology.run_dir)) as prometheus, \
                    servers.Grafana(folder / "grafana", prometheus.url, home=arguments[0],
                                    role="Admin") as grafana:
                wait_until(lambda: scene.scraped(prometheus, topology.name), PATIENCE, "scraped")
                time.sleep(LOAD_SECONDS)
                try:
                    faults = examine(grafana, topology.name)
                finally:
                    PICTURES.mkdir(parents=True, exist_ok=True)
                    shutil.copy(grafana.folder / "grafana.log", PICTURES)
    for fault in faults:
        print(fault)
    print(f"test-dashboards: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except servers.Refused as refused:
        sys.exit(f"test-dashboards: {refused}")
