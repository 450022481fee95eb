// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/reload_wish.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "orchestration/planner/plan_sources.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// "a" and "b" read one file, "b" and "c" another one; "d" has no table.
class ReloadWishTest : public testing::Test {
 protected:
  ReloadWishTest() {
    char pattern[] = "/tmp/millrace-reload-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    write("one", "1");
    write("two", "2");
    plan_.functions = {
        {.name = "a", .type = "match", .settings = {{"rules", path("one")}}, .image = "/a"},
        {.name = "b",
         .type = "match",
         .settings = {{"rules", path("one")}, {"more", path("two")}},
         .image = "/b"},
        {.name = "c", .type = "match", .settings = {{"rules", path("two")}}, .image = "/c"},
        {.name = "d", .type = "record"}};
    plan_.sources = {source_of(path("one")), source_of(path("two"))};
  }
  ~ReloadWishTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  std::vector<std::uint32_t> numbers(const std::vector<std::string>& names) const {
    std::vector<std::uint32_t> found;
    for (const PlanEdition& one : reloaded(plan_, names)) found.push_back(one.number);
    return found;
  }

  std::string folder_;
  Plan plan_ = test::small_plan("reload");
};

TEST_F(ReloadWishTest, FunctionsThatReadAFileOfAnotherComeAlong) {
  EXPECT_THAT(numbers({"a"}), ElementsAre(0u, 1u, 2u)) << "by way of b, which reads both";
  EXPECT_THAT(numbers({"c", "a"}), ElementsAre(2u, 0u, 1u));
}

TEST_F(ReloadWishTest, AFunctionWithoutATableIsRefused) {
  EXPECT_THAT(test::error_of([&] { numbers({"d"}); }), HasSubstr("has no table"));
}

TEST_F(ReloadWishTest, OnlySourcesOfTheFunctionsAreReadAnew) {
  write("one", "1 and more");
  write("two", "2 and more");
  const auto sources = sources_now(plan_, {{0, plan_.functions[0]}});
  EXPECT_THAT(sources, ElementsAre(source_of(path("one")), plan_.sources[1]));
}

}  // namespace
}  // namespace millrace
