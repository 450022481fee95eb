// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io-worker/egress/side_work.hpp"
#include "shared/links/ledger.hpp"
#include "tests/golden/golden_steps.hpp"
#include "tests/unit/support/small_world.hpp"

/// The egress of a golden table: executes what a batch asks for with the parts of the real one, at
/// the table's clock, and notes what leaves by each port and what the ledgers count.

namespace millrace {

class GoldenEgress {
 public:
  /// Ports: numbers and MTUs as these. What no function sends elsewhere leaves by the next port.
  explicit GoldenEgress(const std::vector<PlanPort>& ports)
      : world_(topology(ports)),
        context_(world_.context("egress.0")),
        returns_(context_, Returner::kEgress),
        neighbours_(world_.segment.neighbours()),
        frames_(ports.size()),
        sequence_(ports.size(), 0) {
    world_.start_all();
    for (std::size_t port = 0; port < ports.size(); ++port) {
      queues_[port] = std::make_unique<Queue>(frames_[port]);
    }
    pool_ = std::make_unique<SidePool>(context_);
    sender_ = std::make_unique<BurstSender>(context_, queues_, returns_, *pool_);
    held_ = std::make_unique<HeldPackets>(context_, *sender_, *pool_);
    side_ = std::make_unique<SideWork>(*sender_, *held_, *pool_);
  }
  GoldenEgress(const GoldenEgress&) = delete;  // its parts refer to each other
  GoldenEgress& operator=(const GoldenEgress&) = delete;

  const NeighbourTableView& neighbours() const { return neighbours_; }

  /// A batch of one packet that has come in by `port`.
  Batch receive(std::uint8_t port, const GoldenFrame& frame) {
    const std::uint32_t lane = world_.plan.paths[port].lane_first;
    const std::string ingress = "ingress." + world_.plan.ports[port].name + ".0";
    const Batch batch = world_.segment.batch(world_.make({.stream = port,
                                                          .lane = lane,
                                                          .sequence = ++sequence_[port],
                                                          .count = 1,
                                                          .owner = ingress}));
    batch.header->side_count = batch.header->side_bytes = 0;
    batch.classes[0] = 0;
    batch.length[0] = static_cast<std::uint16_t>(frame.size());
    std::ranges::copy(frame, batch.data(0));
    return batch;
  }

  /// Looks after the packets that wait.
  void tend(std::uint64_t now_ns) { held_->tend(now_ns); }

  /// As EgressActor::transmit().
  void release(const Batch& batch, std::uint64_t now_ns) {
    held_->tend(now_ns);
    LaneLedger& ledger = world_.status.ledger(batch.header->stream, batch.header->lane);
    LaneRecord& record = begin_record(ledger, *batch.header);
    sender_->begin(batch, record);
    side_->begin(batch, record, now_ns);
    const bool waits = side_->at(0);
    EXPECT_EQ(waits, is_held(batch, 0));
    if (batch.leaves(0)) {
      if (!goes_on(batch.verdict[0]) && batch.reason[0] != 0) {
        count_end(record, record.consumed, Reason::kAnswered);
        count_end(record, record.generated, batch.reason[0]);
      }
      sender_->add(0, port_of(batch));
    } else {
      count_end(record, batch.is_dropped(0) ? record.dropped : record.consumed, batch.reason[0]);
    }
    sender_->send_all();
    publish(ledger);
  }

  /// What has left by the port since it was asked last.
  std::vector<GoldenFrame> taken(std::size_t port) { return std::exchange(frames_[port], {}); }

  /// Of all lanes together, since the start.
  LaneRecord totals() const {
    LaneRecord sum{};
    for (std::uint32_t port = 0; port < frames_.size(); ++port) {
      const LaneRecord at =
          read_record(world_.status.ledger(port, world_.plan.paths[port].lane_first));
      sum.received += at.received;
      for (std::size_t i = 0; i < kPortCountMax; ++i) sum.transmitted[i] += at.transmitted[i];
      for (std::size_t i = 0; i < kReasonCount; ++i) {
        sum.dropped[i] += at.dropped[i];
        sum.consumed[i] += at.consumed[i];
        sum.generated[i] += at.generated[i];
      }
    }
    return sum;
  }
  std::uint32_t waiting() const { return held_->count(); }

 private:
  class Queue : public TxQueue {
   public:
    explicit Queue(std::vector<GoldenFrame>& frames) : frames_(frames) {}
    std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
      for (const TxPacket& packet : packets) {
        frames_.emplace_back(packet.bytes.begin(), packet.bytes.end());
      }
      return static_cast<std::uint32_t>(packets.size());
    }
    bool failed() const noexcept override { return false; }

   private:
    std::vector<GoldenFrame>& frames_;
  };

  static std::string topology(const std::vector<PlanPort>& ports) {
    std::string text = "millrace: 1\nname: golden\nports:\n", paths = "paths:\n";
    for (std::size_t i = 0; i < ports.size(); ++i) {
      text += "  " + ports[i].name + ": {device: \"null\", mtu: " + std::to_string(ports[i].mtu) +
              "}\n";
      paths += "  from_" + ports[i].name + ": {from: [" + ports[i].name +
               "], to: " + ports[(i + 1) % ports.size()].name + ", slots: 256}\n";
    }
    return text + paths;
  }

  std::uint8_t port_of(const Batch& batch) const {
    if (batch.output[0] != kOutputDefault) return batch.output[0];
    return static_cast<std::uint8_t>((batch.header->stream + 1u) % frames_.size());
  }

  test::SmallWorld world_;
  ActorContext context_;
  ReturnLinks returns_;
  NeighbourTableView neighbours_;
  std::vector<std::vector<GoldenFrame>> frames_;  ///< by port
  std::vector<std::uint64_t> sequence_;           ///< by port
  TxQueues queues_;
  std::unique_ptr<SidePool> pool_;
  std::unique_ptr<BurstSender> sender_;
  std::unique_ptr<HeldPackets> held_;
  std::unique_ptr<SideWork> side_;
};

}  // namespace millrace
