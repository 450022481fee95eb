// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu-worker/cuda/gpu_memory.hpp"
#include "gpu-worker/cuda/host_memory.hpp"
#include "gpu-worker/cuda/stream.hpp"
#include "gpu-worker/device.hpp"
#include "gpu-worker/resident/arguments.hpp"
#include "shared/actor/context.hpp"
#include "shared/base/clock.hpp"

namespace millrace {

/// A GPU whose resident kernel takes batches from a ring in pinned memory and reads packets in
/// place. One thread. What goes wrong while it runs (a fault of the kernel, a ticket that never
/// ends) is said on standard error and ends the process: the batches are redone by the group that
/// stands in, and a new process starts beside what is left of this one.
class ResidentDevice : public Device {
 public:
  /// GPU number `ordinal`; tables of all stages of the actor's group. Throws Error that says what
  /// is missing: no driver, no such GPU, no memory, a function without a GPU version.
  ResidentDevice(const ActorContext& context, int ordinal);
  /// Stops the kernel. What is under way is finished, and forgotten.
  ~ResidentDevice() override;
  ResidentDevice(const ResidentDevice&) = delete;
  ResidentDevice& operator=(const ResidentDevice&) = delete;

  const char* name() const noexcept override { return name_.c_str(); }
  bool submit(const DeviceBatch& batch) noexcept override;
  std::uint32_t poll(std::span<DeviceBatch> out) noexcept override;
  std::uint32_t in_flight() const noexcept override { return waiting_; }

  /// Loads the tables of `stage` from the images of the plan's functions. Batches submitted from
  /// now on meet the new ones, earlier ones the old, each batch one of them as a whole. The
  /// old memory is used again when the last of its batches has left. Throws Error (then the old
  /// tables stay), also when too many versions are still in use.
  void load_tables(std::uint8_t stage, const Plan& plan) override;

 private:
  struct Place {
    DeviceBatch batch;
    std::uint32_t chain = 0;
    std::uint32_t packets = 0;
    std::uint32_t member = 0, word = 0;  ///< of its results, the first that has not come
    bool used = false;
  };
  struct ChainPlace {
    GpuMemory tables;
    std::uint32_t in_flight = 0;
    std::uint32_t members = 0;
    bool whole_frames = false;  ///< some function reads more than headers
    bool keyed = false;         ///< its batches have keys, and those are enough
    bool current = false;       ///< of some stage
  };
  void lay_out();
  resident::Chain make_chain(std::uint8_t stage, const Plan& plan, GpuMemory& tables) const;
  std::uint32_t free_chain();
  void push(const resident::Submission& submission) noexcept;
  std::span<std::uint32_t> results(const Place& place, std::uint32_t member) const noexcept;
  void expect_results(const Place& place) noexcept;
  bool is_done(Place& place) noexcept;
  void note_completion(Place& place) noexcept;
  void watch() noexcept;

  ActorContext context_;
  TscScale scale_;
  std::string name_;
  // Gives up its memory in the reverse order, when the kernel has ended.
  PinnedRange segment_;
  HostMemory rings_;
  Stream copies_, kernel_;
  GpuMemory memory_;
  resident::Arguments arguments_{};
  std::uint64_t* submissions_ = nullptr;
  bool running_ = false;
  std::vector<Place> places_;         ///< by slot
  std::vector<std::uint32_t> order_;  ///< ring of slots in the order of submission
  std::uint32_t order_mask_;
  std::uint32_t order_begin_ = 0, order_end_ = 0;
  std::vector<ChainPlace> chains_;
  std::vector<std::uint32_t> stage_chain_;  ///< by stage
  std::uint32_t submitted_ = 0, waiting_ = 0;
  std::uint32_t blocks_ = 0;             ///< of the kernel
  std::uint32_t packets_under_way_ = 0;  ///< of the batches that are waited for
  std::uint64_t last_progress_tsc_ = 0, next_watch_tsc_ = 0, last_heartbeat_ = 0;
};

}  // namespace millrace
