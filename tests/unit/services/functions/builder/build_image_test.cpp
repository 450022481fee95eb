// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/builder/build_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "services/functions/builder/private_eal.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "tests/places.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class BuildImage : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_);
    std::ofstream(folder_ / "routes.txt") << "10.0.0.0/8 wan 02:00:00:00:00:02\nnonsense\n";
    plan_.ports = {{.name = "wan", .device = "null", .mac = "02:00:00:00:00:01"}};
    plan_.functions = {{.name = "to-all",
                        .type = "route",
                        .settings = {{"table", folder_ / "routes.txt"}},
                        .image = folder_ / "route.img"}};
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string error_of(std::uint32_t function) {
    try {
      build_image(plan_, function);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_ = fs::path("/dev/shm") / ("millrace-build-test-" + std::to_string(getpid()));
  Plan plan_;
};

TEST_F(BuildImage, PublishesTheImageAndReportsRefusedLines) {
  const BuildReport report = build_image(plan_, 0);
  EXPECT_TRUE(fs::exists(folder_ / "route.img"));
  const auto json = nlohmann::json::parse(report_json(report));
  EXPECT_EQ(json["accepted"], 1);
  EXPECT_EQ(json["refused"], 1);
  EXPECT_EQ(json["counter_count"], report.counter_count);
  ASSERT_EQ(json["refusals"].size(), 1u);
  EXPECT_THAT(json["refusals"][0].get<std::string>(), HasSubstr("routes.txt:2: "));
  ASSERT_EQ(json["files"].size(), 1u);
  EXPECT_EQ(json["files"][0]["path"], plan_.functions[0].settings[0].second);
  EXPECT_EQ(json["files"][0]["accepted"], 1);
}

TEST_F(BuildImage, SaysWhatIsWrongWithThePlan) {
  EXPECT_THAT(error_of(1), HasSubstr("function number 1 of 1"));
  plan_.functions[0].image.clear();
  EXPECT_THAT(error_of(0), HasSubstr("no path"));
  plan_.functions[0].settings.clear();
  plan_.functions[0].image = folder_ / "route.img";
  EXPECT_THAT(error_of(0), HasSubstr("function to-all: table is missing"));
  plan_.functions[0].type = "rote";
  EXPECT_THAT(error_of(0), HasSubstr("'rote'"));
}

TEST_F(BuildImage, AMissingTableFileIsNamed) {
  plan_.functions[0].settings = {{"table", "/nowhere/routes.txt"}};
  EXPECT_THAT(error_of(0), HasSubstr("/nowhere/routes.txt"));
}

/// What a shell command prints; `status` gets its exit status.
std::string output_of(const std::string& command, int& status) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  status = WEXITSTATUS(pclose(pipe));
  return output;
}

TEST_F(BuildImage, TheProcessPrintsItsReportOrWhatIsWrong) {
  const std::string builder = (test::programs_folder() / "millrace-builder").string();
  ASSERT_TRUE(fs::exists(builder)) << "build millrace-builder first";
  plan_.groups.emplace_back();
  save_plan(plan_, folder_ / "plan.bin");
  const std::string plan = " --plan " + (folder_ / "plan.bin").string();
  int status = -1;
  const std::string report = output_of(builder + plan + " --function 0", status);
  EXPECT_EQ(status, 0) << report;
  EXPECT_EQ(nlohmann::json::parse(report)["accepted"], 1);
  EXPECT_TRUE(fs::exists(folder_ / "route.img"));
  EXPECT_THAT(output_of(builder + plan + " --function 3", status), HasSubstr("number 3 of 1"));
  EXPECT_EQ(status, 1);
  EXPECT_THAT(output_of(builder + " --plan /nowhere --function 0", status), HasSubstr("/nowhere"));
  EXPECT_EQ(status, 1);
}

TEST(ReportJson, HoldsAnyBytesOfARefusal) {
  BuildReport report;
  report.refusals = {"a:1: '\xff\"\n'"};
  EXPECT_TRUE(nlohmann::json::accept(report_json(report)));
}

TEST(PrivateEal, LeavesTheThreadsAffinityAloneAndStartsOnce) {
  cpu_set_t before, after;
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof before, &before), 0);
  start_private_eal();
  start_private_eal();
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace millrace
