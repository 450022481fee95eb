// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/tick.hpp"

#include <algorithm>

#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

constexpr std::size_t kNumbersAt = kTickMagicAt + sizeof kTickMagic;
static_assert(sizeof(Tick) == 24 && kNumbersAt + sizeof(Tick) <= kTickFrameBytes);

}  // namespace

Tick read_tick(std::span<const std::byte> frame) noexcept {
  Tick tick;
  std::memcpy(&tick, frame.data() + kNumbersAt, sizeof tick);
  return tick;
}

void write_tick(std::span<std::byte> frame, MacAddress mac, const Tick& tick) noexcept {
  std::ranges::fill(frame.first(kTickFrameBytes), std::byte{0});
  wire_bytes::put_array(frame, 0, mac);
  wire_bytes::put_array(frame, mac.size(), mac);
  wire_bytes::put16(frame, 2 * mac.size(), kTickType);
  std::memcpy(frame.data() + kTickMagicAt, &kTickMagic, sizeof kTickMagic);
  std::memcpy(frame.data() + kNumbersAt, &tick, sizeof tick);
}

}  // namespace millrace
