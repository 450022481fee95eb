// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "orchestration/doctor/doctor.hpp"

/// A host made of files below a folder of its own, and nothing else.

namespace millrace::test {

class FakeHost : public testing::Test {
 public:
  ~FakeHost() override { std::filesystem::remove_all(root_); }

 protected:
  FakeHost() {
    char pattern[] = "/tmp/millrace-doctor-XXXXXX";
    root_ = mkdtemp(pattern);
  }

  HostFiles host() const { return HostFiles(root_); }
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void folder(const std::string& path) const { std::filesystem::create_directories(root_ + path); }
  void link(const std::string& path, const std::string& target) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::filesystem::create_symlink(target, root_ + path);
  }
  /// The only finding of that check.
  static Finding of(const std::vector<Finding>& findings, const std::string& check) {
    Finding found{.check = "no finding: " + check, .health = Health::kProblem};
    for (const Finding& finding : findings) {
      if (finding.check == check) found = finding;
    }
    return found;
  }

  std::string root_;
};

}  // namespace millrace::test
