// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// What the tests of one buffer look at, and how one of them ends.

namespace millrace {

/// Places count from the buffer's first byte, also where that one is gone.
struct TestText {
  std::span<const std::byte> bytes;
  std::int64_t begin = 0;   ///< place of the first of `bytes`
  bool is_complete = true;  ///< nothing will follow
  /// The end of `bytes` counts as the buffer's: for tests about its end, and for what it has not.
  bool ends_here = true;

  std::int64_t end() const noexcept { return begin + static_cast<std::int64_t>(bytes.size()); }
  /// Place in `bytes` of a place that is not in front of them.
  std::size_t index(std::int64_t place) const noexcept {
    return static_cast<std::size_t>(place - begin);
  }
};

enum class Passed : std::uint8_t {
  kNo,     ///< whatever follows
  kLater,  ///< not by these bytes; by those that follow it may
  kYes,
};

/// The end of a test that has one way to pass at most.
struct TestEnd {
  Passed passed = Passed::kNo;
  std::int64_t cursor = 0;    ///< from where a relative test goes on
  std::int64_t furthest = 0;  ///< behind the last byte that it has needed
};

}  // namespace millrace
