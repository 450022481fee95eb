// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/actor_control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "shared/control/endpoint.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

class ActorControlTest : public testing::Test {
 protected:
  ActorControlTest() {
    char pattern[] = "/tmp/millrace-control-XXXXXX";
    run_dir_ = ::mkdtemp(pattern);
  }
  ~ActorControlTest() override { std::filesystem::remove_all(run_dir_); }

  /// The next message of type Body that arrives within ten seconds; others are skipped.
  template <class Body>
  static std::optional<Body> wait_for(ControlServer& server) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (std::chrono::steady_clock::now() < end) {
      const auto received = server.receive(100ms);
      if (!received) continue;
      if (const auto* body = std::get_if<Body>(&received->message.body)) return *body;
    }
    return std::nullopt;
  }

  static bool soon(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (std::chrono::steady_clock::now() < end) {
      if (condition()) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }

  std::string run_dir_;
};

TEST_F(ActorControlTest, IsReadyWhenItsLoopRunsAndNotBefore) {
  ControlServer supervisor(run_dir_, kSupervisorEndpoint);
  ActorControl control(run_dir_, 3);
  control.post_event(Severity::kInfo, "port", "first");
  const auto first = supervisor.receive(10s);
  ASSERT_TRUE(first);
  EXPECT_TRUE(std::holds_alternative<Event>(first->message.body));
  EXPECT_EQ(first->peer, actor_peer(3));
  control.set_ready();
  const auto ready = supervisor.receive(10s);
  ASSERT_TRUE(ready);
  ASSERT_TRUE(std::holds_alternative<Ready>(ready->message.body));
  EXPECT_EQ(std::get<Ready>(ready->message.body).actor, 3U);
}

TEST_F(ActorControlTest, SaysAgainThatItIsReady) {
  ControlServer supervisor(run_dir_, kSupervisorEndpoint);
  ActorControl control(run_dir_, 3);
  control.set_ready();
  EXPECT_TRUE(wait_for<Ready>(supervisor));
  EXPECT_TRUE(wait_for<Ready>(supervisor)) << "a successor that came unnoticed would never know";
}

TEST_F(ActorControlTest, RunsWithoutAnyServerAndEndsSoon) {
  const auto start = std::chrono::steady_clock::now();
  {
    ActorControl control(run_dir_, 3);
    control.post_event(Severity::kInfo, "started", "nobody hears this");
    EXPECT_FALSE(control.stop_requested());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 120s);
}

TEST_F(ActorControlTest, TellsASupervisorThatCameLaterAndOneThatCameInstead) {
  ActorControl control(run_dir_, 3);
  control.set_ready();
  for (int life = 0; life < 2; ++life) {
    ControlServer supervisor(run_dir_, kSupervisorEndpoint);
    EXPECT_TRUE(wait_for<Ready>(supervisor)) << "supervisor " << life;
  }
}

TEST_F(ActorControlTest, ASupervisorThatCameLaterHearsWhatWasPostedBeforeOnce) {
  ActorControl control(run_dir_, 3);
  control.post_event(Severity::kWarning, "port_trouble", "the disk is full", 7);
  control.post_event(Severity::kInfo, "port", "second");
  ControlServer supervisor(run_dir_, kSupervisorEndpoint);
  const auto first = wait_for<Event>(supervisor);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, "port_trouble");
  EXPECT_EQ(first->text, "the disk is full");
  EXPECT_EQ(first->number, 7u);
  EXPECT_EQ(first->actor, 3u);
  EXPECT_EQ(wait_for<Event>(supervisor).value().text, "second");
  EXPECT_EQ(control.dropped_count(), 0U);
}

/// Of this process's thread of that name, as proc(5) lists them.
std::string cores_of_thread(const std::string& name) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string found;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, found);
    if (found != name) continue;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("Cpus_allowed_list:")) continue;
      return line.substr(line.find_first_of("0123456789"));
    }
  }
  return "";
}

TEST_F(ActorControlTest, KeepsItsThreadToCoresThatThereAre) {
  cpu_set_t mine;
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  std::uint32_t last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &mine)) --last;
  ActorControl control(run_dir_, 3);
  const std::string before = cores_of_thread("control");
  control.keep_to({});
  EXPECT_EQ(cores_of_thread("control"), before);
  control.keep_to(std::vector<std::uint32_t>{last});
  EXPECT_EQ(cores_of_thread("control"), std::to_string(last));
}

/// Notes what it is given; refuses plans of one revision.
class FakeFollower : public PlanFollower {
 public:
  void follow(const Plan& plan) override {
    if (plan.revision == 3) throw Error("cannot map that");
    revision = plan.revision;
  }
  void tend() noexcept override { ++tended; }
  std::atomic<std::uint32_t> revision{0};
  std::atomic<std::uint32_t> tended{0};
};

