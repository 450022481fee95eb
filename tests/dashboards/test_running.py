# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Every query against a real Prometheus that scrapes a real topology each second, under a kill and
a scaling; figures against `millrace audit`."""

import decimal
import math
import re
import shutil
import subprocess
import urllib.request

import pytest
import yaml

import metrics
import panel
import panels
import scene
import servers
from processes import PATIENCE, wait_until
from topology import Topology

pytestmark = pytest.mark.skipif(not shutil.which("prometheus"), reason="no prometheus: make deps")
RULES = servers.HERE / "prometheus/alerts.yml"
ALL = panels.dashboards()
# Of what this scene has not: a kernel interface or DPDK port, NVML, drops of other kinds, a router,
# signatures, a function that reads streams (test_queries.py has series for these).
NOT_HERE = {"Load of the link", "Device utilisation", "Device memory", "Made here",
            "Kernel routes",
            "Malformed packets", "Firing alerts", "Bypass",
            "Alerts by signature", "Alerts by severity", "Signatures", "Dropped segments"}


class Watched:
    def __init__(self, prometheus, topology):
        self.prometheus, self.topology, self.name = prometheus, topology, topology.name

    def ask(self, expression):
        return self.prometheus.query(panels.interpolated(expression, self.name))

    def caught_up(self, expression, least):
        """The sum of a counter, once it is `least`: what Prometheus has is some seconds old."""
        found = []

        def reached():
            found[:] = [scene.total(self.prometheus, panels.interpolated(expression, self.name))]
            return found[0] >= least
        wait_until(reached, PATIENCE, lambda: f"{expression} is {least}, not {found}")
        return found[0]


@pytest.fixture(scope="module", name="watched")
def watched_topology(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watched")
    with Topology(folder, scene.text(folder)) as topology:
        topology.endless = True
        with servers.Prometheus(folder / "prometheus",
                                patterns=scene.of_topology(topology.run_dir)) as prometheus:
            wait_until(lambda: scene.scraped(prometheus, topology.name), PATIENCE, "scraped")
            yield Watched(prometheus, topology)


def test_every_variable_has_values(watched):
    for one in ALL.values():
        for variable in one["templating"]["list"]:
            if variable["type"] != "query":
                continue
            selector, label = panels.label_values(variable["definition"], watched.name)
            series = watched.prometheus.ask("series", **{"match[]": selector})
            assert all(label in labels for labels in series) and series, variable["definition"]


def assert_shape(shown, target, rows):
    assert len(rows) <= 200, "more series than a panel can show"
    for labels, value in rows:
        assert math.isfinite(value), (target["expr"], labels)
    if shown["type"] == "heatmap" and rows:
        assert all("le" in labels for labels, _ in rows)
    if shown["type"] == "table":
        assert all("__name__" not in labels for labels, _ in rows)


def without_data(watched, uid):
    """Titles of panels of which no query gives anything now."""
    nothing = set()
    for one in panels.panels(ALL[uid]):
        found = 0
        for target in one["targets"]:
            rows = watched.ask(target["expr"])
            if target["expr"].endswith(panels.NO_NUMBER):
                rows = [row for row in rows if not math.isnan(row[1])]
            assert_shape(one, target, rows)
            found += len(rows)
        if not found:
            nothing.add(one["title"])
    return nothing


@pytest.mark.parametrize("uid", sorted(ALL))
def test_every_query_of_every_panel_gives_data(watched, uid):
    nothing = set()

    def complete():  # a slow scrape empties some for a moment
        nothing.clear()
        nothing.update(without_data(watched, uid))
        return nothing <= NOT_HERE
    wait_until(complete, PATIENCE, lambda: f"data of {nothing - NOT_HERE}")
    may = {one["title"] for one in panels.panels(ALL[uid]) if panels.may_be_empty(one)}
    assert nothing <= may, "a panel that can be empty says what that means (`empty`)"


@pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool: make deps")
def test_promtool_has_nothing_to_say_of_a_scrape(watched):
    address = metrics.address_in(watched.topology.run_dir)
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=PATIENCE) as reply:
        text = reply.read().decode()
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0 and not done.stdout + done.stderr


def test_bounds_of_buckets_are_written_as_the_heat_maps_expect(watched):
    address = metrics.address_in(watched.topology.run_dir)
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=PATIENCE) as reply:
        bounds = set(re.findall(r'le="([^"]+)"', reply.read().decode())) - {"+Inf"}
    assert len(bounds) > 30
    for bound in bounds:
        label = f"{decimal.Decimal(repr(float(bound))):f}"  # as count_values writes it
        for number, written in panel.BOUNDS:
            if found := re.fullmatch(number, label):
                label = found.expand(re.sub(r"\$\{?(\d)\}?", r"\\g<\1>", written))
        assert label == bound


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
        value = watched.caught_up(expression, key(watched.topology.audit()))
        after = key(watched.topology.audit())
        assert value <= after, (expression, value, after)


def test_a_kill_and_a_scaling_are_marked_and_counters_go_on(watched):
    lives = watched.topology.lives()
    gpu = next(name for name in lives if name.startswith("gpu."))
    received = 'sum(millrace_port_received_packets_total{topology="$topology"})'
    watched.topology.kill("front.0", gpu, lives=lives)
    watched.topology.wait_alive("front.0")
    watched.topology.scale("front", 3)
    marks = {one["name"]: one["expr"] for one in ALL["millrace-overview"]["annotations"]["list"]}
    for name, actors in (("Crashes", {"front.0", "gpu.0.a" if gpu == "gpu.0.b" else "gpu.0.b"}),
                         ("Scaling", {None})):
        seen = set()

        def marked(name=name, seen=seen, actors=actors):
            rows = watched.prometheus.query(
                panels.interpolated(marks[name], watched.name, __interval="5m"))
            seen.update(labels.get("actor") for labels, _ in rows)
            return seen == actors
        wait_until(marked, PATIENCE, lambda name=name, seen=seen: f"marks: {name}, not {seen}")
    alive = 'millrace_workers{topology="$topology",group="front",state="alive"}'
    wait_until(lambda: watched.ask(alive + " == 3"), PATIENCE, "scaled")
    values = watched.prometheus.query_range(panels.interpolated(received, watched.name), 30)[0][1]
    assert values == sorted(values), "a counter ran backwards"
    rows = watched.ask('sum by (group, worker) '
                       '(millrace_restarts_total{topology="$topology",cause="crash"}) == 1')
    assert {(labels["group"], labels["worker"]) for labels, _ in rows} == {
        ("front", "0"), ("gpu", "0")}


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
            servers.Prometheus(tmp_path / "prometheus",
                               patterns=scene.of_topology(topology.run_dir)) as prometheus:
        wait_until(lambda: scene.scraped(prometheus, topology.name), PATIENCE, "scraped")
        topology.kill("front.1")
        topology.scale("front", 4)
        audit = topology.settle(received=count)
        figures = exact(topology.name, audit)
        assert len(figures) > 7 and audit["dropped_total"] > 0
        wait_until(lambda: not wrong_ones(prometheus, figures, count), PATIENCE,
                   lambda: f"exact: {wrong_ones(prometheus, figures, count)}")


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
        wait_until(faultless, PATIENCE, lambda: f"without faults: {faults}")
        assert any("no data" in fault for fault in grafana_check.examine(grafana, "nobody"))
