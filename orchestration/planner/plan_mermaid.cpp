// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <sstream>

#include "orchestration/planner/plan_printer.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

/// Edges in the order of their first mention, each once.
class Chart {
 public:
  void node(const std::string& id, const std::string& label, const char* open, const char* close) {
    out_ << "  " << id << open << '"' << label << '"' << close << '\n';
  }
  void edge(const std::string& from, const char* arrow, const std::string& to) {
    const std::string line = "  " + from + " " + arrow + " " + to + "\n";
    if (known_.insert(line).second) out_ << line;
  }
  std::string text() const { return "flowchart LR\n" + out_.str(); }

 private:
  std::ostringstream out_;
  std::set<std::string> known_;
};

// Ids are numbered, because names may hold what Mermaid takes for syntax.
std::string id(const char* kind, std::uint32_t number) { return kind + std::to_string(number); }

std::string group_label(const Plan& plan, std::uint32_t group) {
  const PlanGroup& from = plan.groups[group];
  std::string label = from.name + "<br/>" + std::to_string(from.count) + " of " +
                      std::to_string(from.max) +
                      (from.kind == GroupKind::kGpu ? " GPU workers" : " classifiers");
  for (const PlanFunction& function : plan.functions) {
    if (function.group == group) label += "<br/>" + function.name;
  }
  return label;
}

void draw_nodes(const Plan& plan, Chart& chart) {
  for (std::uint32_t i = 0; i < plan.ports.size(); ++i) {
    chart.node(id("port", i), plan.ports[i].name + "<br/>" + plan.ports[i].device, "([", "])");
  }
  for (std::uint32_t i = 0; i < plan.groups.size(); ++i) {
    chart.node(id("group", i), group_label(plan, i), "[[", "]]");
  }
  for (std::uint32_t i = 0; i < plan.actors.size(); ++i) {
    const ActorKind kind = plan.actors[i].kind;
    if (kind == ActorKind::kIngress || kind == ActorKind::kEgress) {
      chart.node(id("actor", i), plan.actors[i].name, "[", "]");
    }
  }
}

/// A step to `group`, and beside it to the group that does the work when the GPU cannot.
void draw_step(const Plan& plan, const std::string& from, std::uint32_t group, Chart& chart) {
  chart.edge(from, "-->", id("group", group));
  if (plan.groups[group].kind == GroupKind::kGpu) {
    chart.edge(from, "-.->", id("group", plan.groups[group].stand_in));
  }
}

void draw_path(const Plan& plan, const PlanStream& stream, const PlanStreamPath& path,
               Chart& chart) {
  std::string at = id("actor", stream.ingress);
  std::string beside;  // the stand-in of the group at hand
  std::uint8_t stage = plan.paths[path.path].first_stage;
  for (; stage != kEgressStage; stage = plan.stages[stage].next) {
    const std::uint32_t group = plan.stages[stage].group;
    draw_step(plan, at, group, chart);
    if (!beside.empty()) chart.edge(beside, "-.->", id("group", group));
    at = id("group", group);
    const bool gpu = plan.groups[group].kind == GroupKind::kGpu;
    beside = gpu ? id("group", plan.groups[group].stand_in) : "";
  }
  chart.edge(at, "-->", id("actor", stream.egress));
  if (!beside.empty()) chart.edge(beside, "-.->", id("actor", stream.egress));
  chart.edge(id("actor", stream.egress), "-->", id("port", path.output));
}

}  // namespace

std::string plan_mermaid(const Plan& plan) {
  Chart chart;
  draw_nodes(plan, chart);
  for (const PlanStream& stream : plan.streams) {
    chart.edge(id("port", stream.port), "-->", id("actor", stream.ingress));
    for (const PlanStreamPath& path : stream.paths) draw_path(plan, stream, path, chart);
  }
  return chart.text();
}

}  // namespace millrace
