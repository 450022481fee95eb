// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "orchestration/cli/commands.hpp"

namespace millrace {
namespace {

struct RulesOutcome {
  int status = 0;
  std::string out;
};

/// Runs the command in this process, as main() would.
RulesOutcome run_rules_command(std::vector<std::string> words) {
  CLI::App app;
  add_rules(app);
  RulesOutcome outcome;
  words.insert(words.begin(), "rules");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Error& error) {
    outcome.status = error.get_exit_code();
  }
  outcome.out = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
  return outcome;
}

std::string rules_with(const std::string& name, const std::string& text) {
  std::string path = testing::TempDir() + "/millrace-rules-test-" + name;
  std::ofstream(path) << text;
  return path;
}

constexpr const char* kGood = "alert tcp any any -> $MINE any (msg:\"a\"; content:\"b\"; sid:1;)\n";
constexpr const char* kMixed =
    "#alert tcp any any -> any any (msg:\"a\"; sid:3;)\n"
    "alert tcp any any -> any any (msg:\"a\"; no_such; sid:1;)\n"
    "alert tcp any any -> any any (msg:\"a\"; flow:established; sid:2;)\n";

TEST(RulesCommand, CountsWhatLoads) {
  const RulesOutcome outcome =
      run_rules_command({rules_with("good", kGood), "--variable", "MINE=10.0.0.0/8"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out,
            "1 rules loaded, 0 refused, 0 disabled; 0 of those loaded are gated by no literal\n");
}

TEST(RulesCommand, WarnsOfCountsThatLanesKeepByThemselves) {
  const std::string path =
      rules_with("counts",
                 "alert tcp any any -> any any (flags:S; sid:1;"
                 " detection_filter:track by_src, count 20, seconds 60;)\n"
                 "alert tcp any any -> any any (flags:S; sid:2;"
                 " threshold:type limit, track by_rule, count 1, seconds 60;)\n"
                 "alert tcp any any -> any any (flags:S; sid:3;"
                 " threshold:type limit, track by_both, count 1, seconds 60;)\n");
  EXPECT_NE(run_rules_command({path}).out.find("\nwarning: 2 of those loaded have threshold or"),
            std::string::npos);
  const auto json = nlohmann::json::parse(run_rules_command({path, "--json"}).out);
  EXPECT_EQ(json["counted_by_lane"], 2);
}

TEST(RulesCommand, NamesWhatDoesNot) {
  const std::string path = rules_with("mixed", kMixed);
  const RulesOutcome outcome = run_rules_command({path});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find(path + ":2: sid 1: no_such: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("refused by keyword:\n     1  no_such\n"), std::string::npos);
  EXPECT_NE(outcome.out.find("1 rules loaded, 1 refused, 1 disabled; 1 of"), std::string::npos);
}

TEST(RulesCommand, SaysItInJson) {
  const std::string path = rules_with("mixed", kMixed);
  const RulesOutcome outcome = run_rules_command({path, "--json", "--options"});
  EXPECT_EQ(outcome.status, 1);
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["loaded"], 1);
  EXPECT_EQ(json["disabled"], 1);
  EXPECT_EQ(json["keywords"][0]["keyword"], "no_such");
  EXPECT_EQ(json["refusals"][0]["place"], path + ":2");
  ASSERT_EQ(json["rules"].size(), 3u);
  EXPECT_EQ(json["rules"][0]["disabled"], true);
  EXPECT_EQ(json["rules"][1]["options"][1], (nlohmann::json{"no_such", nullptr}));
}

TEST(RulesCommand, EndsWithTwoForFilesThatCannotBeRead) {
  const std::string good = rules_with("good", kGood);
  EXPECT_EQ(run_rules_command({"/nowhere/a.rules"}).status, 2);
  EXPECT_EQ(run_rules_command({good, "--classification", "/nowhere/a"}).status, 2);
  EXPECT_EQ(run_rules_command({good, "--threshold", "/nowhere/a"}).status, 2);
  EXPECT_EQ(run_rules_command({good, "--variable", "MINE"}).status, 2);
  const RulesOutcome json = run_rules_command({"/nowhere/a.rules", "--json"});
  EXPECT_EQ(json.status, 2);
  EXPECT_EQ(nlohmann::json::parse(json.out)["ok"], false);
}

TEST(RulesCommand, TeachesInItsHelp) {
  CLI::App app;
  add_rules(app);
  const std::string help = app.get_subcommand("rules")->help();
  for (const char* word : {"--variable", "HOME_NET=10.0.0.0/8", "Exit status", "--threshold"}) {
    EXPECT_NE(help.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace millrace
