# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Queries of panels and marks on series made for them, by promtool, in virtual time."""

import shutil
import subprocess

import pytest
import yaml

import panels

pytestmark = pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool: make deps")
OVERVIEW = panels.dashboards()["millrace-overview"]
MISSED = 'millrace_port_missed_packets_total{topology="t",actor="ingress.in.0"}'
RECEIVED = 'millrace_port_received_packets_total{topology="t",port="in"}'
SENT = 'millrace_port_transmitted_packets_total{topology="t",port="out"}'
DROPS = 'millrace_drops_total{topology="t",reason="%s",cause="%s"}'


def asked(title, dashboard=OVERVIEW, **variables):
    """The queries of a panel, as Grafana sends them."""
    panel = next(one for one in panels.panels(dashboard) if one["title"] == title)
    return [panels.interpolated(target["expr"], "t", **variables) for target in panel["targets"]]


def mark(name, interval="10s"):
    expr = next(one["expr"] for one in OVERVIEW["annotations"]["list"] if one["name"] == name)
    return panels.interpolated(expr, "t", __interval=interval)


def confirm(folder, series, *checks):
    """`checks`: (query, second, {labels: value}), on samples of each second from 0 on."""
    path = folder / "queries_test.yml"
    path.write_text(yaml.safe_dump({
        "rule_files": [], "evaluation_interval": "1s", "tests": [{
            "interval": "1s",
            "input_series": [{"series": name, "values": values}
                             for name, values in series.items()],
            "promql_expr_test": [
                {"expr": query, "eval_time": f"{second}s",
                 "exp_samples": [{"labels": labels, "value": value}
                                 for labels, value in expected.items()]}
                for query, second, expected in checks]}]}))
    done = subprocess.run(["promtool", "test", "rules", str(path)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_port_that_misses_packets_is_not_without_losses(tmp_path):
    series = {MISSED: "0x20 10000+10000x48 490000x60", RECEIVED: "0+1000x130",
              DROPS % ("overload", "loss"): "0x130"}
    refused, lost = asked("Refused and lost")
    refused_ever, lost_ever = asked("In the time shown", __range="100s")
    confirm(tmp_path, series, (refused, 50, {"{}": 10000}), (lost, 50, {"{}": 0}),
            (refused, 100, {"{}": 0}), (refused_ever, 100, {"{}": 490000}),
            (lost_ever, 100, {"{}": 0}))


def test_when_all_is_dropped_by_rules_the_first_row_says_so(tmp_path):
    series = {RECEIVED: "0+1000x60", SENT: "0x60", DROPS % ("rule", "policy"): "0+990x60",
              DROPS % ("malformed", "packet"): "0+10x60", DROPS % ("overload", "loss"): "0x60"}
    confirm(tmp_path, series, (asked("Transmitted")[0], 50, {"{}": 0}),
            (asked("Dropped by policy")[0], 50, {"{}": 1000}),
            (asked("Refused and lost")[1], 50, {"{}": 0}))


def test_the_curve_of_a_number_goes_on_without_it_when_the_topology_has_ended(tmp_path):
    query = asked("Received")[0]
    confirm(tmp_path, {RECEIVED: "0+1000x20 stale"}, (query, 15, {"{}": 1000}),
            (f"count({query})", 40, {"{}": 1}), (f"({query}) >= 0", 40, {}))


RESTARTS = 'millrace_restarts_total{topology="t",actor="%s",cause="%s"}'


def test_a_crash_is_one_mark_at_its_time_however_far_apart_the_points_are(tmp_path):
    series = {RESTARTS % ("gpu.0.b", "crash"): "0x20 1x400",
              RESTARTS % ("gpu.0.b", "hang"): "0x421",
              RESTARTS % ("front.0", "asked"): "0x30 1x390"}
    crash = {'{topology="t", actor="gpu.0.b", cause="crash"}': 21000}
    confirm(tmp_path, series, (mark("Crashes"), 20, {}), (mark("Crashes"), 21, crash),
            (mark("Crashes"), 30, crash), (mark("Crashes"), 40, {}),
            (mark("Crashes", "300s"), 300, crash), (mark("Hangs"), 30, {}),
            (mark("Replacements"), 35,
             {'{topology="t", actor="front.0", cause="asked"}': 31000}))


def test_a_topology_that_starts_anew_is_no_crash(tmp_path):
    series = {RESTARTS % ("front.0", "crash"): "3x20 0x40"}
    confirm(tmp_path, series, (mark("Crashes", "60s"), 60, {}))


def test_the_hub_s_end_is_marked_once(tmp_path):
    series = {'millrace_up{topology="t",actor="hub",group="hub"}': "1x20 0x40",
              'millrace_up{topology="t",actor="front.0",group="front"}': "1x10 0x50"}
    confirm(tmp_path, series, (mark("Hub gone"), 25, {
        '{topology="t", actor="hub", group="hub"}': 21000}), (mark("Hub gone"), 40, {}))


def test_scaling_and_reloads_are_marked_up_and_down(tmp_path):
    series = {'millrace_workers_wanted{topology="t",group="front"}': "2x20 1x20 2x20",
              'millrace_function_table_generation{topology="t",function="ids"}': "1x20 2x40"}
    confirm(tmp_path, series,
            (mark("Scaling"), 25, {'{topology="t", group="front"}': 21000}),
            (mark("Scaling"), 45, {'{topology="t", group="front"}': 42000}),
            (mark("Reloads"), 25, {'{topology="t", function="ids"}': 21000}))


def test_a_stage_shows_its_dead_workers_and_not_its_spare_places(tmp_path):
    states = {"alive": 1, "vacant": 3, "fenced": 0, "reclaiming": 1}
    series = {f'millrace_workers{{topology="t",group="front",state="{state}"}}': f"{count}x10"
              for state, count in states.items()}
    series['millrace_workers_wanted{topology="t",group="front"}'] = "2x10"
    alive, missing, others = asked("Workers")
    confirm(tmp_path, series, (alive, 5, {'{group="front"}': 1}),
            (missing, 5, {'{group="front"}': 1}),
            (others, 5, {'{group="front", state="reclaiming"}': 1}))


def test_the_spare_incarnation_of_a_gpu_worker_is_no_dead_worker(tmp_path):
    up = 'millrace_up{topology="t",group="%s",worker="0",actor="%s"}'
    series = {up % ("gpu", "gpu.0.a"): "0x30", up % ("gpu", "gpu.0.b"): "1x10 0x20",
              up % ("front", "front.0"): "0x30", up % ("ingress", "ingress.a.0"): "1x30"}
    query, = asked("Up and down", panels.dashboards()["millrace-workers"])
    others = {'{part="front.0"}': 0, '{part="ingress.a.0"}': 1}
    confirm(tmp_path, series, (query, 5, {'{part="gpu.0"}': 1, **others}),
            (query, 20, {'{part="gpu.0"}': 0, **others}))


@pytest.mark.parametrize("growth, shown", [
    ([0, 0, 5, 5, 9, 9, 9, 9], ["6.5536e-05", "9.8304e-05", "0.000131072"]),
    ([3, 3, 3, 3, 3, 3, 3, 3], ["1.024e-06"]),
    ([0, 2, 7, 7, 7, 7, 7, 7], ["1.536e-06", "6.5536e-05"]),
    ([0, 0, 0, 0, 0, 0, 1, 4], ["0.008388608000000001", "+Inf"]), ([0] * 8, [])])
def test_a_heat_map_has_the_buckets_from_the_first_to_the_last_that_is_used(tmp_path, growth,
                                                                             shown):
    bounds = ["1.024e-06", "1.536e-06", "6.5536e-05", "9.8304e-05", "0.000131072", "0.000196608",
              "0.008388608000000001", "+Inf"]
    series = {f'millrace_latency_seconds_bucket{{topology="t",stream="{stream}",le="{bound}"}}':
              f"0+{more}x100" for bound, more in zip(bounds, growth) for stream in ("a.0", "b.0")}
    query, = asked("Latency heat map", panels.dashboards()["millrace-latency"], __range="60s")
    confirm(tmp_path, series, (query, 90, {f'{{le="{bound}"}}': 2 * growth[bounds.index(bound)]
                                           for bound in shown}))


def test_a_firing_alert_names_its_part_in_one_column(tmp_path):
    series = {'ALERTS{alertstate="firing",topology="t",alertname="MillraceBusy",severity="warning",'
              'group="front",worker="0",actor="front.0"}': "1x10"}
    query, = asked("Firing alerts")
    confirm(tmp_path, series, (f'label_replace({query}, "part", "$1", "part", "(.*?) *")', 5, {
        '{alertname="MillraceBusy", severity="warning", part="front 0  front.0", '
        'runbook="MillraceBusy"}': 1}))


SECURITY = panels.dashboards()["millrace-security"]
HITS = ('millrace_signature_hits_total{topology="t",function="ids",gid="1",sid="%d",severity="%d",'
        'signature="%s"}')


def test_signatures_are_shown_by_hits_and_by_severity(tmp_path):
    series = {HITS % (7, 1, "beacon"): "0+10x60", HITS % (8, 2, "scan"): "0+5x60",
              HITS % (9, 2, "quiet"): "3x60"}
    by_signature, = asked("Alerts by signature", SECURITY)
    by_severity, = asked("Alerts by severity", SECURITY)
    table, = asked("Signatures", SECURITY, __range="40s")
    labels = '{function="ids", gid="1", severity="%d", sid="%d", signature="%s"}'
    confirm(tmp_path, series,
            (by_signature, 50, {'{gid="1", sid="7", signature="beacon"}': 10,
                                '{gid="1", sid="8", signature="scan"}': 5}),
            (by_severity, 50, {'{severity="1"}': 10, '{severity="2"}': 5}),
            (table, 50, {labels % (1, 7, "beacon"): 400, labels % (2, 8, "scan"): 200}))


def test_segments_of_streams_are_shown_by_function_and_reason(tmp_path):
    drops = 'millrace_function_drops_total{topology="t",function="%s",path="%s",reason="%s"}'
    series = {drops % ("read", "p", "stream_full"): "0+4x60",
              drops % ("read", "q", "stream_full"): "0+1x60",
              drops % ("read", "p", "stream_conflict"): "0+2x60",
              drops % ("wall", "p", "rule"): "0+9x60"}
    segments, = asked("Dropped segments", SECURITY)
    confirm(tmp_path, series, (segments, 50, {
        '{function="read", reason="stream_full"}': 5,
        '{function="read", reason="stream_conflict"}': 2}))
