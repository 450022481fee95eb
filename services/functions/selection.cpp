// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/selection.hpp"

#include <array>
#include <numeric>

#include "shared/base/limits.hpp"

namespace millrace {
namespace {

/// Every packet of the longest batch.
constexpr auto kAll = [] {
  std::array<std::uint16_t, kBatchCapacityMax> all{};
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  return all;
}();

}  // namespace

Selection select_packets(const Batch& batch, std::uint32_t when_class,
                         std::span<std::uint16_t> room, bool all) noexcept {
  if (when_class == 0 && all) return {std::span(kAll).first(batch.count)};
  std::size_t count = 0;
  for (std::uint32_t packet = 0; packet < batch.count; ++packet) {
    const bool wanted = when_class == 0 || (batch.classes[packet] & when_class) != 0;
    room[count] = static_cast<std::uint16_t>(packet);
    count += static_cast<std::size_t>(batch.goes_on(packet) && wanted);
  }
  return {room.first(count)};
}

}  // namespace millrace
