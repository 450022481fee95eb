// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/rule_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/acl/acl_folder.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;

TEST(RuleFiles, ClassesHaveTheBitsOfTheMaskInTheirOrder) {
  PlanFunction function;
  function.settings = {{"classes", "a"}, {"rules", "x"}, {"classes", "b"}};
  function.class_mask = 0b100100;
  const auto classes = classes_of(function);
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0].name, "a");
  EXPECT_EQ(classes[0].mask, 4u);
  EXPECT_EQ(classes[1].mask, 32u);
  function.class_mask = 1;
  EXPECT_THROW(classes_of(function), Error);
}

TEST(RuleFiles, AreReadWholeOrRefused) {
  const AclFolder folder;
  EXPECT_EQ(read_rule_file(folder.write("r", "a\nb")), "a\nb");
  EXPECT_THROW(read_rule_file(folder.path("absent")), Error);
  EXPECT_THROW(read_rule_file("/dev/zero"), Error) << "without an end";
}

TEST(RuleFiles, EntriesAreLinesThatAreNeitherBlankNorComments) {
  for (const char* text : {"", "\n", "# a\n  # b\n\t\n", " "})
    EXPECT_EQ(count_entries(text), 0u) << text;
  for (const char* text : {"a", "\n# a\n b # c", "# a\nb"})
    EXPECT_EQ(count_entries(text), 1u) << text;
  EXPECT_EQ(count_entries("a\n#\nb\n c"), 3u);
}

TEST(RuleFiles, AreReportedOnceWithTheirEntriesAndEmptyOnesInWords) {
  BuildReport report{.refused = 1, .refusals = {"a:3: why"}};
  report_files({{"a", 5, false}, {"b", 0, true}, {"a", 4, false}, {"c", 0, false}}, report);
  ASSERT_EQ(report.files.size(), 3u);
  EXPECT_EQ(report.files[0].path + report.files[1].path + report.files[2].path, "abc");
  EXPECT_EQ(report.files[0].accepted, 9u);
  EXPECT_EQ(report.files[2].accepted, 0u) << "all its lines were refused";
  EXPECT_THAT(report.refusals, ElementsAre("b: no entry in it; is it whole?", "a:3: why"));
  EXPECT_EQ(report.refused, 1u);
}

TEST(RuleFiles, AreCheckedByTheirKindWithoutBeingWaitedFor) {
  const AclFolder folder;
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  PlanFunction function;
  const auto error_with = [&](const std::string& path) {
    function.settings = {{"rules", path}};
    return test::error_of([&] { check_rule_files(function, "acl"); });
  };
  EXPECT_EQ(error_with(folder.write("r", "a")), "no error");
  EXPECT_EQ(error_with("/dev/null"), "no error") << "an empty file";
  EXPECT_EQ(error_with(folder.path("")),
            "rules: read " + folder.path("") + ": it is a folder; a regular file is needed");
  EXPECT_EQ(error_with(pipe), "rules: read " + pipe + ": it is a pipe; a regular file is needed");
  EXPECT_EQ(error_with("/dev/zero"),
            "rules: read /dev/zero: it is a device; a regular file is needed");
  function.settings.clear();
  EXPECT_EQ(test::error_of([&] { check_rule_files(function, "acl"); }),
            "rules: acl needs at least one rule file");
}

TEST(RuleFiles, TheFirstHundredRefusalsAreReported) {
  BuildReport report;
  report_refusals({"one", "two"}, report);
  EXPECT_EQ(report.refused, 2u);
  EXPECT_THAT(report.refusals, ElementsAre("one", "two"));
  report_refusals(std::vector<std::string>(150, "x"), report);
  EXPECT_EQ(report.refused, 150u);
  EXPECT_EQ(report.refusals.size(), 100u);
}

}  // namespace
}  // namespace millrace
