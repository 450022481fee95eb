// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/same_place.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

class SamePlace : public testing::Test {
 protected:
  SamePlace() {
    fs::create_directory(at("folder"));
    for (const char* name : {"a", "b", "folder/a"}) std::ofstream(at(name)) << "text";
    fs::create_symlink(at("a"), at("symbolic"));
    fs::create_hard_link(at("b"), at("hard"));
    fs::create_directory_symlink(at("folder"), at("other"));
  }
  std::string at(const std::string& name) const { return folder_.path(name); }

  test::TestFolder folder_;
};

TEST_F(SamePlace, ASetOfPlacesSaysWhatEachPairSays) {
  const std::vector<std::string> names = {
      "a",   "b",     "symbolic",   "hard",      "folder/a",     "other/a", "folder/../a",
      "new", "./new", "folder/new", "other/new", "other/../new", "folder"};
  std::vector<std::string> order = names;
  std::ranges::sort(order);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<std::string> before;
    Places places;
    for (const std::string& name : order) {
      const bool known = std::ranges::any_of(
          before, [&](const std::string& other) { return same_place(at(other), at(name)); });
      EXPECT_EQ(places.add(at(name)), !known) << name;
      before.push_back(name);
    }
    for (int step = 0; step < 7; ++step) std::ranges::next_permutation(order);
    std::ranges::rotate(order, order.begin() + turn % 5);
  }
}

TEST_F(SamePlace, ARelativeNameOfAFileToBeMadeIsAPlaceToo) {
  const fs::path before = fs::current_path();
  fs::current_path(at("folder"));
  EXPECT_TRUE(same_place("new", at("other/new")));
  Places places;
  EXPECT_TRUE(places.add("new"));
  EXPECT_FALSE(places.add(at("other/new")));
  fs::current_path(before);
}

}  // namespace
}  // namespace millrace
