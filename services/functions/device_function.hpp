// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "services/functions/reader_grace.hpp"
#include "shared/config/plan.hpp"

/// What a function with a GPU version supplies, beside `compute` on the device (<name>_gpu.cuh):
/// its table in the memory of the GPU. Nothing here needs CUDA.

namespace millrace {

/// Which code of the resident kernel computes a function. Add a name here and a case in
/// gpu-worker/resident/functions.cuh.
enum class DeviceKind : std::uint32_t { kNone = 0, kRoute, kMatch, kAcl };

/// Packets that a block of a GPU takes at a time at most: a part of a batch.
inline constexpr std::uint32_t kTicketPackets = 32;

/// Stands for a result that the GPU has not written yet; no function has such a word.
inline constexpr std::uint32_t kWordPending = UINT32_MAX - 1;

/// A function that reads at most these bytes of each frame first reads headers only.
inline constexpr std::uint32_t kHeaderBytes = 128;

/// Room for fetched bytes of packets. Above the longest frame with what aligning it costs; 8 frames
/// of 1,500 bytes fit at once, and so do 32 headers.
inline constexpr std::uint32_t kStageBytes = 24576;
inline constexpr std::uint32_t kStageSlack = 16;  ///< readable behind the last fetched byte

class DeviceMemory;

/// Counts of what was copied to follow live tables.
struct DeviceCopies {
  std::uint64_t words = 0;   ///< of 4 bytes, that had changed
  std::uint64_t tables = 0;  ///< whole ones

  DeviceCopies& operator+=(const DeviceCopies& more) noexcept {
    words += more.words;
    tables += more.tables;
    return *this;
  }
};

/// Calls follow() with each; an exception is rethrown after the others have had their turn.
template <typename Range, typename Follow>
DeviceCopies follow_each(const Range& range, Follow follow) {
  DeviceCopies copies;
  std::exception_ptr failed;
  for (const auto& one : range) {
    try {
      copies += follow(one);
    } catch (...) {
      failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
  return copies;
}

/// Keeps a table in the memory of a device like its image, which is live. Control thread.
class DeviceFollower {
 public:
  virtual ~DeviceFollower() = default;
  /// Copies what has changed, while batches go on. `grace`: of the batches at the device. Throws
  /// Error: then the next call begins with a copy of the whole table.
  virtual DeviceCopies follow(DeviceMemory& memory, ReaderGrace& grace) = 0;
};

/// Memory of the tables of one chain on one GPU, which gives it back when their last batch has
/// left. Control thread.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  /// Copies `bytes` to the device; the address there, aligned to 256 bytes. Throws Error when there
  /// is no room. 0 bytes: null.
  virtual const std::byte* copy(std::span<const std::byte> bytes) = 0;
  template <typename T>
  const T* copy_of(std::span<const T> values) {
    return reinterpret_cast<const T*>(copy(std::as_bytes(values)));
  }
  /// Writes into a piece that copy() gave; done after settle(). `bytes` may be reused at once. A
  /// batch reads each aligned word of 4 or 8 bytes either old or new. Throws Error.
  virtual void write(const std::byte* at, std::span<const std::byte> bytes) = 0;
  /// Waits until all bytes written are there, before any that are written later. Throws Error.
  virtual void settle() = 0;
  /// No batch will read the piece at `at` that copy() gave.
  virtual void give_back(const std::byte* at) noexcept = 0;

  /// Adds a follower, which follow() calls for as long as the memory is there.
  void keep(std::unique_ptr<DeviceFollower> follower) { followers_.push_back(std::move(follower)); }
  bool has_followers() const noexcept { return !followers_.empty(); }
  /// Calls all followers, as follow_each().
  DeviceCopies follow(ReaderGrace& grace) {
    return follow_each(followers_,
                       [&](const auto& follower) { return follower->follow(*this, grace); });
  }

 private:
  std::vector<std::unique_ptr<DeviceFollower>> followers_;
};

/// A view of a table in the memory of the GPU, as the function's own code there knows it.
struct DeviceTable {
  DeviceKind kind = DeviceKind::kNone;
  std::uint32_t frame_bytes = 0;   ///< of each packet that compute reads first; kWholePacket: all
  std::uint32_t needs_frames = 0;  ///< 1: with these settings keys of flows do not suffice
  alignas(16) std::byte view[352] = {};
};

template <typename View>
DeviceTable device_table(DeviceKind kind, std::uint32_t frame_bytes, const View& view) {
  static_assert(std::is_trivially_copyable_v<View> && sizeof(View) <= sizeof(DeviceTable::view));
  DeviceTable table{.kind = kind, .frame_bytes = frame_bytes};
  std::memcpy(table.view, &view, sizeof view);
  return table;
}

/// Copies the function's table (its image, its settings) to a GPU. Throws Error that says why it
/// cannot be.
using UploadTable = DeviceTable (*)(const PlanFunction&, DeviceMemory&);

}  // namespace millrace
