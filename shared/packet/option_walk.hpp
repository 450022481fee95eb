// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/packet/wire_bytes.hpp"

namespace millrace {

/// Steps over the options of a header of IPv4 (RFC 791 3.1) or TCP (RFC 9293 3.1) that have a
/// length: not over no-operation, and not beyond an end of options. Both headers have their options
/// behind 20 bytes, and the same two options of one byte. Borrows the header, which it reads again
/// at each step.
class OptionWalk {
 public:
  static constexpr std::size_t kOptionsAt = 20;
  static constexpr std::uint8_t kEnd = 0, kNoOperation = 1;

  /// `header`: exactly the header; nothing behind it is read.
  explicit OptionWalk(std::span<const std::byte> header) noexcept : header_(header) {}

  /// False: there is no further option.
  bool next() noexcept {
    at_ += bytes_;
    bytes_ = 0;
    if (malformed_) return false;
    while (at_ < header_.size() && wire_bytes::u8(header_, at_) == kNoOperation) ++at_;
    if (at_ >= header_.size() || wire_bytes::u8(header_, at_) == kEnd) return false;
    const std::size_t room = header_.size() - at_;
    const std::size_t length = room < 2 ? 0 : wire_bytes::u8(header_, at_ + 1);
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
  std::size_t at_ = kOptionsAt;
  std::size_t bytes_ = 0;
  bool malformed_ = false;
};

}  // namespace millrace
