// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shared/base/limits.hpp"
#include "shared/layout/metrics_kept.hpp"

/// High-water marks of the last ten seconds: a reader that looks once a second sees the burst that
/// came in between. Time is cut into windows of 2^32 ticks (1.1 s at 4 GHz, 2.1 s at 2 GHz), each
/// with a cell; the cells go round. One writer.

namespace millrace {

inline constexpr std::uint32_t kPeakCells = 16;
inline constexpr std::uint32_t kPeakWindowShift = 32;  ///< ticks of a window: 2 to the power of it
inline constexpr std::uint32_t kPeakValueBits = 40;    ///< of a cell; the rest names its window
inline constexpr std::uint64_t kPeakValueMax = (std::uint64_t{1} << kPeakValueBits) - 1;
inline constexpr std::uint64_t kPeakSeconds = 10;

struct alignas(kCacheLine) Peak {
  std::atomic<std::uint64_t> cell[kPeakCells];  ///< window << 40 | highest value in it
};
static_assert(sizeof(Peak) == 128);

/// The writer's side, which remembers what stands in the present cell.
class PeakMark {
 public:
  PeakMark() = default;
  explicit PeakMark(Peak& to) : to_(&to) {}
  /// `tsc`: now, or a little before.
  void note(std::uint64_t tsc, std::uint64_t value) noexcept {
    if (!metrics_kept()) return;
    const std::uint64_t window = tsc >> kPeakWindowShift;
    if (window == window_ && value <= value_) return;
    set(window, std::min(value, kPeakValueMax));
  }

 private:
  static constexpr std::uint64_t kTagMask = (std::uint64_t{1} << (64 - kPeakValueBits)) - 1;

  void set(std::uint64_t window, std::uint64_t value) noexcept {
    std::atomic<std::uint64_t>& cell = to_->cell[window % kPeakCells];
    if (window != window_) {  // an earlier life may have written of it
      const std::uint64_t old = cell.load(std::memory_order_relaxed);
      const bool same = old >> kPeakValueBits == (window & kTagMask);
      if (same) value = std::max(value, old & kPeakValueMax);
      window_ = window;
    }
    value_ = value;
    cell.store((window & kTagMask) << kPeakValueBits | value, std::memory_order_relaxed);
  }

  Peak* to_ = nullptr;
  std::uint64_t window_ = UINT64_MAX;
  std::uint64_t value_ = 0;
};

/// The reader's: highest value of the last ten seconds, up to a window more; 0: none.
inline std::uint64_t peak_of(const Peak& peak, std::uint64_t now_tsc,
                             std::uint64_t tsc_hz) noexcept {
  constexpr std::uint64_t kTagMask = (std::uint64_t{1} << (64 - kPeakValueBits)) - 1;
  const std::uint64_t now = now_tsc >> kPeakWindowShift;
  const std::uint64_t back =
      std::min<std::uint64_t>(((kPeakSeconds * tsc_hz) >> kPeakWindowShift) + 1, kPeakCells - 1);
  std::uint64_t most = 0;
  for (std::uint64_t window = now > back ? now - back : 0; window <= now; ++window) {
    const std::uint64_t cell = peak.cell[window % kPeakCells].load(std::memory_order_relaxed);
    if (cell >> kPeakValueBits == (window & kTagMask)) most = std::max(most, cell & kPeakValueMax);
  }
  return most;
}

}  // namespace millrace
