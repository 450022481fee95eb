// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "shared/base/error.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

/// Topologies of several files, which lie in memory, below /etc/millrace.

namespace millrace {

using Texts = std::map<std::string, std::string>;

inline ReadFile reader_of(const Texts& texts) {
  return [texts](const std::filesystem::path& path, std::size_t, bool) {
    const auto found = texts.find(path.lexically_relative("/etc/millrace").string());
    if (found == texts.end()) throw Error("it is not there");
    return found->second;
  };
}

/// `texts` has "t.yaml", and what that includes or reads.
inline Topology parse_files(const Texts& texts) {
  return parse_topology(texts.at("t.yaml"), "/etc/millrace/t.yaml", test_functions(),
                        reader_of(texts));
}

/// As wrong() of topology_fixture.hpp; the folder is left out.
inline std::string wrong_files(const Texts& texts) {
  try {
    make_plan(parse_files(texts), test_functions(), {});
    return "";
  } catch (const TopologyError& error) {
    std::string lines = error.what();
    const std::string folder = "/etc/millrace/";
    for (std::size_t at = 0; (at = lines.find(folder, at)) != std::string::npos;) {
      lines.erase(at, folder.size());
    }
    return lines;
  }
}

}  // namespace millrace
