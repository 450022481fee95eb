// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/observer_facts.hpp"

#include <algorithm>
#include <fstream>
#include <span>
#include <sstream>

#include "shared/base/check.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

std::string tables_path(const std::string& run_dir) { return run_dir + "/telemetry.tables"; }
std::string routes_path(const std::string& run_dir) { return run_dir + "/telemetry.routes"; }

/// Readers take fields apart at spaces: a name is one field (sections.hpp, is_name()).
bool is_one_word(const std::string& name) {
  return !name.empty() && name.find_first_of(" \n") == std::string::npos;
}

void write_text(const std::string& path, const std::string& text) {
  write_whole_file(path, std::as_bytes(std::span(text)));
}

}  // namespace

std::vector<TableFacts> read_tables(const std::string& run_dir) {
  std::vector<TableFacts> tables;
  std::ifstream file(tables_path(run_dir));
  TableFacts one;
  while (file >> one.function >> one.generation >> one.accepted >> one.refused) {
    tables.push_back(one);
  }
  return tables;
}

void note_tables(const std::string& run_dir, std::vector<TableFacts> built) {
  std::vector<TableFacts> tables = read_tables(run_dir);
  for (TableFacts& one : built) {
    const auto before = std::ranges::find(tables, one.function, &TableFacts::function);
    one.generation = before == tables.end() ? 1 : before->generation + (one.is_new ? 1 : 0);
    if (before == tables.end()) {
      tables.push_back(one);
    } else {
      *before = one;
    }
  }
  std::ostringstream text;
  for (const TableFacts& one : tables) {
    MILLRACE_CHECK(is_one_word(one.function));
    text << one.function << ' ' << one.generation << ' ' << one.accepted << ' ' << one.refused
         << '\n';
  }
  write_text(tables_path(run_dir), text.str());
}

void note_routes(const std::string& run_dir, const std::vector<RouteFacts>& routes) {
  std::ostringstream text;
  for (const RouteFacts& one : routes) {
    MILLRACE_CHECK(is_one_word(one.function));
    text << one.function << ' ' << one.prefixes << ' ' << one.changes << ' ' << one.dumps << ' '
         << one.overruns << '\n';
  }
  write_text(routes_path(run_dir), text.str());
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
