// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace millrace {

/// Limits how many packets a worker makes up by itself (RFC 1812 4.3.2.8, RFC 4443 2.4 (f)). One
/// thread.
class TokenBucket {
 public:
  /// `per_second`: 0: no limit. `burst`: as many at once after a pause.
  TokenBucket(std::uint32_t per_second, std::uint32_t burst)
      : per_second_(per_second), burst_(burst), tokens_(burst) {}

  /// True: one more may go. `now_ns`: any clock that does not go back.
  bool take(std::uint64_t now_ns) noexcept {
    if (per_second_ == 0) return true;
    const std::uint64_t fresh = (now_ns - since_ns_) * per_second_ / 1'000'000'000;
    if (fresh != 0) {
      tokens_ = std::min<std::uint64_t>(burst_, tokens_ + fresh);
      since_ns_ = tokens_ == burst_ ? now_ns : since_ns_ + fresh * 1'000'000'000 / per_second_;
    }
    if (tokens_ == 0) return false;
    --tokens_;
    return true;
  }

 private:
  std::uint64_t per_second_, burst_, tokens_;
  std::uint64_t since_ns_ = 0;
};

}  // namespace millrace
