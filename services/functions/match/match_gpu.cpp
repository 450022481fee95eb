// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/match_gpu.hpp"

#include <atomic>

#include "services/functions/function.hpp"
#include "services/functions/match/image.hpp"

namespace millrace {

DeviceTable upload_match(const PlanFunction& function, DeviceMemory& memory) {
  static std::atomic<std::uint32_t> serial = 0;
  const MatchImage image(function.image);
  const LiteralIndex& here = image.index();
  const LiteralCounts& counts = here.counts;
  const auto copied = [&]<typename T>(const T* part, std::uint64_t count) {
    return memory.copy_of(std::span<const T>(part, count));
  };
  const std::uint64_t pairs = counts.short_entries == 0 ? 0 : std::uint64_t{kPairCount} + 1;
  const MatchGpuTable table{
      .index = {.counts = counts,
                .filter = copied(here.filter, kFilterWords),
                .buckets = copied(here.buckets, (std::uint64_t{1} << counts.bucket_bits) + 1),
                .entries = copied(here.entries, counts.entries),
                .pairs = copied(here.pairs, pairs),
                .short_entries = copied(here.short_entries, counts.short_entries),
                .pool = copied(here.pool, counts.pool_words)},
      .serial = ++serial};
  return device_table(DeviceKind::kMatch, kWholePacket, table);
}

}  // namespace millrace
