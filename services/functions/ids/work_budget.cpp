// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/work_budget.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "shared/base/siphash.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

std::uint64_t unit_ns(const WorkBudget::Bound& bound) noexcept {
  return kNsPerSecond / bound.units_a_second;
}

}  // namespace

std::uint64_t WorkBudget::Debt::owed_ns(std::uint64_t now_ns) const noexcept {
  const std::uint64_t owed = until_ns > now_ns ? until_ns - now_ns : 0;
  return owed > kDebtNsMax ? 0 : owed;
}

std::uint32_t WorkBudget::Debt::left(const Bound& bound, std::uint64_t now_ns) const noexcept {
  const std::uint64_t units = (owed_ns(now_ns) + unit_ns(bound) - 1) / unit_ns(bound);
  return bound.units_max -
         static_cast<std::uint32_t>(std::min<std::uint64_t>(units, bound.units_max));
}

void WorkBudget::Debt::add(std::uint32_t units, const Bound& bound, std::uint64_t now_ns) noexcept {
  until_ns = now_ns + std::min(owed_ns(now_ns) + units * unit_ns(bound), kDebtNsMax);
}

WorkBudget::WorkBudget(WorkShare::Clock clock, const std::array<std::uint64_t, 2>& secret)
    : secret_(secret), sources_(kSources), share_(clock) {}

WorkBudget::Debt& WorkBudget::source_of(const Packet& packet) noexcept {
  const auto [first, last] = std::bit_cast<std::array<std::uint64_t, 2>>(packet.source);
  const Ipv6Bytes peer = packet.is_established ? packet.peer : Ipv6Bytes{};
  const auto [peer_first, peer_last] = std::bit_cast<std::array<std::uint64_t, 2>>(peer);
  const std::array<std::uint64_t, 5> words = {first, last, peer_first, peer_last,
                                              packet.is_established ? 1u : 0u};
  return sources_[siphash13(words, secret_) & (kSources - 1)];
}

void WorkBudget::begin_packet(const Packet& packet) noexcept {
  worker_.add(common_ - share_.common_left(), kWorker, packet_.now_ns);
  if (const std::uint32_t taken = own_ - share_.own_left() + share_.overdraft(); taken != 0) {
    Debt& source = source_of(packet_);
    source.add(taken, kSource, packet_.now_ns);
    busy_until_ns_ = std::max(busy_until_ns_, source.until_ns);
  }
  packet_ = packet;
  const std::uint64_t now_ns = packet.now_ns;
  const bool is_quiet = now_ns >= busy_until_ns_;
  const std::uint32_t left = is_quiet ? kSource.units_max : source_of(packet).left(kSource, now_ns);
  common_ = worker_.left(kWorker, now_ns);
  own_ = std::min(WorkShare::kUnitsMax, left);
  share_.begin(own_, common_, packet.is_established);
}

}  // namespace millrace
