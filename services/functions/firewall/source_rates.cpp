// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/source_rates.hpp"

#include <span>

#include "shared/base/random_secret.hpp"
#include "shared/base/siphash.hpp"

namespace millrace {

SourceRates::SourceRates(std::uint32_t sources)
    : secret_(random_secret()),
      buckets_(sources == 0 ? 0 : 2 * std::size_t{sources} / kPlaces + 1) {}

SourceRates::Taken SourceRates::take(const Source& source, const AclRule& rule,
                                     std::uint64_t now_ns) noexcept {
  static_assert(sizeof(Source) == 24);
  if (buckets_.empty()) return Taken::kNoRoom;
  const std::uint64_t hash = siphash13(std::as_bytes(std::span(&source, 1)), secret_);
  Place* free = nullptr;
  std::size_t most_free = 0;
  for (const std::uint64_t half : {hash & UINT32_MAX, hash >> 32}) {
    Place* free_here = nullptr;
    std::size_t count = 0;
    for (Place& place : buckets_[half * buckets_.size() >> 32]) {
      if (place.source == source) {
        return place.limit.take(rule, now_ns) ? Taken::kBelow : Taken::kAbove;
      }
      if (!place.limit.is_full(now_ns)) continue;
      free_here = &place;
      ++count;
    }
    if (count <= most_free) continue;
    most_free = count;
    free = free_here;
  }
  if (free == nullptr) return Taken::kNoRoom;
  *free = {.source = source, .limit = {}};
  return free->limit.take(rule, now_ns) ? Taken::kBelow : Taken::kAbove;
}

}  // namespace millrace
