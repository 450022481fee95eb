// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "orchestration/planner/variables.hpp"
#include "orchestration/planner/yaml_reader.hpp"

/// A topology in several files. `include:` names one file or a list of them, relative to the file
/// that includes; each is a topology file too, without `name` and with or without `millrace`, and
/// may include others. What comes out is one topology, as if the included files stood in front of
/// the one that includes them, in the order of the list: `ports`, `workers`, `functions`, `paths`
/// and `vars` are merged by name; a name that is there twice, or any other section that is, is
/// refused with both places.

namespace millrace {

inline constexpr std::size_t kIncludeDepthMax = 8;   ///< files inside each other
inline constexpr std::size_t kIncludeCountMax = 64;  ///< files of a topology

/// Reads `text` and all that it includes. Keys are checked, `include` and `millrace` are dealt
/// with. Nothing: `text` is no YAML. `variables` and `problems` outlive the map.
std::optional<YamlMap> read_documents(std::string text, const std::string& file,
                                      Variables& variables, Problems& problems);

}  // namespace millrace
