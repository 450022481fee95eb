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
#include "gpu-worker/resident/batch_grace.hpp"
#include "gpu-worker/resident/chain_places.hpp"
#include "shared/actor/context.hpp"
#include "shared/base/clock.hpp"

namespace millrace {

/// A GPU whose resident kernel takes batches from a ring in pinned memory and reads packets in
/// place. A failure while it runs (a fault of the kernel, a ticket that never ends) is written to
/// standard error and ends the process: the stand-in group does the batches again, and a new
/// process starts beside what is left of this one.
class ResidentDevice : public Device {
 public:
  /// GPU number `ordinal`; tables of all stages of the actor's group. Throws Error that says what
  /// is missing: no driver, no such GPU, no memory, a function without a GPU version.
  ResidentDevice(const ActorContext& context, int ordinal);
  /// Stops the kernel. Batches in flight are finished, and forgotten.
  ~ResidentDevice() override;
  ResidentDevice(const ResidentDevice&) = delete;
  ResidentDevice& operator=(const ResidentDevice&) = delete;

  const char* name() const noexcept override { return name_.c_str(); }
  bool submit(const DeviceBatch& batch) noexcept override;
  std::uint32_t poll(std::span<DeviceBatch> out) noexcept override;
  std::uint32_t in_flight() const noexcept override { return waiting_; }

  /// Loads tables from the images of the plan's functions, for stages with a new edition. Each
  /// batch meets one version as a whole. Throws Error also when too many versions are still in use.
  void load_tables(const Plan& plan) override;
  void use_tables() noexcept override { chains_.take_loaded(); }
  void free_tables() noexcept override { chains_.free_unused(); }
  bool follow_tables() noexcept override;
  /// Counts of all that follow_tables() has copied. Control thread.
  const DeviceCopies& followed() const noexcept { return followed_; }

 private:
  struct Place {
    DeviceBatch batch;
    std::uint32_t chain = 0;
    std::uint32_t packets = 0;
    std::uint32_t member = 0, word = 0;  ///< of its results, the first that has not come
    bool used = false;
  };
  void lay_out();
  resident::Chain make_chain(std::uint8_t stage, const Plan& plan, GpuMemory& tables) const;
  void load_stage(std::uint8_t stage, const Plan& plan);
  void note_copies(const DeviceCopies& more, std::uint64_t now);
  void push(const resident::Submission& submission) noexcept;
  std::span<std::uint32_t> results(const Place& place, std::uint32_t member) const noexcept;
  void expect_results(const Place& place) noexcept;
  bool is_done(Place& place) noexcept;
  void note_completion(Place& place) noexcept;
  void watch() noexcept;

  ActorContext context_;
  TscScale scale_;
  int ordinal_;
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
  ChainPlaces chains_;
  BatchGrace grace_;
  // The control thread's.
  std::uint64_t next_follow_tsc_ = 0;
  DeviceCopies followed_;
  std::uint64_t told_copies_ = 0, next_told_tsc_ = 0;  ///< whole tables, by the log
  std::uint32_t submitted_ = 0, waiting_ = 0;
  std::uint32_t blocks_ = 0;             ///< of the kernel
  std::uint32_t packets_under_way_ = 0;  ///< of the batches that are waited for
  // What watch() saw last, and since when.
  std::uint32_t oldest_ = 0;  ///< batch, as in `order_`
  std::uint64_t oldest_since_tsc_ = 0;
  std::uint64_t heartbeat_ = 0, heartbeat_since_tsc_ = 0;
  std::uint64_t next_watch_tsc_ = 0;
};

}  // namespace millrace
