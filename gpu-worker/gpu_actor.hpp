// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gpu-worker/device.hpp"
#include "shared/actor/new_tables.hpp"
#include "shared/actor/run_loop.hpp"
#include "shared/links/outbox.hpp"

/// One incarnation of a GPU worker: moves descriptors from its links to the device and announces
/// completions to the following stage. It owns no slot and writes none: producers write into the
/// slots' `gpu_holder` what it holds. So it can be replaced before its process has ended.

namespace millrace {

class GpuActor : public Actor {
 public:
  /// `device` and `tables` are borrowed. `tables`: the source of new tables; null: there is none.
  GpuActor(const ActorContext& context, Device& device, NewTables* tables = nullptr);

  std::uint32_t do_work() noexcept override;
  bool has_work() noexcept override;
  void read_roster() noexcept override { outbox_.read_roster(); }
  void stop() noexcept override { stopping_ = true; }
  bool finished() noexcept override;
  void take_stock(std::uint64_t now_tsc) noexcept override;

 private:
  static constexpr std::uint32_t kBatchesPerRound = 16;

  struct Link {
    std::uint32_t number = 0;
    SpscRing<std::uint64_t> ring;
    PeakMark high;  ///< most batches that were in it
  };
  bool computes(std::uint8_t stage) const noexcept;
  bool take(DeviceBatch& out) noexcept;
  std::uint32_t feed() noexcept;
  std::uint32_t publish() noexcept;
  void take_tables() noexcept;

  ActorContext context_;
  Device& device_;
  NewTables* tables_;
  std::vector<std::uint32_t> edition_;  ///< by stage: of what is submitted now
  std::uint32_t gpu_number_;
  Outbox outbox_;
  std::vector<Link> links_;
  std::size_t next_link_ = 0;
  std::vector<std::uint64_t> submitted_tsc_;  ///< by slot
  TscScale scale_;
  DeviceBatch refused_;  ///< taken, but the device had no room
  bool has_refused_ = false;
  bool stopping_ = false;
};

}  // namespace millrace
