# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The topology that the dashboards are tried on: every kind of actor, rules that drop, give
classes, alert and are refused, a stage that can be gone past, and a receiver of alerts."""


RULES = """\
drop "|00 07|" name "a number with 0007 in it"
class odd "|00 05|" name "0005"
alert "MILLRACE" name "any"
"""
REFUSED = 'frobnicate "x"\n'


def text(folder, rate_mpps=0.02, count=0, limit="60s"):
    (folder / "look.rules").write_text(RULES)
    (folder / "scan.rules").write_text('alert "|00 09|" name "0009"\n' + REFUSED)
    return f"""
heartbeat_limit: {limit}
events: {{}}
ports:
  in:  {{ device: generate, numbered: true, flows: 64, count: {count}, rate_mpps: {rate_mpps} }}
  out: {{ device: "null" }}
workers:
  front: {{ kind: classifier, count: 2, max: 4, dispatch: any }}
  side:  {{ kind: classifier, count: 1, dispatch: any }}
  gpu:   {{ kind: gpu, device: software, seed: 1, delay_us: 20 }}
  last:  {{ kind: classifier, count: 1, dispatch: flow }}
functions:
  look: {{ type: match, rules: look.rules, classes: [odd], on: front, events: true }}
  pass: {{ type: match, rules: look.rules, classes: [odd], on: side, unavailable: pass }}
  scan: {{ type: match, rules: scan.rules, on: gpu }}
  flow: {{ type: flow, on: last }}
  edge: {{ type: nat, inside: in, pool: 203.0.113.0/28, on: last }}
paths:
  main: {{ from: in, to: out, run: [look, pass, scan, flow, edge], lanes: 1 }}
"""


def of_topology(run_dir):
    """The pattern by which Prometheus finds this one only."""
    return [str(run_dir) + ".telemetry.json"]


def scraped(prometheus, name):
    """Whether Prometheus has read it at least three times."""
    reads = prometheus.query(f'count_over_time(millrace_topology_info{{topology="{name}"}}[1m])')
    return bool(reads) and reads[0][1] >= 3


def total(prometheus, expression):
    return sum(value for _, value in prometheus.query(expression))


def direct(topology):
    """What telemetry says without Prometheus between."""
    return topology.metrics()
