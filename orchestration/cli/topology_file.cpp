// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/topology_file.hpp"

#include <iostream>
#include <utility>

#include "io-worker/ports/port.hpp"
#include "services/functions/table.hpp"
#include "shared/base/secrets.hpp"
#include "shared/config/loader.hpp"

namespace millrace {
namespace {

/// The place of the setting that a message speaks of, else that of the item.
template <typename Item>
SourceMark place_of(const std::string& why, const Item& item) {
  for (const TopologySetting& setting : item.settings) {
    if (why.find(setting.key + " is '" + setting.value.value + "'") != why.npos) {
      return setting.value.mark;
    }
  }
  return item.name.mark;
}

/// Adds what an Error of `check` says of the item.
template <typename Item, typename Check>
void gather(Problems& problems, const Topology& topology, const Item& item, const char* kind,
            Check&& check) {
  try {
    check();
  } catch (const Error& error) {
    const std::string why = without_secrets(error.what(), topology.secrets);
    problems.add(place_of(error.what(), item), std::string(kind) + " '" + item.name.value +
                                                   "' that cannot be used (" + why + ")");
  }
}

void check_parts(const Topology& topology, const Plan& plan) {
  Problems problems;
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    gather(problems, topology, topology.ports[i], "port", [&] { check_port(plan.ports[i]); });
  }
  for (std::size_t i = 0; i < plan.functions.size(); ++i) {
    const PlanFunction& function = plan.functions[i];
    gather(problems, topology, topology.functions[i], "function",
           [&] { function_type(function.type).check(function); });
  }
  problems.throw_if_any();
}

}  // namespace

void print_warnings(const Topology& topology) {
  for (const TopologyWarning& warning : topology.warnings) {
    std::cerr << to_text(warning) << '\n';
  }
}

TopologyFile read_topology_file(const std::string& path, const Host& host) {
  const std::vector<KnownFunction> known = known_functions();
  TopologyFile file;
  file.topology = load_topology(path, known);
  check_files(file.topology);
  file.plan = make_plan(file.topology, known, host);
  check_parts(file.topology, file.plan);
  return file;
}

}  // namespace millrace
