// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace millrace {

/// What one of `lanes` lanes has of `all` that a function has room for: rounded up, so that no
/// less fits in all of them together; 1 to `most`. No lanes count as one.
constexpr std::uint32_t share_of_lane(std::uint64_t all, std::uint32_t lanes,
                                      std::uint32_t most = UINT32_MAX) noexcept {
  const std::uint64_t count = std::max(lanes, 1u);
  const std::uint64_t share = all / count + (all % count != 0 ? 1 : 0);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(share, 1, most));
}

}  // namespace millrace
