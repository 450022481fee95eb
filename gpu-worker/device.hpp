// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "shared/config/plan.hpp"
#include "shared/layout/descriptor.hpp"

/// A device that computes stages: the software device, or a GPU, by the same interface. It reads
/// slots and packets in place, writes only its own result area, and may complete in any order,
/// late, or twice: the acceptor of a completion checks it. The data thread calls, unless said
/// otherwise.

namespace millrace {

/// A batch given to the device, and given back when its results lie in the result area.
struct DeviceBatch {
  Descriptor descriptor;     ///< stage: the one to compute
  std::uint16_t stream = 0;  ///< as read when taken; bounded
  std::uint16_t lane = 0;
  std::uint32_t edition = 0;  ///< of the stage's tables: stage_edition()
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const char* name() const noexcept = 0;
  /// False: no room now. At most one batch of a slot is at the device: an older batch of the same
  /// slot is stale (recovery has moved the slot on) and is forgotten.
  virtual bool submit(const DeviceBatch& batch) noexcept = 0;
  /// Writes completed batches to `out`, at most out.size(); returns how many.
  virtual std::uint32_t poll(std::span<DeviceBatch> out) noexcept = 0;
  /// Batches submitted and not given back for good.
  virtual std::uint32_t in_flight() const noexcept = 0;

  // New tables, in two steps, and live ones. A device that asks StageWork for everything has
  // nothing to do.

  /// Control thread, while the data thread goes on: copies the tables of `plan` that are new. Not
  /// called again before use_tables() has taken them, unless they were never offered: then they are
  /// forgotten. Throws Error: then nothing has changed.
  virtual void load_tables(const Plan& plan) { static_cast<void>(plan); }
  /// Data thread: batches that are submitted from now on are computed with the tables loaded last,
  /// earlier ones with those before.
  virtual void use_tables() noexcept {}
  /// Control thread, now and then: gives back the memory of tables whose last batch has left.
  virtual void free_tables() noexcept {}
  /// Control thread: copies the changes of live tables. True: there are such tables, so it should
  /// be called again soon.
  virtual bool follow_tables() noexcept { return false; }
};

}  // namespace millrace
