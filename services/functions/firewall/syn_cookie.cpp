// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/syn_cookie.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>

#include "shared/base/siphash.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kNsOfMinute = 64'000'000'000;  // as Linux counts them
constexpr std::uint64_t kNsOfMs = 1'000'000;
constexpr std::uint32_t kHashBits = 24;
constexpr std::uint32_t kHashMask = (1u << kHashBits) - 1;
constexpr std::uint32_t kOfNumber = UINT32_MAX;  // no minute: what hides the sum

/// Ascending; the first one also where a SYN has no option (RFC 9293 3.7.1).
constexpr std::array<std::uint16_t, 8> kMss = {536, 1220, 1300, 1380, 1420, 1440, 1460, 8940};

constexpr std::uint32_t kOptionBits = 6, kNoScale = 15, kMaySack = 16;

std::uint32_t minute_of(std::uint64_t now_ns) noexcept {
  return static_cast<std::uint32_t>(now_ns / kNsOfMinute) & 0x7fff'ffff;
}

std::uint32_t index_of(std::uint16_t mss) noexcept {
  const auto* const above = std::ranges::upper_bound(kMss, mss);
  return above == kMss.begin() ? 0 : static_cast<std::uint32_t>(above - kMss.begin()) - 1;
}

struct Hashed {
  FlowTuple tuple;
  std::uint32_t minute;
};
static_assert(std::has_unique_object_representations_v<Hashed>);

}  // namespace

std::uint32_t SynCookies::hash(const FlowTuple& tuple, std::uint32_t minute) const noexcept {
  const Hashed of{tuple, minute};
  return static_cast<std::uint32_t>(siphash13(std::as_bytes(std::span(&of, 1)), secret_));
}

std::uint32_t SynCookies::number(const FlowTuple& tuple, std::uint32_t sequence, std::uint16_t mss,
                                 std::uint64_t now_ns) const noexcept {
  const std::uint32_t minute = minute_of(now_ns);
  return hash(tuple, kOfNumber) + sequence + (minute << kHashBits) +
         ((hash(tuple, minute) + index_of(mss)) & kHashMask);
}

std::optional<std::uint16_t> SynCookies::mss_of(const FlowTuple& tuple, std::uint32_t sequence,
                                                std::uint32_t number,
                                                std::uint64_t now_ns) const noexcept {
  const std::uint32_t bare = number - hash(tuple, kOfNumber) - sequence;
  const std::uint32_t minute = minute_of(now_ns);
  const std::uint32_t age = (minute - (bare >> kHashBits)) & (UINT32_MAX >> kHashBits);
  if (age >= kAgeMax || age > minute) return std::nullopt;
  const std::uint32_t index = (bare - hash(tuple, minute - age)) & kHashMask;
  if (index >= kMss.size()) return std::nullopt;
  return kMss[index];
}

std::uint32_t syn_cookie_timestamp(const TcpOptions& options, std::uint64_t now_ns) noexcept {
  const auto ms = static_cast<std::uint32_t>(now_ns / kNsOfMs);
  const std::uint32_t scale = options.scale == 0 ? kNoScale : options.scale - 1u;
  return (ms >> kOptionBits << kOptionBits) | scale | (options.may_sack ? kMaySack : 0);
}

void read_syn_cookie_timestamp(std::uint32_t echo, TcpOptions& options) noexcept {
  const std::uint32_t scale = echo & kNoScale;
  options.scale = scale == kNoScale ? 0 : static_cast<std::uint8_t>(scale + 1);
  options.may_sack = (echo & kMaySack) != 0;
}

}  // namespace millrace
