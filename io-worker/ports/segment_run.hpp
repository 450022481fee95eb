// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "io-worker/ports/port.hpp"
#include "io-worker/ports/super_frame.hpp"

namespace millrace {

/// Successive packets of one TCP connection that one super-frame can stand for: cut by SuperFrame,
/// or by the kernel, it gives these very packets again. So their checksums are right, IP
/// identifications and sequence numbers follow each other, all have as much payload as the first
/// but the last, which may have less, and nothing else in their headers differs.
class SegmentRun {
 public:
  /// Looks at the first of `packets`, and at those behind it. Returns how many belong together: 1
  /// when the first one stands alone, and 0 of none. With more, the following is valid.
  std::uint32_t find(std::span<const TxPacket> packets) noexcept;

  const Offload& offload() const noexcept { return offload_; }
  /// Of the super-frame; the payloads of all packets follow, each what is behind as many bytes.
  std::span<const std::byte> head() const noexcept { return {head_.data(), head_bytes_}; }

 private:
  static constexpr std::size_t kHeadBytesMax = 14 + 60 + 60;

  bool begin(std::span<const std::byte> first) noexcept;
  bool follows(std::span<const std::byte> packet) const noexcept;
  bool is_right(std::span<const std::byte> packet) const noexcept;
  void finish(std::span<const std::byte> last) noexcept;

  std::array<std::byte, kHeadBytesMax> head_;
  std::size_t transport_ = 0, head_bytes_ = 0, payload_bytes_ = 0;
  bool ipv6_ = false;
  std::uint32_t count_ = 0, bytes_ = 0;  ///< bytes: of all payloads
  Offload offload_;
};

}  // namespace millrace
