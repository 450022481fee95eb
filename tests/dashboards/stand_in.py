# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What our own code asks of a Grafana, answered without one: health, dashboards, queries that it
hands to Prometheus, and pages whose panels are canvases, but those that STAND_IN_EMPTY and
STAND_IN_FAILING name. It says nothing of whether a real Grafana can load a dashboard."""

import html
import http.server
import json
import os
import pathlib
import urllib.parse
import urllib.request

PROMETHEUS = os.environ.get("MILLRACE_PROMETHEUS_URL")


def dashboard(uid):
    for path in pathlib.Path(os.environ["MILLRACE_DASHBOARDS"]).glob("*.json"):
        one = json.loads(path.read_text(encoding="utf-8"))
        if one["uid"] == uid:
            return {"dashboard": one}
    return None


def section(title):
    """A panel as Grafana 10 to 12 have it."""
    inside = {os.environ.get("STAND_IN_EMPTY"): "",
              os.environ.get("STAND_IN_FAILING"): "<div>An unexpected error happened</div>"}
    return (f'<section data-testid="data-testid Panel header {html.escape(title)}">'
            f"<h2>{html.escape(title)}</h2>"
            f'<div>{inside.get(title, "<canvas></canvas>")}</div></section>')


def page(uid):
    shown = dashboard(uid)["dashboard"]["panels"]
    return "".join(section(panel["title"]) for panel in shown if panel.get("targets"))


def ask(path, **parameters):
    url = f"{PROMETHEUS}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    with urllib.request.urlopen(url) as reply:
        return json.loads(reply.read())


class Answer(http.server.BaseHTTPRequestHandler):
    def reply(self, value):
        self.send_response(200 if value is not None else 404)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/api/health":
            self.reply({"version": "10.4.0-stand-in"})
        elif path.startswith("/api/dashboards/uid/"):
            self.reply(dashboard(path.rpartition("/")[2]))
        elif path.startswith("/d/"):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page(path.split("/")[2]).encode())
        elif path.startswith("/api/datasources/proxy/"):
            self.reply(ask("series", **{"match[]": urllib.parse.unquote(query.partition("=")[2])}))
        else:
            self.reply(dict(os.environ))

    def do_POST(self):
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"][0]
        rows = ask("query", query=query["expr"])["data"]["result"]
        self.reply({"results": {query["refId"]: {"frames": [
            {"data": {"values": [[one["value"][0]], [one["value"][1]]]}} for one in rows]}}})

    def log_message(self, *_):
        pass


def main():
    place = (os.environ["GF_SERVER_HTTP_ADDR"], int(os.environ["GF_SERVER_HTTP_PORT"]))
    http.server.ThreadingHTTPServer(place, Answer).serve_forever()


if __name__ == "__main__":
    main()
