// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "services/functions/acl/acl.hpp"

/// A folder of its own, removed at the end, with rule files and an image in it.

namespace millrace {

class AclFolder {
 public:
  AclFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "millrace-acl-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  AclFolder(const AclFolder&) = delete;
  AclFolder& operator=(const AclFolder&) = delete;
  ~AclFolder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  /// A function with one rule file that holds `rules`, other settings, and classes in the order of
  /// their bits.
  PlanFunction plan(const std::string& rules, const Settings& settings = {},
                    std::uint32_t class_mask = 0) const {
    PlanFunction function;
    function.name = "a";
    function.type = "acl";
    function.image = path("a.image");
    function.settings = settings;
    function.settings.emplace_back("rules", write("a.rules", rules));
    function.class_mask = class_mask;
    return function;
  }

 private:
  std::string path_;
};

inline BuildReport build(const PlanFunction& function) {
  return acl_type().build({.function = function, .ports = {}});
}

inline std::unique_ptr<Function> make(const PlanFunction& function, bool computes = true) {
  return acl_type().make({.function = function, .ports = {}, .computes = computes});
}

}  // namespace millrace
