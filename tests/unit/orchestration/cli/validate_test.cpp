// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "orchestration/cli/commands.hpp"

namespace millrace {
namespace {

struct Outcome {
  int status = 0;
  std::string out;
};

/// Runs the command in this process, as main() would.
Outcome run(const std::vector<std::string>& words) {
  CLI::App app;
  app.require_subcommand(1);
  add_validate(app);
  add_plan(app);
  Outcome outcome;
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

std::string file_with(const std::string& text) {
  std::string path = testing::TempDir() + "/millrace-validate-test.yaml";
  std::ofstream(path) << text;
  return path;
}

constexpr const char* kRight =
    "millrace: 1\nname: x\nports: {a: {device: null}}\npaths: {p: {from: a}}\n";
constexpr const char* kWrong = "millrace: 1\nports: {a: {device: nul}}\npaths: {p: {from: a}}\n";

TEST(ValidateCommand, SaysThatATopologyIsRight) {
  const Outcome outcome = run({"validate", file_with(kRight)});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("topology 'x' is right: ports 1, groups 0, functions 0, paths 1, "
                             "processes 4\n"),
            std::string::npos)
      << outcome.out;
}

TEST(ValidateCommand, SaysItInJson) {
  const Outcome right = run({"validate", file_with(kRight), "--json"});
  EXPECT_EQ(nlohmann::json::parse(right.out)["ok"], true);
  const Outcome wrong = run({"validate", "--json", file_with(kWrong)});
  EXPECT_EQ(wrong.status, 1);
  const auto json = nlohmann::json::parse(wrong.out);
  EXPECT_EQ(json["problems"][0]["line"], 2);
  EXPECT_EQ(json["problems"][0]["nearest"], "null");
}

TEST(ValidateCommand, RefusesWithStatusOne) {
  const Outcome outcome = run({"validate", file_with(kWrong)});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("validate-test.yaml:2:21: found 'nul' as 'device'"),
            std::string::npos);
  EXPECT_EQ(run({"validate", "/nowhere"}).status, 1);
}

TEST(PlanCommand, PrintsTextJsonAndMermaid) {
  const std::string file = file_with(kRight);
  EXPECT_TRUE(run({"plan", file}).out.starts_with("topology x: "));
  EXPECT_EQ(nlohmann::json::parse(run({"plan", file, "--json"}).out)["name"], "x");
  EXPECT_TRUE(run({"plan", file, "--mermaid"}).out.starts_with("flowchart LR\n"));
  EXPECT_NE(run({"plan", file, "--mermaid", "--json"}).status, 0);
  EXPECT_EQ(run({"plan", file_with(kWrong)}).status, 1);
}

}  // namespace
}  // namespace millrace
