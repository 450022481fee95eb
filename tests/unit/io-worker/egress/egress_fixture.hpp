// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "io-worker/egress/egress_actor.hpp"
#include "tests/unit/support/fake_work.hpp"
#include "tests/unit/support/small_world.hpp"

/// An egress between a link that a test fills and ports that it looks into.

namespace millrace::test {

using Ordinals = std::vector<std::uint64_t>;

inline constexpr SlotState kDone{SlotKind::kHeld, kEgressStage};

/// A queue that takes as many packets a call as it is told.
class FakeTx : public TxQueue {
 public:
  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    ++calls;
    refusing = false;
    if (on_send) on_send();
    if (!packets.empty() && ordinal_at(packets[0]) == never) {
      refusing = true;
      return 0;
    }
    const auto count = std::min<std::uint32_t>(room, static_cast<std::uint32_t>(packets.size()));
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t ordinal = ordinal_at(packets[i]);
      if (ordinal == never) return i;
      sent.push_back(ordinal);
      frames.emplace_back(packets[i].bytes.begin(), packets[i].bytes.end());
      bytes += packets[i].bytes.size();
      if (holds) ring.push_back(packets[i].buffer);
    }
    return count;
  }
  bool reads_batches() const noexcept override { return reads; }
  std::uint32_t send_of(const Batch& batch,
                        std::span<const std::uint16_t> numbers) noexcept override {
    ++batches_read;
    std::vector<TxPacket> packets;
    for (const std::uint16_t i : numbers) {
      packets.push_back({batch.buffer[i], batch.bytes(i), batch.wire_length(i), 0});
    }
    return send(packets);
  }
  bool waits_when_full() const noexcept override { return waits; }
  bool failed() const noexcept override { return broken; }
  TroubleText trouble() const noexcept override {
    TroubleText text;
    if (broken) text.add("%s", why);
    return text;
  }
  bool refused() const noexcept override { return refusing; }
  void flush() noexcept override { ++flushes; }
  bool holds_buffers() const noexcept override { return holds; }
  std::uint32_t reclaim(std::span<std::uint32_t> out) noexcept override {
    std::uint32_t count = 0;
    for (; count < out.size() && ring.size() > kept; ++count, ring.pop_front()) {
      out[count] = ring.front();
    }
    room = room == 0 && count != 0 ? count : room;
    return count;
  }

  static std::uint64_t ordinal_at(const TxPacket& packet) {
    std::uint64_t ordinal = 0;
    if (packet.bytes.size() < 16 + sizeof ordinal) return UINT64_MAX - 1;
    std::memcpy(&ordinal, packet.bytes.data() + 16, sizeof ordinal);
    return ordinal;
  }

  std::uint32_t room = 1000;
  bool waits = false, broken = false, holds = false;
  bool reads = true;  ///< batches
  const char* why = "";
  std::function<void()> on_send;     ///< what others do meanwhile
  std::size_t kept = 1000;           ///< buffers that it gives up only when more come
  std::deque<std::uint32_t> ring;    ///< buffers that it holds
  std::uint64_t never = UINT64_MAX;  ///< ordinal of a packet that it cannot send
  bool refusing = false;
  int calls = 0, flushes = 0, batches_read = 0;
  Ordinals sent;
  std::vector<std::vector<std::byte>> frames;  ///< the same packets, whole
  std::uint64_t bytes = 0;
};

/// egress.0 with port b (1) for stream 0 and port a (0) for stream 1.
class EgressTest : public ::testing::Test {
 protected:
  EgressTest() : context_(world_.context("egress.0")) {
    world_.start_all();
    for (const std::uint32_t port : {0u, 1u}) {
      auto queue = std::make_unique<FakeTx>();
      tx_[port] = queue.get();
      ports_[port] = std::move(queue);
    }
    start();
  }
  /// A life of the egress; the next one begins behind what the ledgers say.
  void start() {
    egress_ = std::make_unique<EgressActor>(context_, ports_, work_);
    egress_->read_roster();
  }
  /// Port b's queue keeps what is sent.
  void hold(std::size_t kept) {
    tx_[1]->holds = true;
    tx_[1]->kept = kept;
    start();
  }
  Mark mark(std::uint32_t buffer) const { return Mark::from_word(world_.segment.mark(buffer)); }
  std::uint32_t arrives(std::uint64_t sequence, std::uint32_t lane = 0, std::uint32_t count = 3) {
    return world_.send(
        "deep.0", "egress.0",
        {.lane = lane, .sequence = sequence, .count = count, .owner = "deep.0", .state = kDone});
  }
  void work() {
    while (egress_->do_work() != 0) {
    }
  }
  LaneRecord record(std::uint32_t lane = 0) const {
    return read_record(world_.status.ledger(0, lane));
  }
  std::uint64_t dropped(Reason why) const {
    return record().dropped[static_cast<std::size_t>(why)];
  }

  SmallWorld world_;
  ActorContext context_;
  FakeWork work_;
  TxQueues ports_;
  FakeTx* tx_[2] = {};
  std::unique_ptr<EgressActor> egress_;
};

}  // namespace millrace::test
