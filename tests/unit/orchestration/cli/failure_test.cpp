// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/failure.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "orchestration/planner/problem.hpp"

namespace millrace {
namespace {

std::string printed(const Error& error, Format format, bool colour) {
  std::ostringstream out;
  print_failure(error, format, colour, out);
  return out.str();
}

Problem problem(int line, int column, const char* found) {
  Problem made;
  made.mark.file = "a.yaml";
  made.mark.line = line;
  made.mark.column = column;
  made.found = found;
  return made;
}

TopologyError refused() {
  std::vector<Problem> problems = {problem(3, 5, "'x'"), problem(4, 1, "z")};
  problems[0].allowed = problems[0].nearest = "y";
  return {problems, 3};
}

TEST(Failure, OfATopologyIsALineAProblem) {
  EXPECT_EQ(printed(refused(), Format::kText, false),
            "a.yaml:3:5: found 'x'; allowed: y; did you mean 'y'?\na.yaml:4:1: found z\nand 1 "
            "more\n");
}

TEST(Failure, IsColouredOnlyWhenAsked) {
  EXPECT_EQ(printed(Error("no"), Format::kText, false), "millrace: no\n");
  EXPECT_EQ(printed(Error("no"), Format::kText, true), "\033[31mmillrace: no\033[0m\n");
  EXPECT_EQ(printed(refused(), Format::kText, true),
            "\033[1ma.yaml:3:5\033[0m: \033[31mfound 'x'; allowed: y; did you mean 'y'?\033[0m\n"
            "\033[1ma.yaml:4:1\033[0m: \033[31mfound z\033[0m\nand 1 more\n");
}

TEST(Failure, AsJsonHasEveryField) {
  const auto json = nlohmann::json::parse(printed(refused(), Format::kJson, true));
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["total"], 3);
  EXPECT_EQ(json["problems"].size(), 2u);
  EXPECT_EQ(json["problems"][0]["file"], "a.yaml");
  EXPECT_EQ(json["problems"][0]["line"], 3);
  EXPECT_EQ(json["problems"][0]["column"], 5);
  EXPECT_EQ(json["problems"][0]["found"], "'x'");
  EXPECT_EQ(json["problems"][0]["nearest"], "y");
  EXPECT_EQ(nlohmann::json::parse(printed(Error("no"), Format::kJson, false)),
            (nlohmann::json{{"ok", false}, {"error", "no"}}));
}

TEST(RunCommand, TurnsAnErrorIntoAnExitStatus) {
  testing::internal::CaptureStderr();
  EXPECT_THROW(run_command(Format::kText, [] { throw Error("no"); }), CLI::RuntimeError);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("millrace: no"), std::string::npos);
  EXPECT_NO_THROW(run_command(Format::kText, [] {}));
}

}  // namespace
}  // namespace millrace
