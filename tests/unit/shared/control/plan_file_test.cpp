// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/plan_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "shared/base/error.hpp"
#include "shared/base/limits.hpp"
#include "shared/control/run_files.hpp"
#include "tests/unit/shared/control/plan_sample.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using test::error_of;

using test::filled_plan;
using testing::HasSubstr;

class PlanFile : public testing::Test {
 protected:
  PlanFile() {
    char pattern[] = "/tmp/millrace-plan-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    path_ = plan_path(folder_);
  }
  ~PlanFile() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string error_of_load() const {
    return error_of([&] { load_plan(path_); });
  }

  std::string folder_, path_;
};

TEST_F(PlanFile, KeepsEveryFieldOfAFilledPlan) {
  for (const auto& [field, filled] : test::FilledFields::of(filled_plan())) {
    EXPECT_TRUE(filled) << field << " has no value of its own in plan_sample.hpp";
  }
  save_plan(filled_plan(), path_);
  EXPECT_TRUE(same_plan_value(load_plan(path_), filled_plan()));
}

TEST_F(PlanFile, KeepsAnEmptyPlan) {
  save_plan(Plan{}, path_);
  EXPECT_TRUE(same_plan_value(load_plan(path_), Plan{}));
}

TEST_F(PlanFile, ReplacesAnOlderPlanAndLeavesNoDraft) {
  save_plan(Plan{}, path_);
  save_plan(filled_plan(), path_);
  EXPECT_EQ(load_plan(path_).name, "sample");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

TEST_F(PlanFile, IsReadableByItsOwnerOnly) {
  save_plan(filled_plan(), path_);
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(PlanFile, NamesThePathOfAnAbsentFile) {
  EXPECT_THAT(error_of_load(), HasSubstr(path_));
  EXPECT_THAT(error_of_load(), HasSubstr("No such file"));
}

TEST_F(PlanFile, NamesThePathThatCannotBeWritten) {
  const std::string path = folder_ + "/absent/plan.bin";
  EXPECT_THAT(error_of([&] { save_plan(Plan{}, path); }), HasSubstr(path));
}

TEST_F(PlanFile, RefusesTextAndEmptyAndOverlongFiles) {
  write("millrace: 1\nname: branch\n");
  EXPECT_THAT(error_of_load(), HasSubstr("plan.bin: plan: bytes: not readable"));
  write("");
  EXPECT_THAT(error_of_load(), HasSubstr("not readable"));
  write(std::string(kPlanBytesMax + 1, '\0'));
  EXPECT_THAT(error_of_load(), HasSubstr("longer than"));
}

TEST_F(PlanFile, RefusesEveryTruncationOfAPlan) {
  const std::vector<std::byte> bytes = encode_plan(filled_plan());
  for (std::size_t size = 0; size < bytes.size(); size += 8) {
    EXPECT_THROW(decode_plan(std::span(bytes).first(size)), Error) << size << " bytes";
  }
}

TEST_F(PlanFile, SurvivesSeededMutations) {
  const std::vector<std::byte> good = encode_plan(filled_plan());
  std::mt19937_64 random(1);
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes = good;
    for (int change = 0; change < 3; ++change) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    try {
      check_plan(decode_plan(bytes));
      ++accepted;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

/// Each row breaks one promise that readers of a plan rely on.
TEST_F(PlanFile, RefusesIndexesOutOfRangeAndCountsAboveTheLimits) {
  struct Row {
    std::string message;
    std::function<void(Plan&)> spoil;
  };
  const std::vector<Row> rows = {
      {"batch_capacity is 0", [](Plan& p) { p.batch_capacity = 0; }},
      {"batch_capacity is 257", [](Plan& p) { p.batch_capacity = kBatchCapacityMax + 1; }},
      {"buffer_stride is 64", [](Plan& p) { p.buffer_stride = 64; }},
      {"slot_count is 16385", [](Plan& p) { p.slot_count = kSlotCountMax + 1; }},
      {"buffer_count is",
       [](Plan& p) {
         p.buffer_count = kBufferCountMax + kActorCountMax * kSideBuffersDefault + 1;
       }},
      {"function 1: group 2 of 2", [](Plan& p) { p.functions[1].group = 2; }},
      {"group 0: count above max", [](Plan& p) { p.groups[0].count = 5; }},
      {"group 1: stand_in 9 of 2", [](Plan& p) { p.groups[1].stand_in = 9; }},
      {"group 1: offload 101 of 101", [](Plan& p) { p.groups[1].offload = 101; }},
      {"group 1: spill 16385 of 16385", [](Plan& p) { p.groups[1].spill = 16385; }},
      {"stage 0: path 2 of 2", [](Plan& p) { p.stages[0].path = 2; }},
      {"stage 1: group 4 of 2", [](Plan& p) { p.stages[1].group = 4; }},
      {"stage 0: function 3 of 3", [](Plan& p) { p.stages[0].functions[1] = 3; }},
      {"stage 1: next 2 of 2", [](Plan& p) { p.stages[1].next = 2; }},
      {"path 0: first_stage 3 of 2", [](Plan& p) { p.paths[0].first_stage = 3; }},
      {"path 0: lanes [124, 132) of 128", [](Plan& p) { p.paths[0].lane_first = 124; }},
      {"path 0: no lane", [](Plan& p) { p.paths[0].lane_count = 0; }},
      {"stream 1: port 2 of 2", [](Plan& p) { p.streams[1].port = 2; }},
      {"stream 1: path 2 of 2", [](Plan& p) { p.streams[1].paths[0].path = 2; }},
      {"stream 1: no path", [](Plan& p) { p.streams[1].paths.clear(); }},
      {"path 0: a filter that may not be run", [](Plan& p) { p.paths[0].filter[0] = 0; }},
      {"stream 0: output 5 of 2", [](Plan& p) { p.streams[0].paths[1].output = 5; }},
      {"stream 0: ingress 6 of 6", [](Plan& p) { p.streams[0].ingress = 6; }},
      {"stream 0: egress 7 of 6", [](Plan& p) { p.streams[0].egress = 7; }},
      {"stream 1: slots [40, 64) of 48", [](Plan& p) { p.streams[1].slot_first = 40; }},
      {"stream 1: slots [4294967295,", [](Plan& p) { p.streams[1].slot_first = UINT32_MAX; }},
      {"stream 1: buffers [401, 901) of 900", [](Plan& p) { p.streams[1].buffer_first = 401; }},
      {"actor 3: group 2 of 2", [](Plan& p) { p.actors[3].group = 2; }},
      {"actor 3: twin 6 of 6", [](Plan& p) { p.actors[3].twin = 6; }},
      {"port 0: host 2 of 2", [](Plan& p) { p.ports[0].host = 2; }},
      {"other edition 0: group 2 of 2", [](Plan& p) { p.others[0].function.group = 2; }},
      {"path 0: inside 2 of 2", [](Plan& p) { p.paths[0].translation.inside = {2}; }},
      {"9 functions, at most 8", [](Plan& p) { p.stages[0].functions.resize(9); }},
      {"actor 2: index 2 of 2", [](Plan& p) { p.actors[2].index = 2; }},
      {"link 0: producer 6 of 6", [](Plan& p) { p.links[0].producer = 6; }},
      {"link 1: consumer 6 of 6", [](Plan& p) { p.links[1].consumer = 6; }},
      {"link 1: depth is no power of two", [](Plan& p) { p.links[1].depth = 48; }},
      {"stage 0: a function that has gone", [](Plan& p) { p.stages[0].functions = {2}; }},
      {"other list 0: number 2 of 2", [](Plan& p) { p.other_stages[0].number = 2; }},
      {"other list 0: the same edition", [](Plan& p) { p.other_stages[0].edition = 0; }},
      {"17 ports, at most 16", [](Plan& p) { p.ports.resize(17, p.ports[0]); }},
      {"129 actors, at most 128", [](Plan& p) { p.actors.resize(129, p.actors[0]); }},
  };
  for (const Row& row : rows) {
    Plan plan = filled_plan();
    row.spoil(plan);
    const std::vector<std::byte> bytes = encode_plan(plan);
    EXPECT_THAT(error_of([&] { decode_plan(bytes); }), HasSubstr(row.message));
  }
}

TEST_F(PlanFile, ChecksAPlanThatNoFileHeld) {
  Plan plan = filled_plan();
  EXPECT_NO_THROW(check_plan(plan));
  plan.stages[0].functions.assign(kStageFunctionCountMax + 1, 0);
  EXPECT_THAT(error_of([&] { check_plan(plan); }), HasSubstr("stage 0: 9 functions, at most 8"));
  plan = filled_plan();
  plan.links.assign(3, {0, 1, 3});
  EXPECT_THAT(error_of([&] { check_plan(plan); }), HasSubstr("link 0: depth"));
}

}  // namespace
}  // namespace millrace
