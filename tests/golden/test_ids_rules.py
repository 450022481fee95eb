# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Public rules of Snort and Suricata: their options against suricataparser, and how many load."""

import json
import subprocess

import pytest

from captures import BUILD, unpack

SNORT = "snort3-community.rules"
# Of the rules that are not commented out. What is refused says why: `millrace rules FILE`.
LOADED_LEAST = {"snort": 0.97, "et-open": 0.95}
RULES_LEAST = {"snort": 4000, "et-open": 5000}


def rule_files(name):
    folder = unpack("rules")
    files = [folder / SNORT] if name == "snort" else sorted((folder / "et-open").glob("*.rules"))
    assert files
    return files


def millrace_rules(files, *words):
    done = subprocess.run([BUILD / "bin/millrace", "rules", *files, "--json", *words],
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return json.loads(done.stdout)


def values_of(text):
    """metadata as a list: suricataparser splits it, and takes blanks away."""
    return [value.strip() for value in text.strip().split(",")]


def our_rules(path):
    rules = {}
    for rule in millrace_rules([path], "--options")["rules"]:
        assert "reason" not in rule, rule
        options = [(name, values_of(value) if name == "metadata" else value)
                   for name, value in rule["options"]]
        rules[rule["line"]] = (not rule["disabled"], options)
    return rules


def their_rules(path):
    parse = pytest.importorskip("suricataparser").parse_rule
    rules = {}
    # Rules are lines there too: none of these files has one that goes on.
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        rule = parse(line)
        if rule is not None:
            rules[number] = (rule.enabled, [
                (option.name, option.value.data if option.name == "metadata" else option.value)
                for option in rule.options])
    return rules


@pytest.mark.parametrize("name", ["snort", "et-open"])
def test_options_are_those_that_suricataparser_sees(name):
    count = 0
    for path in rule_files(name):
        ours, theirs = our_rules(path), their_rules(path)
        assert ours.keys() == theirs.keys(), path
        for line, rule in theirs.items():
            assert ours[line] == rule, f"{path.name}:{line}"
        count += len(theirs)
    assert count >= RULES_LEAST[name]


@pytest.mark.parametrize("name", ["snort", "et-open"])
def test_most_rules_load(name):
    files = rule_files(name)
    classification = next(files[0].parent.rglob("classification.config"))
    found = millrace_rules(files, "--classification", str(classification))
    all_rules = found["loaded"] + found["refused"]
    print(f"{name}: {found['loaded']} of {all_rules} rules load, {found['disabled']} disabled")
    assert len(found["refusals"]) == found["refused"]
    assert all(refusal["reason"] for refusal in found["refusals"])
    assert found["loaded"] >= LOADED_LEAST[name] * all_rules, found["keywords"]
