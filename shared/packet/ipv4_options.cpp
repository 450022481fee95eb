// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ipv4_options.hpp"

#include <algorithm>

#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ipv4_option_walk.hpp"
#include "shared/packet/ipv4_wire.hpp"

namespace millrace {
namespace {

namespace wire = ipv4_wire;
using Result = Ipv4OptionsResult;
using Verdict = Ipv4OptionsVerdict;

// Within an option. A pointer counts from 1: it names the first free byte.
constexpr std::size_t kPointerAt = 2, kFlagsAt = 3;
constexpr std::uint8_t kTimeOnly = 0, kTimeAndAddress = 1, kPrespecified = 3;
constexpr std::uint8_t kOverflowMax = 15;
constexpr std::size_t kRouterAlertBytes = 4;  // RFC 2113 2.1

std::uint8_t flag_of(std::span<const std::byte> timestamp) noexcept {
  return wire::u8(timestamp, kFlagsAt) & 0xf;
}

/// Verdicts of a single option have their pointer within the option.
Verdict problem_at(std::size_t at) noexcept {
  return {Result::kProblem, static_cast<std::uint8_t>(at)};
}

Verdict check_source_route(std::span<const std::byte> option) noexcept {
  if (option.size() < 3) return problem_at(1);
  if (wire::u8(option, kPointerAt) < 4) return problem_at(kPointerAt);
  return {Result::kSourceRoute, 0};
}

Verdict check_record_route(std::span<const std::byte> option) noexcept {
  if (option.size() < 3) return problem_at(1);
  const std::size_t pointer = wire::u8(option, kPointerAt);
  if (pointer < 4) return problem_at(kPointerAt);
  if (pointer > option.size()) return {};
  return pointer + 3 > option.size() ? problem_at(kPointerAt) : Verdict{Result::kChanged, 0};
}

Verdict check_timestamp(std::span<const std::byte> option) noexcept {
  if (option.size() < 4) return problem_at(1);
  const std::size_t pointer = wire::u8(option, kPointerAt);
  const std::uint8_t flag = flag_of(option);
  if (pointer < 5) return problem_at(kPointerAt);
  if (pointer > option.size()) {
    if (flag == kPrespecified) return {};
    if (wire::u8(option, kFlagsAt) >> 4 == kOverflowMax) return problem_at(kFlagsAt);
    return {Result::kChanged, 0};
  }
  const bool with_address = flag == kTimeAndAddress || flag == kPrespecified;
  if (pointer + (with_address ? 7 : 3) > option.size()) return problem_at(kPointerAt);
  return {with_address || flag == kTimeOnly ? Result::kChanged : Result::kNothing, 0};
}

/// Which options came already: a second of a kind is malformed.
struct Seen {
  bool source_route = false, record_route = false, timestamp = false;
};

Verdict check_option(std::span<const std::byte> option, Seen& seen) noexcept {
  Verdict verdict;
  switch (wire::u8(option, 0)) {
    case ipv4_options::kLooseSourceRoute:
    case ipv4_options::kStrictSourceRoute:
      verdict = check_source_route(option);
      if (verdict.result != Result::kProblem && seen.source_route) return problem_at(0);
      seen.source_route = true;
      return verdict;
    case ipv4_options::kRecordRoute:
      if (seen.record_route) return problem_at(0);
      seen.record_route = true;
      return check_record_route(option);
    case ipv4_options::kTimestamp:
      if (seen.timestamp) return problem_at(0);
      seen.timestamp = true;
      return check_timestamp(option);
    case ipv4_options::kRouterAlert:
      return option.size() < kRouterAlertBytes ? problem_at(1) : verdict;
    default:
      return verdict;
  }
}

/// The fillers below take options that check_option() called kChanged, or that have no room.
bool fill_record_route(std::span<std::byte> option, std::uint32_t own_address) noexcept {
  const std::uint8_t pointer = wire::u8(option, kPointerAt);
  if (pointer > option.size()) return false;
  wire::put32(option, pointer - 1U, own_address);
  wire::put8(option, kPointerAt, static_cast<std::uint8_t>(pointer + 4));
  return true;
}

bool fill_timestamp(std::span<std::byte> option, std::uint32_t own_address,
                    std::uint32_t time_ms) noexcept {
  const std::uint8_t pointer = wire::u8(option, kPointerAt);
  const std::uint8_t flag = flag_of(option);
  if (pointer > option.size()) {
    if (flag == kPrespecified) return false;
    wire::put8(option, kFlagsAt, static_cast<std::uint8_t>(wire::u8(option, kFlagsAt) + 0x10));
    return true;
  }
  std::size_t at = pointer - 1U;
  if (flag == kPrespecified && wire::u32(option, at) != own_address) return false;
  if (flag == kTimeAndAddress) wire::put32(option, at, own_address);
  if (flag == kTimeAndAddress || flag == kPrespecified) {
    at += 4;
  } else if (flag != kTimeOnly) {
    return false;
  }
  wire::put32(option, at, time_ms);
  wire::put8(option, kPointerAt, static_cast<std::uint8_t>(at + 5));
  return true;
}

}  // namespace

Verdict check_ipv4_options(std::span<const std::byte> header) noexcept {
  header = header.first(std::min(header.size(), wire::kHeaderBytesMax));
  Verdict whole;
  Seen seen;
  ipv4_options::Walk walk(header);
  while (walk.next()) {
    if (walk.malformed()) return problem_at(walk.at());
    Verdict verdict = check_option(header.subspan(walk.at(), walk.bytes()), seen);
    verdict.pointer = static_cast<std::uint8_t>(verdict.pointer + walk.at());
    if (verdict.result == Result::kProblem) return verdict;
    if (verdict.result == Result::kSourceRoute) whole = verdict;
    if (verdict.result == Result::kChanged && whole.result == Result::kNothing) {
      whole.result = Result::kChanged;
    }
  }
  return whole;
}

Verdict apply_ipv4_options(std::span<std::byte> header, std::uint32_t own_address,
                           std::uint32_t ms_since_midnight_ut) noexcept {
  header = header.first(std::min(header.size(), wire::kHeaderBytesMax));
  const Verdict verdict = check_ipv4_options(header);
  if (verdict.result != Result::kChanged) return verdict;
  const std::span<std::byte> options = header.subspan(wire::kHeaderBytesMin);
  const std::uint16_t before = internet_sum(options);
  bool changed = false;
  ipv4_options::Walk walk(header);
  while (walk.next()) {
    const std::span<std::byte> option = header.subspan(walk.at(), walk.bytes());
    const std::uint8_t type = wire::u8(option, 0);
    if (type == ipv4_options::kRecordRoute) changed |= fill_record_route(option, own_address);
    if (type == ipv4_options::kTimestamp) {
      changed |= fill_timestamp(option, own_address, ms_since_midnight_ut);
    }
  }
  if (!changed) return {};
  wire::put16(
      header, wire::kChecksumAt,
      updated_checksum(wire::u16(header, wire::kChecksumAt), before, internet_sum(options)));
  return verdict;
}

}  // namespace millrace
