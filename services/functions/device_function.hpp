// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "shared/config/plan.hpp"

/// What a function with a GPU version brings, beside `compute` on the device (<name>_gpu.cuh): its
/// table in the memory of the GPU. Nothing here needs CUDA.

namespace millrace {

/// Which code of the resident kernel computes a function. Add a name here and a case in
/// gpu-worker/resident/functions.cuh.
enum class DeviceKind : std::uint32_t { kNone = 0, kRoute, kMatch, kAcl };

/// Packets that a block of a GPU takes at a time at most: a part of a batch.
inline constexpr std::uint32_t kTicketPackets = 32;

/// Stands for a result that the GPU has not written yet; no function has such a word.
inline constexpr std::uint32_t kWordPending = UINT32_MAX - 1;

/// A function that asks for no more of each frame first looks at headers.
inline constexpr std::uint32_t kHeaderBytes = 128;

/// Room for fetched bytes of packets. Above the longest frame with what aligning it costs; 8 frames
/// of 1,500 bytes fit at once, and so do 32 headers.
inline constexpr std::uint32_t kStageBytes = 24576;
inline constexpr std::uint32_t kStageSlack = 16;  ///< readable behind the last fetched byte

/// Memory of one table on one GPU, which gives it back when the table's last batch has left.
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
