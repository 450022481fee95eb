// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace millrace {

/// Says when no reader of a live table can still see what the table has let go of.
class ReaderGrace {
 public:
  virtual ~ReaderGrace() = default;
  /// What the table let go of until now is gone when passed() is true of this moment.
  virtual std::uint64_t now() = 0;
  /// Every reader has begun a turn after that moment, or has ended.
  virtual bool passed(std::uint64_t moment) = 0;
};

}  // namespace millrace
