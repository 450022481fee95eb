// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/hub/leader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "shared/base/clock.hpp"
#include "shared/base/process.hpp"
#include "shared/layout/neighbour_look.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using std::chrono_literals::operator""ms;
using test::SmallWorld;

std::string new_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "millrace-hub-XXXXXX").string();
  return mkdtemp(pattern.data());
}

/// A hub over private memory; its workers are children of the test that only sleep.
class LeaderTest : public ::testing::Test {
 protected:
  LeaderTest() : control_(run_dir_, 0) {
    leader_ = std::make_unique<Leader>(world_.context("hub"), run_dir_, kHubEndpoint, control_);
    thread_ = std::thread([this] { leader_->lead(stop_); });
  }
  ~LeaderTest() override {
    stop_ = true;
    thread_.join();
    leader_.reset();
    if (child_ > 0) end_child();
    std::filesystem::remove_all(run_dir_);
  }
  void alive_with_a_child(const char* name) {
    child_ = fork();
    if (child_ == 0) {
      while (true) pause();
    }
    world_.set(name, ActorState::kVacant);
    world_.entry(name).pid = child_;
    world_.entry(name).start_time = process_start_time(child_);
    world_.entry(name).state = static_cast<std::uint32_t>(ActorState::kAlive);
  }
  void end_child() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  static bool soon(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }
  ControlClient client() const { return {run_dir_, kHubEndpoint}; }

  const std::string run_dir_ = new_folder();
  SmallWorld world_;
  ActorControl control_;
  std::atomic<bool> stop_{false};
  std::unique_ptr<Leader> leader_;
  std::thread thread_;
  std::int32_t child_ = -1;
};

TEST_F(LeaderTest, TakesTheLockWordAndBeats) {
  const auto pid = static_cast<std::uint64_t>(getpid());
  EXPECT_TRUE(soon(
      [&] { return world_.status.header().leader == (process_start_time(getpid()) << 24 | pid); }));
  const std::uint64_t beat = world_.entry("hub").heartbeat_tsc;
  EXPECT_TRUE(soon([&] { return world_.entry("hub").heartbeat_tsc != beat; }));
}

TEST_F(LeaderTest, CountsNeighboursForThoseWhoDoNotMapTheirTable) {
  const NeighbourTableView table = world_.segment.neighbours();
  StatusHeader& header = world_.status.header();
  constexpr NeighbourKey kHost{
      .family = NeighbourFamily::kIpv4, .port = 1, .address = {10, 0, 0, 1}};
  ASSERT_TRUE(table.set_static(kHost, {2, 0, 0, 0, 0, 1}, 1));
  const auto known = static_cast<std::size_t>(NeighbourLook::kPermanent);
  EXPECT_TRUE(soon([&] { return header.neighbours[known] == 1; }));
  ASSERT_TRUE(table.forget(kHost));
  EXPECT_TRUE(soon([&] { return header.neighbours[known] == 0; }));
  auto& counts = *reinterpret_cast<NeighbourHeader*>(world_.segment.memory().data() +
                                                     world_.segment.layout().neighbours);
  counts.evicted = 3;
  counts.full = 2;
  EXPECT_TRUE(soon([&] { return header.neighbours_evicted == 3; }));
  EXPECT_TRUE(soon([&] { return header.neighbours_refused == 2; }));
}

TEST_F(LeaderTest, AnswersAnAudit) {
  const auto reply = client().request_for<AuditReply>(AuditRequest{}, 10'000ms);
  EXPECT_EQ(reply.by, "hub");
  EXPECT_TRUE(reply.exact);
  EXPECT_TRUE(reply.quiet);
  EXPECT_EQ(reply.lanes.size(), 6u);
}

TEST_F(LeaderTest, WaitsForAHandThatHasASlotBeforeItCallsItLeaked) {
  std::atomic<std::uint32_t>& owner = world_.segment.slot(0).owner;
  const std::uint32_t ingress = owner;
  owner = world_.owner_word("front.0").word();
  std::thread hand([&] {
    std::this_thread::sleep_for(5ms);
    owner = ingress;
  });
  EXPECT_TRUE(client().request_for<AuditReply>(AuditRequest{}, 10'000ms).exact);
  hand.join();
  owner = world_.owner_word("front.0").word();
  EXPECT_FALSE(client().request_for<AuditReply>(AuditRequest{}, 10'000ms).exact) << "it stays";
}

TEST_F(LeaderTest, DrainsTheActorThatItIsAskedTo) {
  alive_with_a_child("front.1");
  client().request_for<OkReply>(Drain{world_.actor("front.1")}, 10'000ms);
  EXPECT_TRUE(soon([&] { return world_.state_of("front.1") == ActorState::kDraining; }));
}

TEST_F(LeaderTest, TakesFunctionsOutAndPutsThemBack) {
  client().request_for<OkReply>(SetService{1, true}, 10'000ms);
  client().request_for<OkReply>(SetService{3, true}, 10'000ms);
  EXPECT_EQ(world_.status.header().functions_out, 0b1010u);
  client().request_for<OkReply>(SetService{1, false}, 10'000ms);
  EXPECT_EQ(world_.status.header().functions_out, 0b1000u);
  EXPECT_THROW(client().request_for<OkReply>(SetService{77, true}, 10'000ms), Error);
}

TEST_F(LeaderTest, AnActorThatDoesNotExistIsNotDrained) {
  try {
    client().request_for<OkReply>(Drain{77}, 10'000ms);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no actor 77; allowed: 0.."));
  }
}

TEST_F(LeaderTest, WhatIsNotForALeaderIsRefusedByName) {
  try {
    client().request_for<OkReply>(DownRequest{}, 10'000ms);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("`down` is not for the leader"));
  }
}

TEST_F(LeaderTest, RecoversAnActorWhoseProcessHasEndedAndTellsOfIt) {
  ControlServer supervisor(run_dir_, kSupervisorEndpoint);
  alive_with_a_child("front.1");
  end_child();
  EXPECT_TRUE(soon([&] { return world_.state_of("front.1") == ActorState::kVacant; }));
  EXPECT_EQ(world_.status.header().recoveries, 1u);
  std::string told;
  soon([&] {
    const auto message = supervisor.receive(100ms);
    if (!message) return false;
    if (const auto* event = std::get_if<Event>(&message->message.body)) told += event->text + "\n";
    return told.find("recovered") != std::string::npos;
  });
  EXPECT_THAT(told, HasSubstr("front.1 exited"));
  EXPECT_THAT(told, HasSubstr("front.1 recovered"));
}

}  // namespace
}  // namespace millrace
