// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "orchestration/supervisor/change_steps.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "tests/unit/orchestration/supervisor/fleet_fixture.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Changes of numbers of workers: they need no program of ours.
class ChangesTest : public test::FleetFixture {
 protected:
  ChangesTest() : FleetFixture(test::small_plan("changes-" + std::to_string(::getpid()))) {
    plan_.generation = 1;
    history_.add(plan_, "start", 1000);
  }
  void set(std::uint32_t actor, ActorState state) {
    view_.actor(actor).state = static_cast<std::uint32_t>(state);
  }
  Received scale(std::uint32_t count, std::uint32_t confirm_seconds = 0) {
    ChangeRequest wanted{.scale = {{"front", count}}, .confirm_seconds = confirm_seconds};
    wanted.what = "scale front=" + std::to_string(count);
    return {.peer = "cli", .message = {.id = ++last_id_, .body = std::move(wanted)}};
  }
  Changes::Means means() {
    return {
        .folder = folder_,
        .run_dir = folder_ + "/run",
        .run_words = "net",
        .ask_drain = [](std::uint32_t) {},
        .is_ready = [](std::uint32_t) { return true; },
        .forget_ready = [](std::uint32_t) {},
        .tell = [](const std::string&, const ControlBody&) {},
        .reply = [this](const Received&, ControlBody body) { said_.push_back(std::move(body)); },
        .note = [this](const Event& event) { kinds_.push_back(event.kind); },
        .out_of_service = [] { return std::vector<std::string>(); }};
  }
  std::string last_error() const {
    const auto* error = said_.empty() ? nullptr : std::get_if<ErrorReply>(&said_.back());
    return error != nullptr ? error->text : "no error";
  }
  Post& post(const std::string& name) {
    return *std::ranges::find(fleet_->posts(), name, &Post::name);
  }

  History history_{folder_ + "/run"};
  StateFile state_{folder_ + "/run"};
  std::vector<ControlBody> said_;
  std::vector<std::string> kinds_;
  std::uint64_t last_id_ = 0;
  Changes changes_{plan_, *fleet_, history_, state_, means()};
};

TEST_F(ChangesTest, WhatIsMadeIsTheNextGeneration) {
  changes_.ask(scale(2));
  EXPECT_TRUE(changes_.is_changing());
  changes_.tend(true);
  EXPECT_TRUE(said_.empty()) << "the workers are not alive yet";
  set(3, ActorState::kAlive);
  set(4, ActorState::kAlive);
  changes_.tend(true);
  ASSERT_EQ(said_.size(), 1u);
  const auto& reply = std::get<ChangeReply>(said_[0]);
  EXPECT_EQ(reply.generation, 2u);
  EXPECT_THAT(reply.lines, ElementsAre("front: 0 -> 2 workers"));
  EXPECT_THAT(kinds_, ElementsAre("scaled", "changed"));
  EXPECT_FALSE(changes_.is_changing());
  EXPECT_EQ(load_plan(plan_path(folder_ + "/run")).groups[0].count, 2u);
  EXPECT_EQ(history_.entries().back().what, "scale front=2");
}

TEST_F(ChangesTest, WhatCannotBeChangesNothing) {
  changes_.ask(scale(3));
  changes_.tend(true);
  EXPECT_THAT(last_error(), HasSubstr("can have 1 to 2 workers"));
  EXPECT_EQ(plan_.generation, 1u);
  EXPECT_FALSE(changes_.guard().is_going_back());
}

TEST_F(ChangesTest, OfWhatFailsHalfWayTheWayBackBegins) {
  changes_.ask(scale(2));
  changes_.tend(true);
  post("front.1").failed_starts = 3;
  changes_.tend(true);
  EXPECT_THAT(last_error(), HasSubstr("front.1"));
  EXPECT_TRUE(changes_.guard().is_going_back());
  EXPECT_THAT(changes_.guard().way_back_text(), HasSubstr("as only half of a change was made"));
  EXPECT_EQ(state_.now().deadline->generation, 1u);
  EXPECT_EQ(plan_.generation, 1u);
}

TEST_F(ChangesTest, NothingElseChangesUntilTheLastChangeIsConfirmed) {
  set(3, ActorState::kAlive);
  changes_.ask(scale(1, 60));
  changes_.tend(true);
  ASSERT_TRUE(std::holds_alternative<ChangeReply>(said_.back())) << last_error();
  EXPECT_TRUE(changes_.guard().waits_for_confirm());
  changes_.ask(scale(1));
  changes_.tend(true);
  EXPECT_THAT(last_error(), HasSubstr("waits to be confirmed"));
  changes_.confirm({.peer = "cli", .message = {.id = 9, .body = ConfirmRequest{}}});
  EXPECT_TRUE(std::holds_alternative<OkReply>(said_.back()));
  changes_.confirm({.peer = "cli", .message = {.id = 10, .body = ConfirmRequest{}}});
  EXPECT_EQ(last_error(), "no change waits to be confirmed");
}

TEST_F(ChangesTest, AChangeWhoseDeadlineCannotBeNotedIsMadeAndWaits) {
  changes_.ask(scale(1, 60));
  changes_.tend(true);
  const std::string draft = run_state_path(folder_ + "/run") + ".tmp";
  std::filesystem::create_directory(draft);
  set(3, ActorState::kAlive);
  changes_.tend(true);
  ASSERT_TRUE(std::holds_alternative<ChangeReply>(said_.back())) << last_error();
  EXPECT_EQ(std::get<ChangeReply>(said_.back()).generation, 2u);
  EXPECT_TRUE(changes_.guard().waits_for_confirm());
  changes_.confirm({.peer = "cli", .message = {.id = 9, .body = ConfirmRequest{}}});
  EXPECT_THAT(last_error(), HasSubstr("supervisor.state"));
  std::filesystem::remove(draft);
  changes_.confirm({.peer = "cli", .message = {.id = 10, .body = ConfirmRequest{}}});
  EXPECT_TRUE(std::holds_alternative<OkReply>(said_.back()));
}

TEST_F(ChangesTest, TheRowHasAnEnd) {
  for (int i = 0; i < 64; ++i) changes_.ask(scale(2));
  EXPECT_TRUE(said_.empty());
  changes_.ask(scale(2));
  EXPECT_EQ(last_error(),
            "64 changes wait already, as many as may; ask again when one has ended: millrace "
            "status net");
}

TEST_F(ChangesTest, AStepOfWorkersStaysOnceItHasBegun) {
  Scaling scaling(
      plan_, *fleet_, [](std::uint32_t) {}, "test");
  ScaleStep step(plan_, scaling, scaling.check({{"front", 2}}));
  EXPECT_FALSE(step.stays());
  step.begin();
  EXPECT_TRUE(step.stays());
  EXPECT_FALSE(scaling.idle());
  step.take_back();
  EXPECT_TRUE(scaling.idle());
  EXPECT_TRUE(step.stays()) << "its workers are on their way";
}

}  // namespace
}  // namespace millrace
