# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Every query against a real Prometheus that scrapes a real topology each second, under a kill and
a scaling; figures against `millrace audit`; alerts by their real causes."""

import math
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.request

import pytest
import yaml

import metrics
import panels
import processes
import scene
import servers
from processes import wait_until
from topology import Topology

pytestmark = pytest.mark.skipif(not shutil.which("prometheus"), reason="no prometheus: make deps")
RULES = servers.HERE / "prometheus/alerts.yml"
ALL = panels.dashboards()
SOON_SECONDS = 60  # ten times what it takes on a host with time
# Of what this scene has not: a kernel interface or DPDK port, NVML, drops of other kinds.
NOT_HERE = {"Load against the speed of the link", "Device utilisation", "Device memory",
            "Malformed packets", "Firing alerts", "Bypass"}


def quick(folder):
    """The rules with windows and waiting times for a test: the same expressions and limits."""
    text = re.sub(r"for: (?:5|10|30)s|for: 1m", "for: 2s", RULES.read_text(encoding="utf-8"))
    text = re.sub(r"\[(?:30s|1m)\]", "[5s]", text)
    path = folder / "alerts.yml"
    path.write_text(text, encoding="utf-8")
    return path


class Watched:
    def __init__(self, prometheus, topology):
        self.prometheus, self.topology, self.name = prometheus, topology, topology.name

    def ask(self, expression):
        return self.prometheus.query(panels.interpolated(expression, self.name))

    def audited(self, expression, key):
        """A counter of the audit and the same by a query, read between two audits."""
        before = key(self.topology.audit())
        value = sum(value for _, value in self.ask(expression))
        return before, value, key(self.topology.audit())


@pytest.fixture(scope="module", name="watched")
def watched_topology(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watched")
    with Topology(folder, scene.text(folder)) as topology:
        topology.endless = True
        with servers.Prometheus(folder / "prometheus", rules=quick(folder),
                                patterns=scene.of_topology(topology.run_dir)) as prometheus:
            wait_until(lambda: scene.scraped(prometheus, topology.name), SOON_SECONDS, "scraped")
            time.sleep(5)  # a full window of every rate
            yield Watched(prometheus, topology)


def test_every_variable_has_values(watched):
    for one in ALL.values():
        for variable in one["templating"]["list"]:
            if variable["type"] != "query":
                continue
            selector, label = panels.label_values(variable["definition"], watched.name)
            series = watched.prometheus.ask("series", **{"match[]": selector})
            assert all(label in labels for labels in series) and series, variable["definition"]


def assert_shape(panel, target, rows):
    assert len(rows) <= 200, "more series than a panel can show"
    for labels, value in rows:
        assert math.isfinite(value), (target["expr"], labels)
    if panel["type"] == "heatmap" and rows:
        assert len(rows) > 5 and all("le" in labels for labels, _ in rows)
    if panel["type"] == "table":
        assert all("__name__" not in labels for labels, _ in rows)


def without_data(watched, uid):
    """Titles of panels of which no query gives anything now."""
    nothing = set()
    for panel in panels.panels(ALL[uid]):
        found = 0
        for target in panel["targets"]:
            rows = watched.ask(target["expr"])
            assert_shape(panel, target, rows)
            found += len(rows)
        if not found:
            nothing.add(panel["title"])
    return nothing


@pytest.mark.parametrize("uid", sorted(ALL))
def test_every_query_of_every_panel_gives_data(watched, uid):
    nothing = set()

    def complete():  # a slow scrape empties some for a moment
        nothing.clear()
        nothing.update(without_data(watched, uid))
        return nothing <= NOT_HERE
    wait_until(complete, SOON_SECONDS, lambda: f"data of {nothing - NOT_HERE}")
    may = {panel["title"] for panel in panels.panels(ALL[uid]) if panels.may_be_empty(panel)}
    assert nothing <= may, "a panel that can be empty says what that means (`empty`)"


@pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool: make deps")
def test_promtool_has_nothing_to_say_of_a_scrape(watched):
    address = metrics.address_in(watched.topology.run_dir)
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=30) as reply:
        text = reply.read().decode()
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0 and not done.stdout + done.stderr


def test_every_expression_of_an_alert_runs(watched):
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            watched.prometheus.query(rule["expr"])
    for group in watched.prometheus.ask("rules")["groups"]:
        for rule in group["rules"]:
            assert rule["health"] == "ok", rule


def test_counters_are_those_of_the_audit(watched):
    for expression, key in (
            ('sum(millrace_port_received_packets_total{topology="$topology"})',
             lambda audit: audit["received"] - audit["in_flight"]),
            ('sum(millrace_port_transmitted_packets_total{topology="$topology"})',
             lambda audit: audit["transmitted"]),
            ('sum(millrace_drops_total{topology="$topology",reason="rule"})',
             lambda audit: audit["dropped"]["rule"]),
            ('sum(millrace_unaccounted_packets_total{topology="$topology"})',
             lambda audit: audit["unaccounted"])):
        # What Prometheus has is at most some seconds old.
        before, value, after = watched.audited(expression, key)
        assert value <= after + 1000 and value >= before * 0.5, (expression, before, value, after)


def test_a_kill_and_a_scaling_are_marked_and_counters_go_on(watched):
    lives = watched.topology.lives()
    received = 'sum(millrace_port_received_packets_total{topology="$topology"})'
    watched.topology.kill("front.0", lives=lives)
    watched.topology.wait_alive("front.0")
    watched.topology.scale("front", 3)
    marks = {one["name"]: one for one in ALL["millrace-overview"]["annotations"]["list"]}
    for name in ("Crashes", "Ends", "Scaling"):
        wait_until(lambda: watched.ask(marks[name]["expr"]), SOON_SECONDS, f"a mark: {name}")
        later = marks[name]["expr"].partition(" or ")[2]  # of points further apart than 30 s
        wait_until(lambda: watched.ask(later), SOON_SECONDS, f"a mark at long ranges: {name}")
    alive = 'millrace_workers{topology="$topology",group="front",state="alive"}'
    wait_until(lambda: watched.ask(alive + " == 3"), SOON_SECONDS, "scaled")
    values = watched.prometheus.query_range(panels.interpolated(received, watched.name), 30)[0][1]
    assert values == sorted(values), "a counter ran backwards"
    rows = watched.ask(
        'max by (actor) (millrace_restarts_total{topology="$topology",cause="crash"}) == 1')
    assert [labels["actor"] for labels, _ in rows] == ["front.0"]


def exact(name, audit):
    """expression -> what it has to be when nothing moves any more."""
    of = f'{{topology="{name}"}}'
    figures = {f"sum(millrace_port_received_packets_total{of})": audit["received"],
               f"sum(millrace_port_transmitted_packets_total{of})": audit["transmitted"],
               f"sum(millrace_drops_total{of})": audit["dropped_total"],
               f"sum(millrace_path_packets_total{of})": audit["received"],
               f"sum(millrace_unaccounted_packets_total{of})": 0,
               f"sum(millrace_in_flight_packets{of})": 0,
               f"sum(millrace_latency_seconds_count{of})": None}
    for reason, count in audit["dropped"].items():
        figures[f'sum(millrace_drops_total{{topology="{name}",reason="{reason}"}})'] = count
    return figures


def wrong_ones(prometheus, figures, count):
    """expression -> what it gives instead."""
    found = {expression: scene.total(prometheus, expression) for expression in figures}
    return {expression: given for expression, given in found.items()
            if given != figures[expression] and
            not (figures[expression] is None and 0 < given <= count)}


def test_figures_are_exactly_the_audit_s_after_a_kill_and_a_scaling(tmp_path):
    count = 160000
    with Topology(tmp_path, scene.text(tmp_path, count=count)) as topology, \
            servers.Prometheus(tmp_path / "prometheus", rules=quick(tmp_path),
                               patterns=scene.of_topology(topology.run_dir)) as prometheus:
        wait_until(lambda: scene.scraped(prometheus, topology.name), SOON_SECONDS, "scraped")
        first = prometheus.query_range(
            f'sum(millrace_port_received_packets_total{{topology="{topology.name}"}})', 60)[0][1][0]
        topology.kill("front.1")
        topology.scale("front", 4)
        audit = topology.settle(received=count)
        figures = exact(topology.name, audit)
        assert len(figures) > 7 and audit["dropped_total"] > 0
        wait_until(lambda: not wrong_ones(prometheus, figures, count), SOON_SECONDS,
                   lambda: f"exact: {wrong_ones(prometheus, figures, count)}")
        shown = next(panel for panel in panels.panels(ALL["millrace-overview"])
                     if panel["title"] == "Received")["targets"][0]["expr"]
        rates = prometheus.query_range(panels.interpolated(shown, topology.name), 120)[0][1]
        # The area under the curve; a host that has no time for a scrape leaves a gap in it, or sees
        # the first when all is over.
        assert sum(rates) < 1.3 * count
        assert first > count / 2 or sum(rates) > 0.6 * (count - first)


def fires_and_resolves(watched, names, cause, mend, seconds=SOON_SECONDS):
    cause()
    try:
        wait_until(lambda: names <= watched.prometheus.firing(), seconds, f"{names} fire")
    finally:
        mend()
    wait_until(lambda: not names & watched.prometheus.firing(), seconds, f"{names} resolved")


def test_alerts_fire_on_their_causes_and_resolve(watched):
    """A stopped worker that nobody may kill yet, and telemetry that does not answer."""
    topology = watched.topology
    wait_until(lambda: "MillraceRulesRefused" in watched.prometheus.firing(), SOON_SECONDS,
               "a refused rule")
    telemetry = next(pid for pid, path in processes.processes_of(topology.run_dir).items()
                     if path.endswith("millrace-telemetry"))
    fires_and_resolves(watched, {"MillraceTelemetryDown"},
                       lambda: os.kill(telemetry, signal.SIGSTOP),
                       lambda: os.kill(telemetry, signal.SIGCONT))
    stopped = topology.lives()["front.1"][0]
    fires_and_resolves(watched, {"MillraceHole", "MillraceStreamStalled", "MillracePoolLow"},
                       lambda: os.kill(stopped, signal.SIGSTOP),
                       lambda: os.kill(stopped, signal.SIGCONT))
    fires_and_resolves(watched, {"MillraceGpuFallback"},
                       lambda: topology.kill(*(name for name in topology.lives()
                                               if name.startswith("gpu."))), lambda: None)


def test_the_check_of_a_grafana_runs_and_finds_what_is_missing(watched, tmp_path, monkeypatch):
    """With a stand-in that hands queries on: our own code, nothing of Grafana's."""
    import grafana_check
    from test_monitor import stand_in_home
    monkeypatch.setattr(grafana_check.browser, "program", lambda: None)
    with servers.Grafana(tmp_path / "grafana", watched.prometheus.url,
                         home=str(stand_in_home(tmp_path / "home"))) as grafana:
        faults = []

        def faultless():
            faults[:] = grafana_check.examine(grafana, watched.name)
            return not faults
        wait_until(faultless, SOON_SECONDS, lambda: f"without faults: {faults}")
        assert any("no data" in fault for fault in grafana_check.examine(grafana, "nobody"))
