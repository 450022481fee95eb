// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "io-worker/ingress/ingress_actor.hpp"
#include "shared/base/flow_hash.hpp"
#include "shared/links/ledger.hpp"
#include "tests/unit/support/ordinal.hpp"
#include "tests/unit/support/small_world.hpp"

/// An ingress between a source that a test fills and links that a test empties.

namespace millrace::test {

/// Shares of a port that one queue reads: a test fills them, and says what the queue may do.
class FakeShares : public RxShares {
 public:
  ShareSet read_here() const noexcept override { return here; }
  void admit() noexcept override { ++admits; }
  bool hold(ShareSet shares) noexcept override {
    if (may_hold) held = shares;
    return may_hold;
  }
  bool leave(std::uint32_t share) noexcept override {
    ++leaves;
    if (before_leave) before_leave(share);
    if (!may_leave || (here & held & ShareSet{1} << share) == 0) return false;
    here &= ~(ShareSet{1} << share);
    return true;
  }
  bool join(std::uint32_t share) noexcept override {
    ++joins;
    if (may_join) here |= ShareSet{1} << share;
    return may_join;
  }
  /// The oldest packet's flow, of the first share that has one.
  std::optional<std::uint64_t> take() noexcept {
    for (std::uint32_t share = 0; share < waiting.size(); ++share) {
      if (((here & ~held) >> share & 1) == 0 || waiting[share].empty()) continue;
      const std::uint64_t flow = waiting[share].front();
      waiting[share].pop_front();
      return flow;
    }
    return std::nullopt;
  }

  ShareSet here = 0, held = 0;
  bool may_hold = true, may_leave = true, may_join = true;
  int admits = 0, leaves = 0, joins = 0;
  std::function<void(std::uint32_t share)> before_leave;
  std::array<std::deque<std::uint64_t>, kPortQueueCountMax> waiting;  ///< flows, by share
};

/// Hands out packets as the test offers them: numbered from where resume() says, frames that are
/// not IP, whose flow is the MAC address.
class FakeRx : public RxQueue {
 public:
  struct Offer {
    std::uint64_t flow = 0;
    bool oversize = false;
  };
  static constexpr std::uint16_t kBytes = 60;

  void offer(std::uint32_t count, std::uint64_t flow = 0) {
    for (std::uint32_t i = 0; i < count; ++i) offered.push_back({flow, false});
  }
  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override {
    ++polls;
    std::uint32_t count = 0;
    std::uint32_t buffer = 0;
    while (count < out.size() && has_next() && pool.take({&buffer, 1}) == 1) {
      std::byte* const data = pool.area().at(buffer) + kBufferHeadroom;
      std::memset(data, 0, kBytes);
      std::memcpy(data, &offered[next].flow, 6);
      std::memcpy(data + 16, &next, sizeof next);
      out[count++] = {buffer, kBufferHeadroom, kBytes, kBytes, offered[next].oversize, false, next,
                      0};
      ++next;
    }
    return count;
  }
  void resume(std::uint64_t first_wanted) noexcept override { next = resumed = first_wanted; }
  void rest() noexcept override { ++rests; }
  bool has_waiting() const noexcept override { return of_loop && next < offered.size(); }
  bool reads_when_drained() const noexcept override { return of_loop; }
  bool exhausted() const noexcept override { return ended && next >= offered.size(); }
  std::uint64_t next_ready_ns() const noexcept override { return ready_ns; }
  int wait_descriptor() noexcept override { return descriptor; }
  std::uint32_t held() const noexcept override { return 0; }
  RxShares* shares() noexcept override { return from_shares; }
  std::uint64_t errors() const noexcept override { return error_count; }
  TroubleText trouble() const noexcept override {
    TroubleText text;
    if (error_count != 0) text.add("%s", what);
    return text;
  }

  FakeShares* from_shares = nullptr;  ///< what comes when all that is offered has been read
  std::vector<Offer> offered;         ///< by ordinal; a next life reads them again
  std::uint64_t next = 0, resumed = UINT64_MAX, ready_ns = 0;
  bool ended = false;
  bool of_loop = false;  ///< other actors fill it
  int polls = 0, rests = 0, descriptor = -1;
  std::uint64_t error_count = 0;
  const char* what = "";

