// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/noted_events.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "orchestration/supervisor/programs.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "shared/base/clock.hpp"
#include "shared/control/actor_control.hpp"

namespace millrace {
namespace {

class NotedEventsTest : public testing::Test {
 public:
  ~NotedEventsTest() override { std::filesystem::remove_all(run_dir_); }

 protected:
  NotedEventsTest() {
    make_run_dir(run_dir_);
    events_.emplace(run_dir_, [this](const Event& event) {
      told_.push_back(event.text);
      told_time_ns_ = event.time_ns;
    });
  }
  void add(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      events_->add({.kind = "said", .text = std::to_string(i)});
    }
  }

  std::string run_dir_ = "/tmp/millrace-events-" + std::to_string(::getpid());
  std::vector<std::string> told_;
  std::uint64_t told_time_ns_ = 0;
  std::optional<NotedEvents> events_;
};

TEST_F(NotedEventsTest, TheLatestComeOldestFirst) {
  EXPECT_TRUE(events_->latest(3).empty());
  add(5);
  const std::vector<Event> latest = events_->latest(3);
  ASSERT_EQ(latest.size(), 3u);
  EXPECT_EQ(latest.front().text, "2");
  EXPECT_EQ(latest.back().text, "4");
  EXPECT_EQ(events_->latest(9).size(), 5u);
  EXPECT_EQ(told_.size(), 5u);
}

TEST_F(NotedEventsTest, OldOnesAreInTheLogAlone) {
  add(1000);
  EXPECT_LT(events_->latest(1000).size(), 1000u);
  std::ifstream log(log_path(run_dir_, "supervisor"));
  const std::string text((std::istreambuf_iterator<char>(log)), {});
  EXPECT_NE(text.find("said: 0\n"), std::string::npos);
  EXPECT_NE(text.find("said: 999\n"), std::string::npos);
}

TEST_F(NotedEventsTest, AnEventWithoutATimeIsOfThisMoment) {
  const std::uint64_t before = system_clock_ns();
  add(1);
  EXPECT_GE(told_time_ns_, before);
  EXPECT_LE(told_time_ns_, system_clock_ns());
  EXPECT_EQ(events_->latest(1).at(0).time_ns, told_time_ns_);
  events_->add({.kind = "said", .text = "then", .time_ns = 5});
  EXPECT_EQ(told_time_ns_, 5u);
  EXPECT_EQ(events_->latest(1).at(0).time_ns, 5u);
}

TEST_F(NotedEventsTest, TroubleIsThatOfThePortItNames) {
  events_->add({.kind = kPortTrouble, .text = "port 'a': record 3 is cut"});
  events_->add({.kind = "said", .text = "port 'b': nothing"});
  EXPECT_TRUE(events_->has_trouble_of("a"));
  EXPECT_FALSE(events_->has_trouble_of("b"));
  EXPECT_FALSE(events_->has_trouble_of(""));
}

}  // namespace
}  // namespace millrace
