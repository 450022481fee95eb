// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/upgrade.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "shared/base/clock.hpp"
#include "tests/unit/orchestration/supervisor/scripts.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr const char* kGood =
    "[ \"$5\" = --successor ] && : > \"$2/waiting.$4\"\n"
    "trap 'exit 0' TERM; while kill -0 $PPID 2>/dev/null; do sleep 0.02; done";

/// Two builds of shell scripts; the parts of leader and actors are played by the test.
class UpgradeTest : public testing::Test {
 protected:
  UpgradeTest() {
    char pattern[] = "/tmp/millrace-upgrade-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    make_run_dir(run_dir());
    for (const char* build : {"old", "new"}) {
      fs::create_directory(folder_ + "/" + build);
      test::write_scripts(folder_ + "/" + build, kGood);
    }
    memory_ = Mapping::create_status(status_file_name(plan_.name), status_layout(plan_).bytes);
    view_ = StatusView::create(memory_.base(), plan_, 1'000'000'000);
    fleet_ = std::make_unique<Fleet>(plan_, FleetPlace{folder_ + "/old", run_dir(), {}},
                                     [](const Event&) {});
    fleet_->attach_status();
    Upgrade::Means means{.run_dir = run_dir()};
    means.ask_drain = [this](std::uint32_t actor) { end_of(actor); };
    means.is_ready = [this](std::uint32_t actor) { return ready_ || actor == kNoActor; };
    means.forget_ready = [this](std::uint32_t) { ++forgotten_; };
    means.proof = milliseconds(50);
    upgrade_ = std::make_unique<Upgrade>(plan_, *fleet_, means);
    for (Post& post : fleet_->posts()) {
      if (post.name != "front.1") fleet_->start(post);
    }
    ::usleep(300'000);  // the scripts have set their traps
    play();
  }
  ~UpgradeTest() override {
    fleet_->stop([](const Post&) { return true; }, milliseconds(0));
    destroy_shared_memory(plan_.name);
    fs::remove_all(folder_);
  }
  std::string run_dir() const { return folder_ + "/run"; }
  void program(const std::string& build, const std::string& part, const std::string& script) const {
    test::write_script(folder_ + "/" + build, part, script);
  }
  void end_of(std::uint32_t actor) {
    for (Post& post : fleet_->posts()) {
      if (post.seat().actor == actor && post.seat().child) post.seat().child->signal(SIGTERM);
    }
  }
  /// As actors and leader would: the owner of the seat is alive, and beats.
  void play() {
    for (const Post& post : fleet_->posts()) {
      if (!post.kind) continue;
      ActorEntry& entry = view_.actor(post.seat().actor);
      const bool there = post.seat().child.has_value();
      entry.pid = there ? post.seat().child->pid() : 0;
      entry.heartbeat_tsc = tsc_now();
      entry.state = static_cast<std::uint32_t>(there ? ActorState::kAlive : ActorState::kVacant);
    }
  }
  std::optional<std::string> turn() {
    ::usleep(5000);
    fleet_->reap();
    fleet_->tend();
    play();
    auto outcome = upgrade_->tend(Upgrade::Clock::now());
    if (!outcome) return std::nullopt;
    lines_ = outcome->lines;
    return outcome->error;
  }
  std::string run() {
    upgrade_->begin(folder_ + "/new");
    for (int turn = 0; turn < 12'000; ++turn) {
      if (const auto error = this->turn()) return *error;
    }
    return "no outcome";
  }
  std::string folder_of(const std::string& name) {
    const auto at = std::ranges::find(fleet_->posts(), name, &Post::name);
    // A script: its interpreter's second word names it.
    std::ifstream file("/proc/" + std::to_string(at->seat().child->pid()) + "/cmdline");
    std::string word;
    std::getline(file, word, '\0');
    std::getline(file, word, '\0');
    return fs::path(word).parent_path().filename();
  }

  Plan plan_ = test::small_plan("upgrade-" + std::to_string(::getpid()));
  std::string folder_;
  Mapping memory_;
  StatusView view_;
  std::unique_ptr<Fleet> fleet_;
  std::unique_ptr<Upgrade> upgrade_;
  bool ready_ = true;
  int forgotten_ = 0;
  std::vector<std::string> lines_;  ///< of the outcome
};

TEST_F(UpgradeTest, ReplacesEveryProcess) {
  std::map<std::string, pid_t> before;
  for (const Post& post : fleet_->posts()) {
    before[post.name] = post.seat().child ? post.seat().child->pid() : 0;
  }
  ASSERT_EQ(run(), "");
  EXPECT_TRUE(upgrade_->idle());
  for (const Post& post : fleet_->posts()) {
    EXPECT_FALSE(post.seat().next || post.replacing) << post.name;
    if (post.name == "front.1") {  // that only helped
      EXPECT_EQ(post.wish, Wish::kDown);
      EXPECT_FALSE(post.seat().child);
      continue;
    }
    ASSERT_TRUE(post.seat().child) << post.name;
    EXPECT_NE(post.seat().child->pid(), before[post.name]) << post.name;
    EXPECT_EQ(folder_of(post.name), "new") << post.name;
    EXPECT_EQ(fleet_->folder_of(post), folder_ + "/new");
  }
  EXPECT_EQ(forgotten_, 4) << "ingress and egress open their ports anew: what the old ones say at "
                              "the step's begin, and after it, is not of the new ones";
  EXPECT_THAT(lines_, testing::Contains(HasSubstr("ingress.lan.0: replaced; it was away")));
}

TEST_F(UpgradeTest, ABuildThatDoesNotStartReplacesNothing) {
  program("new", "gpu-worker", "echo no such device; exit 4");
  const auto at = std::ranges::find(fleet_->posts(), "gpu.0.a", &Post::name);
  const pid_t old = at->seat().child->pid();
  const std::string error = run();
  EXPECT_THAT(error, HasSubstr("gpu.0.a of " + folder_ + "/new ended at its start"));
  EXPECT_THAT(error, HasSubstr("no such device"));
  EXPECT_EQ(at->seat().child->pid(), old);
  EXPECT_EQ(fleet_->folder_of(*at), folder_ + "/old");
  EXPECT_EQ(folder_of("front.0"), "new") << "what has been replaced stays";
}

TEST_F(UpgradeTest, WhoEndsInHisNewPlaceIsFollowedByTheOldBuild) {
  ready_ = false;  // so it ends before it has proved itself
  program("new", "io-worker",
          "[ \"$5\" = --successor ] && : > \"$2/waiting.$4\"\n"
          "sleep 0.5; exit 5");
  const std::string error = run();
  EXPECT_THAT(error, HasSubstr("ingress.lan.0 of " + folder_ + "/new ended"));
  const auto at = std::ranges::find(fleet_->posts(), "ingress.lan.0", &Post::name);
  for (int turn = 0; turn < 2000 && !at->seat().child; ++turn) {
    fleet_->reap();
    fleet_->tend();
    play();
    ::usleep(5000);
  }
  ASSERT_TRUE(at->seat().child);
  EXPECT_EQ(fleet_->folder_of(*at), folder_ + "/old");
}

TEST_F(UpgradeTest, WithoutAnOpenPortNobodyIsUp) {
  ready_ = false;
  const auto at = std::ranges::find(fleet_->posts(), "ingress.lan.0", &Post::name);
  const pid_t old = at->seat().child->pid();
  upgrade_->begin(folder_ + "/new");
  for (int turn = 0; turn < 6000 && at->seat().child->pid() == old; ++turn) {
    ASSERT_EQ(this->turn(), std::nullopt);
  }
  ASSERT_NE(at->seat().child->pid(), old);
  for (int turn = 0; turn < 50; ++turn) ASSERT_EQ(this->turn(), std::nullopt) << "not yet ready";
  const auto outcome = upgrade_->tend(Upgrade::Clock::now() + std::chrono::minutes(2));
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->error, HasSubstr("ingress.lan.0"));
}

}  // namespace
}  // namespace millrace
