# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What is made of metrics.yaml:

    generate.py headers DIRECTORY   counter_ids.hpp and metric_table.hpp, rewritten when changed
    generate.py readme              the table in README.md, rewritten when changed

Needs python3-yaml. Exit 1, with the entry that is wrong, when metrics.yaml breaks its own rules.
"""

import pathlib
import re
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ACTOR_COUNTERS_MAX = 64  # kActorCounterCount of shared/layout/status_file.hpp
ACTOR_LABELS = ["actor", "group", "worker"]
SECTIONS = ("actor", "roster", "link", "stream", "port", "topology", "function", "gpu")
TYPES = ("counter", "gauge", "histogram")
SCALES = ("one", "tsc", "nanoseconds", "tsc_since")
KINDS = ("hub", "standby", "ingress", "classifier", "gpu", "egress")  # ActorKind of config/plan.hpp
MOVE_PACKETS = list(KINDS[2:])
DIRECTIONS = ("in", "out")
KEYS = {"id", "name", "type", "unit", "scale", "labels", "help", "kinds", "direction"}
LICENCE = """\
// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated from shared/metrics/metrics.yaml by generate.py: do not edit.
#pragma once
"""
BEGIN = "<!-- metrics: made by generate.py -->"
END = "<!-- end of metrics -->"


class Refused(Exception):
    """metrics.yaml breaks a rule."""


def check(metric):
    """The first rule that a metric breaks, or None."""
    name = metric.get("name", "")
    rules = (
        (set(metric) <= KEYS, f"unknown key {sorted(set(metric) - KEYS)}"),
        (re.fullmatch(r"[a-z][a-z0-9_]*", metric.get("id", "")), "id is not snake_case"),
        (re.fullmatch(r"millrace_[a-z0-9_]+", name), f"name '{name}' is not millrace_*"),
        (metric.get("type") in TYPES, f"type is none of {TYPES}"),
        (metric.get("scale") in SCALES, f"scale is none of {SCALES}"),
        ((metric.get("type") == "counter") == name.endswith("_total"),
         "counters, and only they, end in _total"),
        (metric.get("scale") == "one" or "_seconds" in name, "scaled numbers are seconds"),
        (metric.get("unit"), "has no unit"),
        (re.fullmatch(r'[A-Z][^"\\\n]*\.', metric.get("help", "")), "help is not a sentence"),
        (isinstance(metric.get("labels"), list), "has no list of labels"),
        (set(metric.get("kinds", [])) <= set(KINDS), f"kinds are none of {KINDS}"),
        (metric.get("direction", "in") in DIRECTIONS, f"direction is none of {DIRECTIONS}"),
    )
    return next((text for good, text in rules if not good), None)


def load(text):
    """All metrics of the YAML text, in order, each with its section. Raises Refused."""
    sections = yaml.safe_load(text)
    if tuple(sections) != SECTIONS:
        raise Refused(f"sections are {tuple(sections)}, not {SECTIONS}")
    metrics = []
    for section in SECTIONS:
        for entry in sections[section]:
            metric = {"scale": "one", **entry, "section": section}
            if section == "actor":
                metric.setdefault("labels", ACTOR_LABELS)
                metric.setdefault("kinds", MOVE_PACKETS)
                if "direction" in metric:
                    metric["labels"] = [*metric["labels"], "direction"]
            elif "kinds" in metric or "direction" in metric:
                raise Refused(f"{metric['id']}: kinds, direction belong to the actor section")
            problem = check({key: metric[key] for key in metric if key != "section"})
            if problem:
                raise Refused(f"{metric.get('id', entry)}: {problem}")
            metrics.append(metric)
    out = [metric for metric in metrics if metric.get("direction") == "out"]
    for key, given in (("id", metrics), ("name", [one for one in metrics if one not in out]),
                       ("name", out)):
        values = [metric[key] for metric in given]
        twice = {value for value in values if values.count(value) > 1}
        if twice:
            raise Refused(f"{key} given twice: {sorted(twice)}")
    into = {metric["name"] for metric in metrics if metric.get("direction") == "in"}
    alone = {metric["name"] for metric in out} - into
    if alone:
        raise Refused(f"direction out without in: {sorted(alone)}")
    if len(sections["actor"]) > ACTOR_COUNTERS_MAX:
        raise Refused(f"{len(sections['actor'])} actor counters, at most {ACTOR_COUNTERS_MAX}")
    return metrics


def enumerator(name):
    return "k" + "".join(word.capitalize() for word in name.split("_"))


def enum_lines(metrics):
    return "".join(f"  {enumerator(metric['id'])} = {index},  ///< {metric['help']}\n"
                   for index, metric in enumerate(metrics))


def counter_ids(metrics):
    """The header that actors include: ids of their own counters."""
    actor = [metric for metric in metrics if metric["section"] == "actor"]
    return LICENCE + f"""
