// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// Which version of a byte a receiver of TCP keeps, when two segments bring it while bytes in front
/// of it are missing: RFC 9293 3.10.7.4 leaves it open, and systems differ (J. Novak and
/// S. Sturges, Target-Based TCP Stream Reassembly, 2007). What a receiver has in order it keeps.

namespace millrace {

enum class OverlapPolicy : std::uint8_t {
  kNone,      ///< not known: a segment with another version is not read
  kFirst,     ///< the version that came first
  kLast,      ///< the one that came last
  kBsd,       ///< that of the segment that begins earlier; of two that begin alike, the first one
  kLinux,     ///< likewise; of two that begin alike, the longer one
  kOldLinux,  ///< likewise; where they end alike too, the last one
  kSolaris,   ///< that of the segment that ends later; where they end alike, that which begins
              ///< earlier, and of two that begin alike too the last one
};

/// How far `to` is behind `from`; negative: in front of it (RFC 9293 3.4).
constexpr std::int32_t sequence_distance(std::uint32_t from, std::uint32_t to) noexcept {
  return static_cast<std::int32_t>(to - from);
}

/// Bytes of a segment, by sequence numbers: [begin, end).
struct SegmentExtent {
  std::uint32_t begin, end;
};

/// Of bytes that both have: the one that comes counts, and not the one that waits. `policy` is not
/// kNone.
bool counts_instead(OverlapPolicy policy, const SegmentExtent& waits,
                    const SegmentExtent& comes) noexcept;

/// As Suricata's `host-os-policy` names systems: bsd, linux, vista, ...; and first, last.
std::span<const std::string_view> overlap_policy_names();
/// Nothing: `name` is none of them.
std::optional<OverlapPolicy> overlap_policy(std::string_view name);

}  // namespace millrace
