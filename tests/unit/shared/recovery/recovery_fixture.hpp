// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "shared/layout/actor_states.hpp"
#include "shared/recovery/recovery.hpp"
#include "tests/unit/support/small_world.hpp"

/// Recovery over hand-made slots and processes that exist only here.

namespace millrace::test {

class FakeProcesses : public ProcessControl {
 public:
  bool exited(std::int32_t pid, std::uint64_t) override { return gone.contains(pid); }
  bool ending(std::int32_t pid, std::uint64_t) override {
    return dying.contains(pid) || gone.contains(pid);
  }
  bool stopped(std::int32_t pid, std::uint64_t) override { return halted.contains(pid); }
  void kill(std::int32_t pid, std::uint64_t) override {
    killed.push_back(pid);
    if (!unkillable.contains(pid)) gone.insert(pid);
  }
  std::optional<ThreadTimes> times(std::int32_t pid) override {
    const auto at = times_of.find(pid);
    return at == times_of.end() ? std::nullopt : std::optional(at->second);
  }
  std::uint64_t now_ns() override { return now; }

  std::set<std::int32_t> gone, dying, halted, unkillable;
  std::vector<std::int32_t> killed;
  std::map<std::int32_t, ThreadTimes> times_of;
  std::uint64_t now = 1'000'000'000'000;
};

/// All actors that start with the topology are alive; the hub leads.
class RecoveryFixture : public ::testing::Test {
 protected:
  static constexpr RecoveryLimits kLimits{1'000'000'000, 2'000'000'000, 1'000'000'000};

  explicit RecoveryFixture(const char* topology = kTwoPaths) : world_(topology) {
    world_.start_all();
    assign_lanes("deep.0", 2);
    lead("hub");
  }
  void assign_lanes(const char* group_member, std::uint32_t workers) {
    for (const PlanActor& actor : world_.plan.actors) {
      if (actor.name != group_member) continue;
      for (std::uint32_t lane = 0; lane < 6; ++lane) {
        world_.status.lane_map(actor.group).worker[lane] =
            static_cast<std::uint16_t>(lane % workers);
      }
    }
  }
  void lead(const char* name) {
    leader_ = std::make_unique<Recovery>(
        world_.context(name), processes_, kLimits, [this](const RecoveryEvent& event) {
          told_.push_back(world_.plan.actors[event.actor].name + ": " + event.what);
        });
  }
  /// The hub ends; the standby leads from here on.
  void hub_dies() {
    processes_.gone.insert(world_.pid_of("hub"));
    lead("standby");
  }
  void ends(const char* name) { processes_.gone.insert(world_.pid_of(name)); }

  /// What living actors do between two rounds of the leader.
  void live(std::uint64_t ms) {
    processes_.now += ms * 1'000'000;
    const std::uint64_t epoch = world_.status.header().epoch.load();
    for (const PlanActor& actor : world_.plan.actors) {
      const ActorState state = world_.state_of(actor.name);
      if (state != ActorState::kAlive && state != ActorState::kDraining) continue;
      ActorEntry& entry = world_.entry(actor.name);
      if (!deaf_.contains(actor.name)) entry.acked_epoch = epoch;
      if (!silent_.contains(actor.name)) ++entry.heartbeat_tsc;
    }
  }
  int tick(std::uint64_t ms = 10) {
    live(ms);
    return leader_->tick();
  }
  void tick_for(std::uint64_t ms) {
    for (std::uint64_t passed = 0; passed < ms; passed += 100) tick(100);
  }
  /// Ticks until the actor's entry has that state, at most 50 times.
  void tick_until(const char* name, ActorState state) {
    for (int i = 0; i < 50 && world_.state_of(name) != state; ++i) tick();
    ASSERT_EQ(world_.state_of(name), state) << name;
  }
  /// The actor dies; the hub recovers it, dies itself just before it says so, and the standby does
  /// all of it again.
  void dies_and_is_recovered_twice(const char* name) {
    ends(name);
    tick_until(name, ActorState::kFenced);
    tick_until(name, ActorState::kReclaiming);
    world_.entry(name).state = static_cast<std::uint32_t>(ActorState::kFenced);
    hub_dies();
    tick_until(name, ActorState::kVacant);
    tick_until("hub", ActorState::kVacant);
  }
  rte_ring* raw_link(const char* from, const char* to) const {
    auto* const base =
        reinterpret_cast<std::byte*>(&world_.segment.slot(0)) - world_.segment.layout().slots;
    for (std::size_t i = 0; i < world_.plan.links.size(); ++i) {
      const PlanLink& link = world_.plan.links[i];
      if (link.producer != world_.actor(from) || link.consumer != world_.actor(to)) continue;
      return reinterpret_cast<rte_ring*>(base + world_.segment.layout().links[i]);
    }
    std::abort();
  }
  /// "producer -> consumer" of every link that holds the slot.
  std::vector<std::string> places_of(std::uint32_t slot) const {
    std::vector<std::string> places;
    for (const std::uint32_t number : world_.links_with(slot)) {
      const PlanLink& link = world_.plan.links[number];
      places.push_back(world_.plan.actors[link.producer].name + " -> " +
                       world_.plan.actors[link.consumer].name);
    }
    return places;
  }
  /// The worker that a link from hub or standby has handed the slot to; "" unless exactly one link
  /// holds it.
  std::string handed_to(std::uint32_t slot) const {
    const std::vector<std::string> places = places_of(slot);
    if (places.size() != 1) return "";
    const bool by_leader = places[0].starts_with("hub -> ") || places[0].starts_with("standby -> ");
    return by_leader ? places[0].substr(places[0].find("> ") + 2) : "";
  }
  std::uint64_t dropped(std::uint32_t lane, Reason reason, std::uint32_t stream = 0) const {
    const LaneRecord record = read_record(world_.status.ledger(stream, lane));
    return record.dropped[static_cast<std::size_t>(reason)];
  }
  bool told(const std::string& text) const {
    return std::find(told_.begin(), told_.end(), text) != told_.end();
  }
  bool killed(const char* name) const {
    const auto& all = processes_.killed;
    return std::find(all.begin(), all.end(), world_.pid_of(name)) != all.end();
  }
  const StatusHeader& totals() const { return world_.status.header(); }

  SmallWorld world_;
  FakeProcesses processes_;
  std::vector<std::string> told_;
  std::set<std::string> silent_, deaf_;
  std::unique_ptr<Recovery> leader_;
};

}  // namespace millrace::test
