// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/balancing.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shared/layout/latency.hpp"
#include "shared/metrics/counter_ids.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kIngress = 2, kFront = 3, kSpare = 4, kGpu = 5, kTwin = 6, kEgress = 7;

Plan balanced_plan(const std::string& device) {
  Plan plan = test::small_plan("balancing");
  plan.groups[1].spill = 16;
  plan.groups[1].offload = 0;
  plan.groups[1].settings = {{"device", device}};
  plan.stages = {{.path = 0, .group = 1}};
  return plan;
}

class BalancingTest : public testing::Test {
 protected:
  explicit BalancingTest(const std::string& device = "auto") : plan_(balanced_plan(device)) {
    set(kFront, ActorState::kAlive);
    set(kTwin, ActorState::kAlive);
    status_.actor_tally(kTwin).backend = static_cast<std::uint64_t>(Backend::kCuda);
  }
  void set(std::uint32_t actor, ActorState state) {
    status_.actor(actor).state = static_cast<std::uint32_t>(state);
  }
  void count(std::uint32_t actor, Counter id, std::uint64_t more) {
    status_.counters(actor)[static_cast<std::size_t>(id)] += more;
  }
  /// Batches that left the stage, each after so long: beside the GPU, and by it.
  void do_beside(std::uint32_t actor, std::uint64_t batches, std::uint64_t ns) {
    count(actor, Counter::kStandInBatches, batches);
    count(actor, Counter::kStandInTime, batches * ns);  // ticks of 1 ns
    note_duration(status_.stage_latency(actor, 0), ns, batches);
  }
  void do_at_gpu(std::uint64_t batches, std::uint64_t ns) {
    note_duration(status_.stage_latency(kGpu, 0), ns / 2, batches);  // the device's own part
    note_duration(status_.stage_latency(kEgress, 0), ns, batches);
  }
  std::uint64_t look(Balancing& balancing) {
    now_ += std::chrono::milliseconds(200);
    balancing.look(now_);
    const std::vector<NamedCount> shares = balancing.shares();
    EXPECT_EQ(shares.size(), 1u);
    EXPECT_EQ(shares.at(0).name, "gpu");
    return shares.at(0).count;
  }
  Balancing open() {
    return {plan_, [this](const Event& event) { notes_.push_back(event.text); }, status_};
  }

  Plan plan_;
  Mapping memory_ = Mapping::create_anonymous(status_layout(plan_).bytes);
  StatusView status_ = StatusView::create(memory_.base(), plan_, 1'000'000'000);
  std::vector<std::string> notes_;
  Balancing::Clock::time_point now_ = Balancing::Clock::now();
};

TEST_F(BalancingTest, AsksOnlyForGroupsWhoseShareIsMeasured) {
  plan_.groups[1].offload = 80;
  Balancing balancing = open();
  balancing.look(now_);
  EXPECT_TRUE(balancing.shares().empty());
  EXPECT_EQ(status_.actor(kGpu).offload, 0u);
}

TEST_F(BalancingTest, MovesTheShareToTheSideThatIsSooner) {
  Balancing balancing = open();
  EXPECT_TRUE(balancing.shares().empty()) << "not looked yet";
  std::uint64_t share = look(balancing);
  EXPECT_EQ(share, Balance::kStart);
  for (int i = 0; i < 40; ++i) {
    do_beside(kFront, 100, 100'000);
    do_beside(kSpare, 100, 100'000);
    do_at_gpu(200, 30'000);
    share = look(balancing);
  }
  EXPECT_GE(share, 99u);
  EXPECT_EQ(status_.actor(kGpu).offload, share + 1) << "the word of the group's first actor";
  for (int i = 0; i < 60; ++i) {
    do_beside(kFront, 100, 100'000);
    do_at_gpu(200, 900'000);
    count(kIngress, Counter::kSlotsExhausted, 1);
    share = look(balancing);
  }
  EXPECT_LE(share, 1u);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(BalancingTest, LooksFiveTimesASecond) {
  Balancing balancing = open();
  look(balancing);
  set(kTwin, ActorState::kFenced);
  balancing.look(now_ + std::chrono::milliseconds(199));
  EXPECT_EQ(balancing.shares().at(0).count, Balance::kStart);
  EXPECT_EQ(look(balancing), 0u);
}

TEST_F(BalancingTest, GoesOnFromTheShareThatIsThere) {
  status_.actor(kGpu).offload = 1 + 81;
  Balancing balancing = open();
  EXPECT_EQ(look(balancing), 81u);
}

TEST_F(BalancingTest, ASideWithoutWorkersGetsNothingAndItIsSaid) {
  Balancing balancing = open();
  look(balancing);
  set(kTwin, ActorState::kVacant);
  EXPECT_EQ(look(balancing), 0u);
  EXPECT_EQ(look(balancing), 0u);
  EXPECT_EQ(notes_,
            std::vector<std::string>{
                "group gpu gets no batch, as none of its workers is alive: front does all"});
  set(kTwin, ActorState::kAlive);
  EXPECT_EQ(look(balancing), 1u);
  EXPECT_EQ(notes_.size(), 2u);
  set(kFront, ActorState::kDraining);
  EXPECT_EQ(look(balancing), 100u);
}

TEST_F(BalancingTest, AGroupThatFoundNoGpuGetsNothingAndItIsSaid) {
  status_.actor_tally(kTwin).backend = static_cast<std::uint64_t>(Backend::kSoftware);
  Balancing balancing = open();
  EXPECT_EQ(look(balancing), 0u);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_EQ(notes_[0],
            "group gpu gets no batch, as it found no GPU and would compute on the CPU: front does "
            "all; to share with it all the same: 'device: software'");
}

class SoftwareBalancingTest : public BalancingTest {
 protected:
  SoftwareBalancingTest() : BalancingTest("software") {}
};

TEST_F(SoftwareBalancingTest, ADeviceThatIsAskedForGetsItsShare) {
  status_.actor_tally(kTwin).backend = static_cast<std::uint64_t>(Backend::kSoftware);
  Balancing balancing = open();
  EXPECT_EQ(look(balancing), Balance::kStart);
  EXPECT_TRUE(notes_.empty());
}

}  // namespace
}  // namespace millrace
