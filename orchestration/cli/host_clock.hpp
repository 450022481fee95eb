// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "shared/base/clock.hpp"

namespace millrace {

/// What the host's clock says of moments that actors noted by the time stamp counter. It follows a
/// clock that is put right while one looks: what is shown bears the time of the clock as it is
/// then. One thread.
class HostClock {
 public:
  /// `wall`: the system clock, nanoseconds since 1970 (another one in tests).
  explicit HostClock(TscScale scale, std::function<std::uint64_t()> wall = system_clock_ns);
  /// Looks whether the clock was put right; often enough every 50 ms. Smaller differences than 20
  /// ms stay, so that times of neighbours can be compared.
  void look();
  /// System clock at a reading of the counter.
  std::uint64_t to_ns(std::uint64_t tsc) const noexcept;

 private:
  void anchor();

  TscScale scale_;
  std::function<std::uint64_t()> wall_;
  std::uint64_t tsc_ = 0;      ///< this tick was ...
  std::uint64_t wall_ns_ = 0;  ///< ... this system time
  std::uint64_t looked_tsc_ = 0;
};

}  // namespace millrace
