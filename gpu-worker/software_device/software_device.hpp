// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "gpu-worker/device.hpp"
#include "shared/actor/context.hpp"
#include "shared/actor/stage_work.hpp"
#include "shared/base/clock.hpp"

namespace millrace {

/// How the software device behaves; from the YAML of a gpu group. The same seed gives the same
/// decisions.
struct SoftwareDeviceSettings {
  std::uint64_t seed = 1;
  std::uint32_t delay_us = 0;  ///< longest time at the device, drawn evenly from [0, delay_us]
  bool reorder = false;  ///< batches become due independently; otherwise in the order of submission
  std::uint32_t late_permille =
      0;  ///< completions announced a second time, about a millisecond later
};
/// Reads the group's settings (seed, delay_us, reorder, late); throws Error for a value out of
/// range.
SoftwareDeviceSettings software_device_settings(const Settings& settings);

/// Computes stages on the CPU, in the thread that polls it. It has what a GPU has: tickets of about
/// 32 packets, a publisher that counts a batch complete when all its tickets are, delay,
/// reordering, late and double completion.
class SoftwareDevice : public Device {
 public:
  static constexpr std::uint32_t kTicketPackets = 32;

  /// `work` is borrowed. Results go to the result area of `context.me.actor`.
  SoftwareDevice(const ActorContext& context, StageWork& work,
                 const SoftwareDeviceSettings& settings);

  const char* name() const noexcept override { return "software device (CPU)"; }
  bool submit(const DeviceBatch& batch) noexcept override;
  std::uint32_t poll(std::span<DeviceBatch> out) noexcept override;
  std::uint32_t in_flight() const noexcept override { return waiting_; }

 private:
  struct Place {
    DeviceBatch batch;
    std::uint64_t due_tsc = 0;
    std::uint64_t number = 0;  ///< of the submission
    bool used = false;
    bool echo = false;  ///< results are there: announced a second time when due
  };
  void compute(const DeviceBatch& batch) noexcept;
  void compute_ticket(const Batch& batch, std::uint8_t stage, std::uint32_t first,
                      std::uint32_t* results) noexcept;
  Place* next_due(std::uint64_t now) noexcept;
  std::uint64_t order_number_of_oldest() const noexcept;

  ActorContext context_;
  StageWork& work_;
  SoftwareDeviceSettings settings_;
  TscScale scale_;
  std::mt19937_64 random_;
  std::vector<Place> places_;         ///< by slot: at most one batch of a slot is here
  std::vector<std::uint32_t> order_;  ///< slots in use, in order of submission
  std::uint32_t waiting_ = 0;
  std::uint64_t submitted_ = 0;
  std::uint64_t last_due_ = 0;
  std::vector<std::uint32_t> buffer_;  ///< bounded copies of the columns that are read
  std::vector<std::uint16_t> length_, offset_;
  std::uint32_t gpu_number_;
};

}  // namespace millrace
