# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Names, rules and their runbook: what is asked for exists, and promtool agrees."""

import re
import shutil
import subprocess

import pytest
import yaml

import panels
from panels import ROOT

FOLDER = ROOT / "dashboards/prometheus"
RULES = [rule for group in yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"]
         for rule in group["rules"] if "alert" in rule]
needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool: make deps")


def promtool(*words):
    done = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True,
                          check=False, cwd=FOLDER)
    return done.returncode, done.stdout + done.stderr


def seconds(text):
    return int(text[:-1]) * {"s": 1, "m": 60}[text[-1]]


def declared_metrics():
    sections = yaml.safe_load((ROOT / "shared/metrics/metrics.yaml").read_text())
    return {metric["name"]: metric for section in sections.values() for metric in section}


def test_every_metric_that_is_asked_for_is_declared():
    declared = set(declared_metrics())
    for path in [*panels.FOLDER.glob("*.json"), *FOLDER.glob("*.yml")]:
        text = path.read_text(encoding="utf-8")
        asked = {name for name in panels.metric_names(text)}
        assert asked and asked <= declared or path.name == "prometheus.yml", asked - declared


def test_every_label_that_is_chosen_by_is_declared():
    declared = declared_metrics()
    always = {"topology", "job", "instance", "le"}
    texts = [rule["expr"] for rule in RULES]
    texts += [target["expr"] for one in panels.dashboards().values()
              for panel in panels.panels(one) for target in panel["targets"]]
    for text in texts:
        for name, selector in re.findall(r"(millrace_\w+)\{([^}]*)\}", text):
            known = declared[panels.metric_names(name).pop()]
            labels = known.get("labels", ["actor", "group", "worker"])
            labels = [*labels, "direction"] if "direction" in known else labels
            assert set(re.findall(r"(\w+)\s*(?:=~?|!~|!=)", selector)) <= {*labels, *always}, text


def test_each_alert_says_whose_and_where_to_read_on():
    runbook = (ROOT / "dashboards/README.md").read_text(encoding="utf-8")
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule["annotations"]["runbook_url"] == f"dashboards/README.md#{rule['alert'].lower()}"
        assert f"### {rule['alert']}\n" in runbook, "its paragraph"
        assert "$labels.topology" in rule["annotations"]["summary"]
        assert rule["labels"]["severity"] in ("warning", "critical")
    for name in re.findall(r"^### (Millrace\w+)$", runbook, re.MULTILINE):
        assert name in names, "a paragraph without its alert"


def test_only_losses_of_our_own_make_a_drop_alert():
    for rule in RULES:
        for selector in re.findall(r"millrace_drops_total(\{[^}]*\})?", rule["expr"]):
            assert 'cause="loss"' in selector or 'reason="tx_full"' in selector, rule["alert"]


def test_what_goes_on_lasts_as_long_as_the_window_it_is_seen_through():
    """One event stays in a rate's window for so long: it alone is no reason to wake an operator."""
    events = {"MillraceBypass",  # no function looks at those packets: each counts
              "MillraceStreamStalled"}  # nothing within its window
    for rule in RULES:
        windows = map(seconds, re.findall(r"rate\([^\[]*\[(\w+)\]", rule["expr"]))
        longest = max(windows, default=0)
        if rule["alert"] not in events:
            assert seconds(rule.get("for", "0s")) >= longest, rule["alert"]


def test_a_share_alone_makes_no_alert_of_drops():
    for rule in RULES:
        if re.search(r"(drops|missed_packets)_total", rule["expr"]) and " / " in rule["expr"]:
            assert " and " in rule["expr"] and "> 1" in rule["expr"], rule["alert"]


def test_each_alert_has_a_test_that_fires_it():
    text = (FOLDER / "alerts_test.yml").read_text(encoding="utf-8")
    for rule in RULES:
        assert f'alertname="{rule["alert"]}"' in text


@needs_promtool
def test_promtool_accepts_rules_and_configuration():
    for words in (("check", "rules", "alerts.yml"), ("check", "config", "prometheus.yml")):
        status, said = promtool(*words)
        assert status == 0, said


def exposition(metrics):
    """As telemetry would give them, each with one sample."""
    text = ""
    for name, metric in metrics.items():
        text += f"# HELP {name} {metric['help']}\n# TYPE {name} {metric['type']}\n"
        samples = [name] if metric["type"] != "histogram" else [
            f'{name}_bucket{{le="+Inf"}}', f"{name}_sum", f"{name}_count"]
        text += "".join(f"{sample} 0\n" for sample in samples)
    return text


@needs_promtool
def test_promtool_has_nothing_to_say_of_any_metric():
    bad = {"millrace_some_counter_total": {"type": "counter", "help": "So."}}
    for metrics, fine in ((declared_metrics(), True), (bad, False)):
        done = subprocess.run(["promtool", "check", "metrics"], input=exposition(metrics),
                              capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        assert (done.returncode == 0 and not said) == fine, said


@needs_promtool
def test_each_alert_fires_alone_on_its_cause_and_resolves():
    status, said = promtool("test", "rules", "alerts_test.yml")
    assert status == 0, said


@needs_promtool
def test_the_test_of_an_alert_fails_without_it(tmp_path):
    """Of one: all of them would take as long again."""
    rules = (FOLDER / "alerts.yml").read_text(encoding="utf-8")
    (tmp_path / "alerts.yml").write_text(rules.replace("rate(", "0 * rate("))
    every = yaml.safe_load((FOLDER / "alerts_test.yml").read_text())
    every["tests"] = [one for one in every["tests"] if 'alertname="MillraceLosses"' in str(one)]
    assert every["tests"]
    (tmp_path / "alerts_test.yml").write_text(yaml.safe_dump(every))
    status, said = promtool("test", "rules", tmp_path / "alerts_test.yml")
    assert status != 0 and "MillraceLosses" in said
