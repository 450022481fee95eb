// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "services/functions/match/match.hpp"

/// A folder of its own, removed at the end, with rule files and an image in it.

namespace millrace {

class MatchFolder {
 public:
  MatchFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "millrace-match-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  MatchFolder(const MatchFolder&) = delete;
  ~MatchFolder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  /// A function with one rule file that holds `rules`, and classes in the order of their bits.
  PlanFunction plan(const std::string& rules, const std::vector<std::string>& classes = {},
                    std::uint32_t class_mask = 0) const {
    PlanFunction function;
    function.name = "m";
    function.type = "match";
    function.image = path("m.image");
    function.settings.emplace_back("rules", write("m.rules", rules));
    for (const std::string& name : classes) function.settings.emplace_back("classes", name);
    function.class_mask = class_mask;
    return function;
  }

 private:
  std::string path_;
};

inline BuildReport build(const PlanFunction& function) {
  return match_type().build({.function = function, .ports = {}});
}

inline std::unique_ptr<Function> make(const PlanFunction& function) {
  return match_type().make({.function = function, .ports = {}});
}

}  // namespace millrace
