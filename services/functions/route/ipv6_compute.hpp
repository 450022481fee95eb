// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "services/functions/frames.hpp"
#include "services/functions/route/route_image.hpp"
#include "shared/layout/batch.hpp"

namespace millrace {

/// The part of route_compute() for IPv6: results[packets[i]] for each bit i set in `which`; the
/// frame lies at frames[i] and has the EtherType of IPv6. `packets`: 1..kFramesMax. All are looked
/// up side by side, a level of the trie after the other; what the next level reads is prefetched.
void compute_ipv6(const RouteTable& table, const Batch& batch,
                  std::span<const std::uint16_t> packets, std::uint64_t which, const Frames& frames,
                  std::span<std::uint32_t> results) noexcept;

}  // namespace millrace
