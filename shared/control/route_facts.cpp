// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/route_facts.hpp"

#include <fstream>
#include <span>
#include <sstream>

#include "shared/base/check.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

std::string routes_path(const std::string& run_dir) { return run_dir + "/telemetry.routes"; }

/// Readers take fields apart at spaces: a name is one field (sections.hpp, is_name()).
bool is_one_word(const std::string& name) {
  return !name.empty() && name.find_first_of(" \n") == std::string::npos;
}

}  // namespace

void note_routes(const std::string& run_dir, const std::vector<RouteFacts>& routes) {
  std::ostringstream text;
  for (const RouteFacts& one : routes) {
    MILLRACE_CHECK(is_one_word(one.function));
    text << one.function << ' ' << one.prefixes << ' ' << one.changes << ' ' << one.dumps << ' '
         << one.overruns << '\n';
  }
  const std::string bytes = text.str();
  write_whole_file(routes_path(run_dir), std::as_bytes(std::span(bytes)));
}

std::vector<RouteFacts> read_routes(const std::string& run_dir) {
  std::vector<RouteFacts> routes;
  std::ifstream file(routes_path(run_dir));
  RouteFacts one;
  while (file >> one.function >> one.prefixes >> one.changes >> one.dumps >> one.overruns) {
    routes.push_back(one);
  }
  return routes;
}

}  // namespace millrace
