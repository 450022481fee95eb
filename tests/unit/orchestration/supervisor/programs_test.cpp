// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;

TEST(Programs, AreChosenByTheKindOfActor) {
  const Plan plan = test::small_plan("programs");
  std::vector<std::string> programs;
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    programs.push_back(actor_command("/bin", "/run/x", plan, actor).program);
  }
  EXPECT_THAT(programs, ElementsAre("/bin/millrace-hub", "/bin/millrace-hub",
                                    "/bin/millrace-io-worker", "/bin/millrace-classifier",
                                    "/bin/millrace-classifier", "/bin/millrace-gpu-worker",
                                    "/bin/millrace-gpu-worker", "/bin/millrace-io-worker"));
  EXPECT_THAT(actor_command("/bin", "/run/x", plan, 7).arguments,
              ElementsAre("--run-dir", "/run/x", "--actor", "7"));
}

TEST(Programs, OfWhatIsFusedAreOne) {
  Plan plan = test::small_plan("programs");
  EXPECT_EQ(program_of(plan, 3), "millrace-classifier");
  plan.fused = true;
  EXPECT_EQ(program_of(plan, 3), "millrace-fused");
  EXPECT_EQ(program_of(plan, 1), "millrace-hub");
}

TEST(Programs, OfTelemetryAndBuilderHaveNoActor) {
  const Command telemetry = observer_command("/bin", "telemetry", "/run/x");
  EXPECT_EQ(telemetry.program, "/bin/millrace-telemetry");
  EXPECT_THAT(telemetry.arguments, ElementsAre("--run-dir", "/run/x"));
  const Command builder = builder_command("/bin", "/run/x/plan.bin", 2);
  EXPECT_EQ(builder.program, "/bin/millrace-builder");
  EXPECT_THAT(builder.arguments, ElementsAre("--plan", "/run/x/plan.bin", "--function", "2"));
}

TEST(Programs, LieBesideThisExecutable) {
  EXPECT_EQ(executable_folder(),
            std::filesystem::canonical("/proc/self/exe").parent_path().string());
}

TEST(Programs, ShowTheLastLinesOfTheirLog) {
  char pattern[] = "/tmp/millrace-programs-XXXXXX";
  const std::string run_dir = ::mkdtemp(pattern);
  EXPECT_EQ(log_tail(run_dir, "front.0"), "");
  std::filesystem::create_directory(run_dir + "/logs");
  std::ofstream(log_path(run_dir, "front.0")) << std::string(5000, 'x') << "\nno memory\n\n";
  const std::string tail = log_tail(run_dir, "front.0");
  EXPECT_THAT(tail, testing::EndsWith("x\nno memory"));
  EXPECT_LE(tail.size(), 2000U);
  append_to_log(run_dir, "front.0", 1'700'000'000'000'000'000, "killed");
  EXPECT_THAT(log_tail(run_dir, "front.0"), testing::EndsWith("no memory\n\nfront.0: killed"));
  std::ifstream file(log_path(run_dir, "front.0"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, testing::EndsWith("\n2023-11-14T22:13:20.000000Z front.0: killed\n"));
  std::filesystem::remove_all(run_dir);
}

}  // namespace
}  // namespace millrace
