// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;

class RuleDatasets : public testing::Test {
 protected:
  RuleDatasets() {
    folder_ =
        std::filesystem::temp_directory_path() / ("millrace-datasets-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    of_.setup.folder = folder_.string();
  }
  ~RuleDatasets() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  std::filesystem::path folder_;
  DraftOf of_;
};

// Values by `printf %s ... | base64`.
TEST_F(RuleDatasets, StringsAreBase64) {
  write("a.lst", "Zm9v\r\n\n# a comment\nZm9vYg==\nZm9vYmE=\nZm9v\nAA==\n");
  const auto match = test_of<DatasetMatch>(
      signature_of("http.host; dataset:isset,some, type string, load a.lst, memcap 10mb;", of_));
  EXPECT_FALSE(match.negated || match.is_sha256);
  EXPECT_THAT(match.values, ElementsAre(std::string(1, '\0'), "foo", "foob", "fooba"));
}

TEST_F(RuleDatasets, DigestsAreHex) {
  write("md5.lst", "d41d8cd98f00b204e9800998ecf8427e\n");
  const auto match =
      test_of<DatasetMatch>(signature_of("http.host; to_md5; dataset:isnotset,some,type md5,load " +
                                             (folder_ / "md5.lst").string() + ";",
                                         of_));
  EXPECT_TRUE(match.negated);
  ASSERT_EQ(match.values.size(), 1u);
  EXPECT_EQ(match.values[0].size(), 16u);
  EXPECT_EQ(match.values[0].substr(0, 2), "\xd4\x1d");
  write("sha256.lst", std::string(64, 'a') + "\n");
  const auto sha = test_of<DatasetMatch>(
      signature_of("http.host; to_sha256; dataset:isset,some,type sha256,load sha256.lst;", of_));
  EXPECT_THAT(sha.values, ElementsAre(std::string(32, '\xaa')));
}

TEST_F(RuleDatasets, FilesThatTheRulesHaveAreNotRead) {
  of_.files["away.lst"] = "Zm9v\n";
  EXPECT_THAT(test_of<DatasetMatch>(
                  signature_of("http.host; dataset:isset,some,type string,load away.lst;", of_))
                  .values,
              ElementsAre("foo"));
}

TEST_F(RuleDatasets, FilesThatAreReadAreKept) {
  write("a.lst", "Zm9v\n");
  std::vector<std::string> flowbits;
  RuleFiles files;
  RuleDraft draft{.setup = of_.setup, .flowbits = flowbits, .files = files};
  apply_option({.name = "http.host", .value = "", .has_value = false}, draft);
  apply_option({.name = "dataset", .value = "isset,a,type string,load a.lst", .has_value = true},
               draft);
  EXPECT_THAT(files, ElementsAre(testing::Pair("a.lst", "Zm9v\n")));
}

TEST_F(RuleDatasets, WhatCannotBeReadIsRefused) {
  write("bad.lst", "abc\n");
  write("worse.lst", "a-_=\n");
  write("short.lst", "abcd\n");
  expect_refused({{"dataset:isset,a,type string,load bad.lst;", "no sticky buffer"},
                  {"http.host; dataset:isset;", "a command and a name"},
                  {"http.host; dataset:set,a,type string,load bad.lst;", "cannot write"},
                  {"http.host; dataset:foo,a,type string,load bad.lst;", "neither isset"},
                  {"http.host; dataset:isset,a,type string;", "'load' is missing"},
                  {"http.host; dataset:isset,a,type string,state bad.lst;", "not supported"},
                  {"http.host; dataset:isset,a,type string,foo 1,load bad.lst;", "not known"},
                  {"http.host; dataset:isset,a,type ip,load bad.lst;", "none of string"},
                  {"http.host; dataset:isset,a,type string,load none.lst;", "none.lst"},
                  {"http.host; dataset:isset,a,type string,load bad.lst;", "no base64"},
                  {"http.host; dataset:isset,a,type string,load worse.lst;", "no base64"},
                  {"http.host; dataset:isset,a,type md5,load short.lst;", "no digest"},
                  {"http.host; dataset:isset,a,type md5,load bad.lst;", "half a byte"}},
                 of_);
}

}  // namespace
}  // namespace millrace