 private:
  bool has_next() noexcept {
    if (next < offered.size()) return true;
    const auto flow = from_shares == nullptr ? std::nullopt : from_shares->take();
    if (flow) offered.push_back({*flow, false});
    return flow.has_value();
  }
};

/// Batches of up to 8 packets straight to the egress, `slots` of them, in `lanes` lanes.
inline std::string ingress_topology(std::uint32_t lanes, std::uint32_t slots) {
  return "millrace: 1\nname: in\nbatch: { capacity: 8 }\n"
         "ports: { a: { device: \"null\" }, b: { device: \"null\" } }\n"
         "paths: { one: { from: [a], run: [], lanes: " +
         std::to_string(lanes) + ", slots: " + std::to_string(slots) + " } }\n";
}

/// Two flows of a FakeRx that have lanes of their own, of `lanes`.
inline std::pair<std::uint64_t, std::uint64_t> flows_of_two_lanes(std::uint32_t lanes) {
  std::map<std::uint64_t, std::uint64_t> flow_of_lane;
  for (std::uint64_t flow = 1; flow_of_lane.size() < 2; ++flow) {
    std::array<std::byte, FakeRx::kBytes> frame{};
    std::memcpy(frame.data(), &flow, 6);
    flow_of_lane.emplace(std::uint64_t{flow_hash_of(frame)} * lanes >> 32, flow);
  }
  return {flow_of_lane.begin()->second, flow_of_lane.rbegin()->second};
}

class IngressFixture : public ::testing::Test {
 protected:
  struct Left {
    std::uint32_t lane = 0;
    std::uint64_t sequence = 0, received_total = 0, position = 0;
    std::vector<std::uint64_t> ordinals;
    friend bool operator==(const Left&, const Left&) = default;
  };

  explicit IngressFixture(std::uint32_t lanes = 1, std::uint32_t slots = 16)
      : IngressFixture(ingress_topology(lanes, slots)) {}
  explicit IngressFixture(const std::string& topology)
      : world_(topology), context_(world_.context("ingress.a.0")) {
    world_.start_all();
    begin_life();
  }
  /// The present life ends without a word; another one begins.
  void begin_life() {
    ingress_.reset();
    context_.me.incarnation = static_cast<std::uint16_t>(context_.me.incarnation + 1);
    pool_ = std::make_unique<BufferPool>(context_, 0);
    ingress_ = std::make_unique<IngressActor>(context_, 0, *pool_, rx_);
    ingress_->read_roster();
  }
  void rounds(int count) {
    for (int i = 0; i < count; ++i) ingress_->do_work();
  }
  /// What has left for the egress since the last call; it stays in flight.
  std::vector<Left> left() {
    std::vector<Left> all;
    std::uint64_t word = 0;
    const auto stamp = [&](std::uint64_t taken) {
      world_.segment.slot(Descriptor::from_word(taken).slot).owner =
          world_.owner_word("egress.0").word();
    };
    while (world_.link("ingress.a.0", "egress.0").take({&word, 1}, stamp) == 1) {
      const std::uint32_t slot = Descriptor::from_word(word).slot;
      const Batch batch = world_.segment.batch(slot);
      std::vector<std::uint64_t> ordinals;
      for (std::uint32_t i = 0; i < batch.count; ++i) ordinals.push_back(ordinal_of(batch, i));
      all.push_back({batch.header->lane, batch.header->sequence, batch.header->received_total,
                     batch.header->position, std::move(ordinals)});
      in_flight_.push_back(slot);
    }
    return all;
  }
  /// The egress releases the oldest batch in flight: ledger, buffers, slot.
  void release_one() {
    const std::uint32_t slot = in_flight_.front();
    in_flight_.pop_front();
    const Batch batch = world_.segment.batch(slot);
    LaneLedger& ledger = world_.status.ledger(0, batch.header->lane);
    begin_record(ledger, *batch.header);
    publish(ledger);
    const auto& buffers = batch.buffer;
    ASSERT_TRUE(world_.segment.buffer_return(0, Returner::kEgress).push(buffers));
    const std::uint64_t word = world_.word_of(slot, 0);
    batch.header->state = 0;
    ASSERT_TRUE(world_.segment.slot_return(0, Returner::kEgress).push({&word, 1}));
  }
  void release_all() {
    left();
    while (!in_flight_.empty()) release_one();
  }
  std::vector<std::uint64_t> ordinals_of(const std::vector<Left>& batches) const {
    std::vector<std::uint64_t> all;
    for (const Left& batch : batches) {
      all.insert(all.end(), batch.ordinals.begin(), batch.ordinals.end());
    }
    return all;
  }

  FakeRx rx_;
  SmallWorld world_;
  ActorContext context_;
  std::unique_ptr<BufferPool> pool_;
  std::unique_ptr<IngressActor> ingress_;
  std::deque<std::uint32_t> in_flight_;
};

}  // namespace millrace::test
