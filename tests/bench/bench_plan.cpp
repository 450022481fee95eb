// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <exception>
#include <iostream>

#include "orchestration/cli/topology_file.hpp"
#include "shared/control/plan_file.hpp"

namespace {
constexpr const char* kKinds[] = {"hub", "standby", "ingress", "classifier", "gpu", "egress"};
}

/// The bench starts processes itself, without a supervisor: this writes the plan that they read.
int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: millrace-bench-plan TOPOLOGY.yaml PLAN.bin\n";
    return 2;
  }
  try {
    const millrace::Plan plan = millrace::read_topology_file(argv[1], millrace::this_host()).plan;
    millrace::save_plan(plan, argv[2]);
    // What the launcher has to know, a line each: number, kind, start, name.
    for (std::size_t i = 0; i < plan.actors.size(); ++i) {
      const millrace::PlanActor& actor = plan.actors[i];
      std::cout << "actor " << i << ' ' << kKinds[static_cast<std::size_t>(actor.kind)] << ' '
                << actor.at_start << ' ' << actor.core << ' ' << actor.name << '\n';
    }
    for (std::size_t i = 0; i < plan.functions.size(); ++i) {
      if (!plan.functions[i].image.empty()) std::cout << "table " << i << '\n';
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "millrace-bench-plan: " << error.what() << '\n';
    return 1;
  }
}
