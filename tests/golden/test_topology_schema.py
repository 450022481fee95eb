# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The published schema and `millrace validate` against each other: editors and the loader agree."""

import json
import pathlib
import re
import subprocess

import jsonschema
import pytest
import yaml

from captures import BUILD

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "orchestration/schema/topology.schema.json").read_text())
EXAMPLES = sorted((ROOT / "orchestration/topologies").glob("*.yaml"))


class Yaml12(yaml.SafeLoader):
    """PyYAML reads YAML 1.1, where `on` is true; editors and Millrace read 1.2."""


Yaml12.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Yaml12.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))


def schema_takes(text):
    validator = jsonschema.Draft202012Validator(SCHEMA)
    return validator.is_valid(yaml.load(text, Loader=Yaml12))


def loader_says(text, folder):
    """The text of what `millrace validate` refuses, or None when it takes the topology."""
    file = folder / "t.yaml"
    file.write_text(text)
    done = subprocess.run([BUILD / "bin/millrace", "validate", "--json", file], capture_output=True,
                          text=True, check=False)
    answer = json.loads(done.stdout)
    assert done.returncode == (0 if answer["ok"] else 1)
    return None if answer["ok"] else [problem["text"] for problem in answer["problems"]]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_right_for_the_schema(example):
    assert schema_takes(example.read_text())


START = """millrace: 1
ports: {a: {device: null}, b: {device: generate, queues: 2}}
workers: {c: {kind: classifier, max: 2}, f: {kind: classifier, dispatch: flow}, g: {kind: gpu}}
functions: {m: {type: match, rules: /dev/null, on: c}}
paths: {p: {from: b, to: a, run: [m]}}
"""

RIGHT = [
    ("max: 2", "max: 3, cores: [1, 4-7]"),
    ("device: null", "device: 'null', mtu: 9000, addresses: 10.1.0.1/24"),
    ("device: null", 'device: null, addresses: [10.1.0.1/24, "2001:db8::1/64"]'),
    ("device: null", "device: tap, interface: mill, ring: 64, queues: 2"),
    ("device: null", 'device: tap, interface: mill, host_addresses: ["10.1.0.2/24", "::1/64"]'),
    ("device: null", 'device: tap, interface: mill, host_mac: "02:00:00:00:00:09"'),
    ("queues: 2", "size: [100, 128], rate_mpps: 0.5, numbered: true"),
    ("kind: gpu", "kind: gpu, device: software, seed: 3, reorder: true, late: 3, delay_us: 9"),
    ("on: c", "on: g, unavailable: pass, overload: drop"),
    ("on: c", "on: c, unavailable: drop, overload: wait"),
    ("on: c", "on: c, overload: drop, share: 8"),
    ("ports:", "vars: {x: 1500, y: c, z: pass, on: true}\nports:"),
    ("device: null", 'device: null, mtu: "${x:-1500}", addresses: ["${x:-10.1.0.1}/24"]'),
    ("queues: 2", 'numbered: "${x:-true}", rate_mpps: "${x:-0.5}", size: ["${x:-90}", 99]'),
    ("on: c", 'on: "${x:-c}", overload: "${x:-pass}"'),
    ("ports:", 'heartbeat_limit: "${x:-2}s"\nname: "a${x:-b}"\nports:'),
    ("rules: /dev/null", "rules: [/dev/null], classes: [hot]"),
    ("run: [m]", "run: m, lanes: 4, slots: 20, buffers: 9000"),
    ("run: [m]", "match: udp port 53 or ip6"),
    ("ports:", "name: x\nheartbeat_limit: 500ms\nbatch: {capacity: 32}\nports:"),
    ("device: null",
     "device: afpacket, interface: x, follow: d}, d: {device: afxdp, interface: y"),
    ("device: null", "device: null, cores: 0"), ("ports:", "egress: {cores: '0'}\nports:"),
    ("ports:", "telemetry: {listen: '127.0.0.1:9090'}\negress: {count: 2}\nports:"),
]

WRONG = [
    ("ports:", "vars: {x: [1]}\nports:"), ("ports:", "vars: {a.b: 1}\nports:"),
    ("ports:", "include: {a: b}\nports:"), ("device: null", 'device: null, mtu: "1500"'),
    ("millrace: 1", "millrace: 2"), ("millrace: 1", "name: x"), ("ports:", "port:"),
    ("ports:", "name: 'a.b'\nports:"), ("ports:", "batch: {capacity: 0}\nports:"),
    ("ports:", "batch: 64\nports:"), ("ports:", "heartbeat_limit: 1\nports:"),
    ("ports:", "telemetry: {listen: here}\nports:"), ("ports:", "egress: {count: 17}\nports:"),
    ("device: null", "device: null, follow: b"), ("ports:", "egress: {cores: x}\nports:"),
    ("device: null", "device: null, cores: 4-"),
    ("from: b", "placement: fused, from: b"),
    ("device: null", "device: nul"), ("device: null", "mtu: 1500"),
    ("device: null", "device: null, file: x"), ("device: null", "device: null, mtu: 67"),
    ("device: null", "device: null, mac: '03:00:00:00:00:01'"),
    ("device: null", 'device: null, addresses: "2001:db8::1"'),
    ("device: null", "device: null, addresses: 10.1.0.1"), ("device: null", "device: pcap"),
    ("device: null", "device: replay"), ("device: null", "device: tap"),
    ("device: null", "device: tap, interface: mill, host: true"),
    ("device: null", "device: tap, interface: a/b"),
    ("device: null", "device: tap, interface: mill, host_addresses: here"),
    ("device: null", "device: tap, interface: mill, host_mac: '03:00:00:00:00:01'"),
   
    ("queues: 2", "queues: 0"), ("queues: 2", "queues: '2'"), ("queues: 2", "numbered: 1"),
    ("queues: 2", "size: 59"), ("queues: 2", "rate_mpps: fast"),
    ("kind: gpu", "kind: gpus"), ("kind: gpu", "count: 1"), ("kind: gpu", "kind: gpu, late: 1001"),
    ("kind: gpu", "kind: gpu, devices: [1, 0, 1]"),
    ("max: 2", "max: 0"), ("max: 2", "max: 129"), ("max: 2", "seed: 1"), ("max: 2", "cores: x"),
    ("dispatch: flow", "dispatch: flows"), ("type: match", "typ: match"),
    ("rules: /dev/null", "rule: /dev/null"), ("rules: /dev/null", "rules: {a: b}"),
    ("on: c", "when: hot"), ("on: c", "overload: stop"),
    ("on: c", "overload: pass, share: 1"), ("on: c", "on: [c, g, c]"),
    ("from: b", "form: b"), ("from: b", "from: {}"), ("run: [m]", "lanes: 129"),
    ("run: [m]", "slots: 2"), ("run: [m]", "match: [udp]"), ("to: a", "to: [a]"),
]


@pytest.mark.parametrize("old, new", RIGHT)
def test_both_take_what_is_right(old, new, tmp_path):
    text = START.replace(old, new, 1)
    assert text != START
    assert schema_takes(text)
    assert loader_says(text, tmp_path) is None


@pytest.mark.parametrize("old, new", WRONG)
def test_both_refuse_what_is_wrong(old, new, tmp_path):
    text = START.replace(old, new, 1)
    assert text != START
    assert not schema_takes(text)
    assert all(": found " in problem for problem in loader_says(text, tmp_path))
