// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

/// A folder of its own for rule files, removed at the end.

namespace millrace {

class RuleFolder {
 public:
  RuleFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "millrace-ids-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  RuleFolder(const RuleFolder&) = delete;
  RuleFolder& operator=(const RuleFolder&) = delete;
  ~RuleFolder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::string path_;
};

}  // namespace millrace