#include <cstdint>

namespace millrace {{

/// An actor's counters by their index in the status file.
// clang-format off
enum class Counter : std::uint16_t {{
{enum_lines(actor)}  kCount = {len(actor)},
}};
// clang-format on

}}  // namespace millrace
"""


def kinds_mask(metric):
    return sum(1 << KINDS.index(kind) for kind in metric.get("kinds", []))


def table_row(metric, family):
    labels = ", ".join(f'"{label}"' for label in metric["labels"])
    kind, scale = enumerator(metric["type"]), enumerator(metric["scale"])
    return (f'    {{"{metric["name"]}", "{metric["help"]}", "{metric["unit"]}", '
            f'MetricType::{kind}, MetricScale::{scale}, '
            f'{len(metric["labels"])}, {{{labels}}}, {kinds_mask(metric)}, '
            f'Metric::{enumerator(family)}, "{metric.get("direction", "")}"}},\n')


def metric_table(metrics):
    """The header that the exporter includes: everything there is."""
    most_labels = max(len(metric["labels"]) for metric in metrics)
    families = {}
    for metric in metrics:
        families.setdefault(metric["name"], metric["id"])
    rows = "".join(table_row(metric, families[metric["name"]]) for metric in metrics)
    return LICENCE + f"""
#include <cstdint>
#include <string_view>

namespace millrace {{

enum class MetricType : std::uint8_t {{ kCounter, kGauge, kHistogram }};
/// What turns the stored number into the metric's unit.
enum class MetricScale : std::uint8_t {{ kOne, kTsc, kNanoseconds, kTscSince }};

/// All metrics; those of Counter come first, with the same numbers.
// clang-format off
enum class Metric : std::uint16_t {{
{enum_lines(metrics)}  kCount = {len(metrics)},
}};
// clang-format on

struct MetricInfo {{
  std::string_view name, help, unit;
  MetricType type;
  MetricScale scale;
  std::uint8_t label_count;
  std::string_view labels[{most_labels}];
  std::uint8_t kinds;          ///< of an actor's own: bit i is set when ActorKind i has it
  Metric family;               ///< the first of its name, under which it is exported
  std::string_view direction;  ///< value of the last label; empty: it has no such label
}};

// clang-format off
inline constexpr MetricInfo kMetrics[] = {{
{rows}}};
// clang-format on
static_assert(sizeof(kMetrics) / sizeof(kMetrics[0]) == static_cast<unsigned>(Metric::kCount));

}}  // namespace millrace
"""


def markdown(metrics):
    """The tables of README.md."""
    titles = {"actor": "Of each actor", "roster": "The actor table", "link": "Links",
              "stream": "Streams and paths", "port": "Ports", "topology": "The topology",
              "function": "Functions", "gpu": "Devices"}
    text = ""
    for section in SECTIONS:
        text += f"\n### {titles[section]}\n\n| metric | type | unit | labels | meaning |\n"
        text += "|---|---|---|---|---|\n"
        for metric in metrics:
            if metric["section"] == section and metric.get("direction") != "out":
                labels = ", ".join(metric["labels"]) or "-"
                text += (f"| `{metric['name']}` | {metric['type']} | {metric['unit']} | {labels} "
                         f"| {metric['help']} |\n")
    return text


def with_tables(readme, metrics):
    """README.md's text with the tables between its two marks made anew."""
    before, rest = readme.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{markdown(metrics)}\n{END}{after}"


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main(arguments):
    try:
        metrics = load((HERE / "metrics.yaml").read_text())
    except Refused as refused:
        sys.exit(f"metrics.yaml: {refused}")
    if arguments == ["readme"]:
        readme = HERE / "README.md"
        write_if_changed(readme, with_tables(readme.read_text(), metrics))
    elif len(arguments) == 2 and arguments[0] == "headers":
        folder = pathlib.Path(arguments[1])
        write_if_changed(folder / "counter_ids.hpp", counter_ids(metrics))
        write_if_changed(folder / "metric_table.hpp", metric_table(metrics))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