TEST_F(ActorControlTest, FollowsThePlanThatItFindsAndObeysNothingThatIsNotForActors) {
  ControlServer supervisor(run_dir_, kSupervisorEndpoint);
  FakeFollower follower;
  ActorControl control(run_dir_, 3, nullptr, {&follower});
  control.set_ready();
  ASSERT_TRUE(wait_for<Ready>(supervisor));
  Plan plan;
  plan.revision = 2;
  save_plan(plan, plan_path(run_dir_));
  EXPECT_TRUE(supervisor.send(actor_peer(3), Drain{3, true}));
  EXPECT_TRUE(supervisor.send(actor_peer(3), FollowPlan{2}));
  EXPECT_TRUE(soon([&] { return follower.revision == 2; }));
  EXPECT_FALSE(control.stop_requested());
}

TEST_F(ActorControlTest, TellsWhyItStaysAsItIs) {
  ControlServer supervisor(run_dir_, kSupervisorEndpoint);
  FakeFollower follower;
  ActorControl control(run_dir_, 3, nullptr, {&follower});
  control.set_ready();
  ASSERT_TRUE(wait_for<Ready>(supervisor));
  Plan plan;
  plan.revision = 3;
  save_plan(plan, plan_path(run_dir_));
  EXPECT_TRUE(supervisor.send(actor_peer(3), FollowPlan{3}));
  const auto event = wait_for<Event>(supervisor);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, kPlanRefused);
  EXPECT_EQ(event->number, 3U);
  EXPECT_EQ(event->text, "cannot map that");
}

TEST_F(ActorControlTest, TendsItsFollowersWithoutBeingAsked) {
  FakeFollower follower;
  ActorControl control(run_dir_, 3, nullptr, {&follower});
  EXPECT_TRUE(soon([&] { return follower.tended > 2; }));
}

TEST_F(ActorControlTest, SaysHowManyEventsWereLostWhileTheSupervisorWasAway) {
  constexpr std::uint64_t kRoom = 64;
  FakeFollower turns;
  ActorControl control(run_dir_, 3, nullptr, {&turns});
  const auto post = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) control.post_event(Severity::kInfo, "port", "");
    const std::uint32_t before = turns.tended;
    return soon([&] { return turns.tended > before + 1; });  // the thread has taken them
  };
  ASSERT_TRUE(post(kRoom));
  EXPECT_EQ(control.dropped_count(), 0u);
  ASSERT_TRUE(post(kRoom));
  EXPECT_EQ(control.dropped_count(), kRoom) << "those that waited longest";
  ASSERT_TRUE(post(kRoom + 36));
  EXPECT_EQ(control.dropped_count(), 2 * kRoom + 36) << "also those that came too fast";
  ControlServer supervisor(run_dir_, kSupervisorEndpoint);
  for (std::uint64_t i = 0; i < kRoom; ++i) {
    ASSERT_EQ(wait_for<Event>(supervisor).value_or(Event{}).kind, "port") << i;
  }
  const auto lost = wait_for<Event>(supervisor);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->kind, kEventsLost);
  EXPECT_EQ(lost->severity, Severity::kWarning);
  EXPECT_EQ(lost->number, 2 * kRoom + 36);
  EXPECT_TRUE(lost->text.starts_with("164 events were lost")) << lost->text;
  control.post_event(Severity::kInfo, "port", "next");
  EXPECT_EQ(wait_for<Event>(supervisor).value_or(Event{}).text, "next") << "it is said once";
}

TEST_F(ActorControlTest, PostsEventsAndCountsThoseThatFindNoRoom) {
  ControlServer supervisor(run_dir_, kSupervisorEndpoint);
  ActorControl control(run_dir_, 3);
  control.post_event(Severity::kWarning, "lane_state_discarded", std::string(300, 'y'), 5);
  const auto event = wait_for<Event>(supervisor);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->severity, Severity::kWarning);
  EXPECT_EQ(event->kind, "lane_state_discarded");
  EXPECT_EQ(event->actor, 3U);
  EXPECT_EQ(event->text, std::string(199, 'y'));
  EXPECT_EQ(event->number, 5U);
  EXPECT_GT(event->time_ns, 0U);
  for (int i = 0; i < 2000; ++i) control.post_event(Severity::kInfo, "flood", "");
  EXPECT_GT(control.dropped_count(), 0U);
}

TEST_F(ActorControlTest, StopsOnItsOwnRequestToo) {
  ActorControl control(run_dir_, 3);
  control.request_stop();
  EXPECT_TRUE(control.stop_requested());
}

}  // namespace
}  // namespace millrace
