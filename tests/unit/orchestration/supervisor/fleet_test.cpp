// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/fleet.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "io-worker/ports/kept_file.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/file_lender.hpp"
#include "shared/base/process.hpp"
#include "shared/control/beat_file.hpp"
#include "tests/unit/orchestration/supervisor/scripts.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"
#include "tests/unit/support/signal_set.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::Contains;

/// Real processes (shell scripts in place of our programs), a real status file, the hub's part
/// played by the test.
class FleetTest : public testing::Test {
 protected:
  FleetTest() {
    char pattern[] = "/tmp/millrace-fleet-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    make_run_dir(folder_ + "/run");
    test::write_scripts(folder_);
    fleet_ = std::make_unique<Fleet>(
        plan_, FleetPlace{folder_, folder_ + "/run", RestartLimits{}},
        [this](Event event) { events_.push_back(event.kind + ": " + event.text); });
    fleet_->attach_status();
  }
  ~FleetTest() override {
    fleet_->stop([](const Post&) { return true; }, milliseconds(0));
    destroy_shared_memory(plan_.name);
    fs::remove_all(folder_);
  }
  void program(const std::string& part, const std::string& script) const {
    test::write_script(folder_, part, script);
  }
  Post& post(const std::string& name) {
    for (Post& post : fleet_->posts()) {
      if (post.name == name) return post;
    }
    throw std::out_of_range(name);
  }
  void set_state(std::uint32_t actor, ActorState state) {
    view_.actor(actor).state = static_cast<std::uint32_t>(state);
  }
  void tend_until(const std::function<bool()>& condition) {
    for (int turn = 0; turn < 2000 && !condition(); ++turn) {
      fleet_->reap();
      fleet_->tend();
      ::usleep(5000);
    }
    ASSERT_TRUE(condition());
  }
  /// All scripts have set their traps.
  void settle() {
    for (const Post& post : fleet_->posts()) {
      if (!post.seat().child) continue;
      const pid_t pid = post.seat().child->pid();
      ASSERT_TRUE(test::await_signal_in(pid, {"SigCgt", "SigIgn"}, SIGTERM));
    }
  }

