// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/stream/stream_table.hpp"

namespace millrace {

/// The bytes of a direction that have been read and are kept, piece by piece, up to the last one
/// that has been read. A cheap view, good until the table changes.
class KeptBytes {
 public:
  /// `from`: place in the stream, from its begin on.
  KeptBytes(const StreamTable& table, const Stream& stream, std::uint8_t direction,
            std::uint64_t from) noexcept;

  /// Place of the first one that is kept, with all behind it: Stream::position() if none is.
  static std::uint64_t begin(const StreamTable& table, const Stream& stream,
                             std::uint8_t direction) noexcept;
  /// Everything from `from` on is there.
  bool is_whole() const noexcept { return is_whole_; }
  /// Empty: that was all.
  std::span<const std::byte> next() noexcept;

 private:
  const StreamTable& table_;
  std::uint32_t block_ = 0;
  std::uint32_t at_ = 0, end_ = 0;  ///< sequence numbers
  bool is_whole_ = false;
};

}  // namespace millrace
