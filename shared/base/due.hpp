// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace millrace {

/// Calls that are due at times of their own.
class Due {
 public:
  explicit Due(std::uint64_t pause_ns) : pause_ns_(pause_ns) {}
  bool at(std::uint64_t now_ns) {
    if (now_ns < next_ns_) return false;
    next_ns_ = now_ns + pause_ns_;
    return true;
  }

 private:
  std::uint64_t pause_ns_, next_ns_ = 0;
};

}  // namespace millrace
