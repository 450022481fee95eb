// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/put_front.hpp"

#include <algorithm>
#include <span>

namespace millrace {

bool put_front(const Batch& batch, std::uint16_t packet, const NewFront& front) noexcept {
  const std::int32_t cut = std::int32_t{front.end} - std::int32_t{batch.length[packet]};
  const std::int32_t growth = std::int32_t{front.count} - std::int32_t{front.replaces};
  if (!batch.grow_back(packet, cut) || !batch.grow_front(packet, growth)) return false;
  std::ranges::copy(std::span(front.bytes).first(front.count), batch.bytes(packet).begin());
  return true;
}

}  // namespace millrace
