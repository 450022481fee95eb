// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/packet/ipv4_wire.hpp"

/// The walk from option to option of an IPv4 header (RFC 791 3.1), for the sources of this folder.

namespace millrace::ipv4_options {

// Types as they stand in the header: copied flag, class and number.
inline constexpr std::uint8_t kEnd = 0, kNoOperation = 1, kRecordRoute = 7, kTimestamp = 68,
                              kLooseSourceRoute = 131, kStrictSourceRoute = 137, kRouterAlert = 148;
/// The option stands in every fragment, not in the first alone.
inline constexpr std::uint8_t kCopied = 0x80;

/// Steps over the options of a header that have a length: not over no-operation, and not beyond an
/// end of options. Borrows the header, which it reads again at each step.
class Walk {
 public:
  /// `header`: exactly the header; nothing behind it is read.
  explicit Walk(std::span<const std::byte> header) noexcept : header_(header) {}

  /// False: there is no further option.
  bool next() noexcept {
    at_ += bytes_;
    bytes_ = 0;
    if (malformed_) return false;
    while (at_ < header_.size() && ipv4_wire::u8(header_, at_) == kNoOperation) ++at_;
    if (at_ >= header_.size() || ipv4_wire::u8(header_, at_) == kEnd) return false;
    const std::size_t room = header_.size() - at_;
    const std::size_t length = room < 2 ? 0 : ipv4_wire::u8(header_, at_ + 1);
    malformed_ = length < 2 || length > room;
    if (!malformed_) bytes_ = length;
    return true;
  }

  /// The option's length lies or is not there. It is the last one.
  bool malformed() const noexcept { return malformed_; }
  /// Where the option begins in the header.
  std::size_t at() const noexcept { return at_; }
  /// With type and length, at least 2; 0 where malformed.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::span<const std::byte> header_;
  std::size_t at_ = ipv4_wire::kHeaderBytesMin;
  std::size_t bytes_ = 0;
  bool malformed_ = false;
};

}  // namespace millrace::ipv4_options