  std::string folder_;
  Plan plan_ = test::small_plan("fleet-" + std::to_string(::getpid()));
  Mapping file_ = Mapping::create_status(status_file_name(plan_.name), status_layout(plan_).bytes);
  StatusView view_ = StatusView::create(file_.base(), plan_, 1'000'000'000);
  std::vector<std::string> events_;
  std::unique_ptr<Fleet> fleet_;
};

TEST_F(FleetTest, RestartsAWorkerOnceItsEntryIsVacant) {
  Post& front = post("front.0");
  fleet_->start(front);
  set_state(3, ActorState::kAlive);
  const pid_t first = front.seat().child->pid();
  front.seat().child->signal(SIGKILL);
  tend_until([&] { return !front.seat().child; });
  EXPECT_THAT(events_, Contains("worker_exited: front.0 killed by signal 9 (Killed)"));
  EXPECT_EQ(front.seat().note, "killed by signal 9 (Killed)");
  set_state(3, ActorState::kReclaiming);
  for (int turn = 0; turn < 40; ++turn) {
    fleet_->tend();
    ::usleep(5000);
  }
  EXPECT_FALSE(front.seat().child) << "not before the hub has recovered it";
  EXPECT_TRUE(fleet_->is_busy());
  set_state(3, ActorState::kVacant);
  tend_until([&] { return front.seat().child.has_value(); });
  EXPECT_NE(front.seat().child->pid(), first);
  EXPECT_EQ(front.policy.restarts(), 1U);
  EXPECT_THAT(events_, Contains("worker_restarted: front.0 starts again"));
  EXPECT_FALSE(fleet_->is_busy());
}

TEST_F(FleetTest, DoesNotRestartTheHubAndSaysSo) {
  Post& hub = fleet_->post_of(ActorKind::kHub);
  fleet_->start(hub);
  hub.seat().child->signal(SIGKILL);
  tend_until([&] { return !hub.seat().child; });
  fleet_->tend();
  EXPECT_FALSE(hub.seat().child);
  EXPECT_THAT(events_, Contains(testing::StartsWith("hub_lost: hub killed by signal 9")));
  EXPECT_FALSE(fleet_->is_busy());
}

TEST_F(FleetTest, PutsTheTwinInPlaceOfAHungGpuWorker) {
  Post& gpu = post("gpu.0.a");
  fleet_->start(gpu);
  set_state(5, ActorState::kQuarantined);
  tend_until([&] { return gpu.current == 1; });
  EXPECT_TRUE(gpu.seats[0].child) << "the old one is the hub's to kill";
  EXPECT_TRUE(gpu.seats[1].child);
  EXPECT_TRUE(fs::exists(folder_ + "/run/logs/gpu.0.b.log"));
}

TEST_F(FleetTest, GivesUpAWorkerThatEndsTooOften) {
  program("classifier", "exit 7");
  Post& front = post("front.0");
  front.policy =
      RestartPolicy({.first_delay = milliseconds(1), .delay_max = milliseconds(1), .count_max = 3});
  fleet_->start(front);
  tend_until([&] { return front.reported; });
  EXPECT_EQ(front.policy.restarts(), 3U);
  EXPECT_THAT(events_, Contains("given_up: front.0 ended too often and is not started again; "
                                "last: exited with 7"));
}

TEST_F(FleetTest, TheQueueOfAnIngressThatIsGivenUpIsKeptForNobody) {
  const FileLender keeper(folder_ + "/run" + kHubFiles, {}, {"a.0"});
  leave_kept(folder_ + "/run", "a.0", UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  program("io-worker", "exit 7");
  Post& ingress = post("ingress.lan.0");
  ingress.policy = RestartPolicy(
      {.first_delay = milliseconds(200), .delay_max = milliseconds(200), .count_max = 1});
  fleet_->start(ingress);
  tend_until([&] { return !ingress.seat().child; });
  EXPECT_TRUE(borrow_kept(folder_ + "/run", "a.0")) << "the next one goes on with it";
  tend_until([&] { return ingress.reported; });
  EXPECT_FALSE(borrow_kept(folder_ + "/run", "a.0"));
}

TEST_F(FleetTest, AnIngressThatIsTakenBackLeavesNoQueueBehind) {
  const FileLender keeper(folder_ + "/run" + kHubFiles, {}, {"a.0"});
  Post& ingress = post("ingress.lan.0");
  fleet_->start(ingress);
  settle();
  leave_kept(folder_ + "/run", "a.0", UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  fleet_->let_drain(ingress, milliseconds(0));
  tend_until([&] { return !ingress.seat().child; });
  EXPECT_FALSE(borrow_kept(folder_ + "/run", "a.0")) << "the kernel would go on filling it";
}

TEST_F(FleetTest, LetsAWorkerDrainAndEndsItWhenItDoesNot) {
  Post& front = post("front.0");
  fleet_->start(front);
  settle();
  fleet_->let_drain(front, milliseconds(50));
  EXPECT_TRUE(fleet_->is_busy());
  tend_until([&] { return !front.seat().child; });
  EXPECT_EQ(front.wish, Wish::kDown);
  EXPECT_EQ(front.seat().note, "exited with 0");
  EXPECT_THAT(events_, Contains("stopped: front.0 exited with 0"));
}

TEST_F(FleetTest, StopsWhomItIsToldAndKillsWhoDoesNotListen) {
  program("io-worker", "trap '' TERM; while kill -0 $PPID 2>/dev/null; do sleep 0.02; done");
  Post& front = post("front.0");
  Post& ingress = post("ingress.lan.0");
  Post& egress = post("egress.0");
  for (Post* each : {&front, &ingress, &egress}) fleet_->start(*each);
  settle();
  EXPECT_EQ(fleet_->process_count(), 3U);
  fleet_->stop([&](const Post& post) { return &post == &front; }, std::chrono::seconds(30));
  fleet_->stop([&](const Post& post) { return &post == &ingress; }, milliseconds(200));
  EXPECT_FALSE(front.seat().child);
  EXPECT_EQ(front.seat().note, "exited with 0");
  EXPECT_EQ(ingress.seat().note, "killed by signal 9 (Killed)");
  EXPECT_THAT(events_, Contains("killed: ingress.lan.0 had to be killed"));
  EXPECT_TRUE(egress.seat().child);
}

TEST_F(FleetTest, AdoptsAProcessByItsActor) {
  pid_t pid = 0;
  {
    Fleet before(plan_, {folder_, folder_ + "/run", RestartLimits{}}, [](const Event&) {});
    for (Post& post : before.posts()) {
      if (post.name == "gpu.0.a") post.current = 1;
      if (post.name == "gpu.0.a") before.start(post);
    }
    pid = before.posts()[5].seat().child->pid();
  }
  fleet_->adopt({.pid = pid, .start_time = process_start_time(pid), .actor = 6});
  Post& gpu = post("gpu.0.a");
  EXPECT_EQ(gpu.current, 1U);
  EXPECT_EQ(gpu.wish, Wish::kDown) << "that is the caller's to say";
  ASSERT_TRUE(gpu.seat().child);
  EXPECT_EQ(gpu.seat().child->pid(), pid);
}

TEST_F(FleetTest, ASuccessorTakesTheSeatWhenItsProcessEnds) {
  Post& front = post("front.0");
  fleet_->start(front);
  settle();
  fleet_->start_successor(front, folder_);
  const pid_t next = front.seat().next->pid();
  EXPECT_EQ(fleet_->process_count(), 2U);
  front.seat().child->signal(SIGTERM);
  tend_until([&] { return !front.seat().next; });
  ASSERT_TRUE(front.seat().child);
  EXPECT_EQ(front.seat().child->pid(), next);
  EXPECT_EQ(front.policy.restarts(), 0U) << "nobody failed";
  EXPECT_THAT(events_, Contains("succeeded: front.0 exited with 0; its successor goes on"));
}

TEST_F(FleetTest, ASuccessorThatDoesNotStartDisplacesNobody) {
  Post& front = post("front.0");
  fleet_->start(front);
  const pid_t old = front.seat().child->pid();
  fs::create_directory(folder_ + "/new");
  fs::create_symlink("/bin/false", folder_ + "/new/millrace-classifier");
  fleet_->start_successor(front, folder_ + "/new");
  tend_until([&] { return !front.seat().next; });
  ASSERT_TRUE(front.seat().child);
  EXPECT_EQ(front.seat().child->pid(), old);
  EXPECT_THAT(events_, Contains("successor_exited: the successor of front.0 exited with 1"));
}

TEST_F(FleetTest, LeavesAPostAloneWhileAnUpgradeSeesToIt) {
  Post& front = post("front.0");
  fleet_->start(front);
  front.replacing = true;
  front.seat().child->signal(SIGKILL);
  tend_until([&] { return !front.seat().child; });
  for (int turn = 0; turn < 40; ++turn) {
    fleet_->tend();
    ::usleep(5000);
  }
  EXPECT_FALSE(front.seat().child);
  front.replacing = false;
  front.folder = folder_ + "/other";
  fs::create_directory(front.folder);
  fs::rename(folder_ + "/millrace-classifier", front.folder + "/millrace-classifier");
  tend_until([&] { return front.seat().child.has_value(); });
}

TEST_F(FleetTest, AdoptsAProcessAndItsSuccessorInAnyOrder) {
  for (const bool first : {true, false}) {
    Fleet before(plan_, {folder_, folder_ + "/run", RestartLimits{}}, [](const Event&) {});
    Post& old = before.posts()[3];
    before.start(old);
    before.start_successor(old, folder_);
    const pid_t pid = old.seat().child->pid(), next = old.seat().next->pid();
    const FoundProcess one{.pid = pid, .start_time = process_start_time(pid), .actor = 3};
    FoundProcess other{.pid = next, .start_time = process_start_time(next), .actor = 3};
    other.successor = true;
    Fleet after(plan_, {folder_, folder_ + "/run", RestartLimits{}}, [](const Event&) {});
    after.adopt(first ? one : other);
    after.adopt(first ? other : one);
    const Seat& seat = after.posts()[3].seat();
    ASSERT_TRUE(seat.child && seat.next);
    EXPECT_EQ(seat.child->pid(), pid);
    EXPECT_EQ(seat.next->pid(), next);
    before.stop([](const Post&) { return true; }, milliseconds(0));
  }
}

TEST_F(FleetTest, TelemetryTellsItsAgeByItsBeats) {
  Post& telemetry = post("telemetry");
  const auto age = [&] { return fleet_->heartbeat_age_ms(telemetry, telemetry.seat(), kNoActor); };
  const std::string path = beat_path(folder_ + "/run", "telemetry");
  EXPECT_FALSE(age()) << "it does not run";
  fleet_->start(telemetry);
  const BeatFile of_another(path);
  EXPECT_FALSE(age()) << "an earlier life";
  const Beat beat{telemetry.seat().child->pid(), monotonic_ns() - 3'000'000'000};
  std::ofstream(path).write(reinterpret_cast<const char*>(&beat), sizeof beat);
  ASSERT_TRUE(age());
  EXPECT_GE(*age(), 3000U);
  fleet_->tend();
  EXPECT_TRUE(telemetry.seat().child) << "one look is not long enough";
  Post& front = post("front.0");
  fleet_->start(front);
  EXPECT_FALSE(fleet_->heartbeat_age_ms(front, front.seat(), front.seat().actor))
      << "it has not beaten";
}

TEST_F(FleetTest, ObserversAreFoundByTheirPrograms) {
  plan_.events = PlanEvents{};
  plan_.functions.push_back({.type = "route", .settings = {{"routes", "kernel"}}});
  Fleet before(plan_, {folder_, folder_ + "/run", RestartLimits{}}, [](const Event&) {});
  Fleet after(plan_, {folder_, folder_ + "/run", RestartLimits{}}, [](const Event&) {});
  for (const char* const other : {"events", "routes"}) {
    fs::copy_file(folder_ + "/millrace-telemetry", folder_ + "/millrace-" + other);
  }
  const auto named = [](Fleet& fleet, const char* name) -> Post& {
    return *std::ranges::find(fleet.posts(), name, &Post::name);
  };
  for (const ObserverKind& observer : kObservers) {
    const char* const name = observer.name;
    before.start(named(before, name));
    const pid_t pid = named(before, name).seat().child->pid();
    after.adopt({.pid = pid,
                 .start_time = process_start_time(pid),
                 .program = std::string("millrace-") + name});
    ASSERT_TRUE(named(after, name).seat().child) << name;
    EXPECT_EQ(named(after, name).seat().child->pid(), pid);
    EXPECT_FALSE(named(after, name).seat().next);
  }
  before.stop([](const Post&) { return true; }, milliseconds(0));
}

TEST_F(FleetTest, TellsWhenAProgramIsMissing) {
  fs::remove(folder_ + "/millrace-classifier");
  EXPECT_THROW(fleet_->start(post("front.0")), Error);
  tend_until([&] { return !events_.empty(); });
  EXPECT_THAT(events_[0], testing::StartsWith("start_failed: start " + folder_));
  EXPECT_EQ(post("front.0").failed_starts, 1u);
  EXPECT_THAT(post("front.0").seat().note,
              testing::StartsWith("could not be started (start " + folder_));
}

}  // namespace
}  // namespace millrace
