// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "services/functions/match/rules.hpp"
#include "tests/unit/shared/base/packet_oracle.hpp"

/// `match` by comparing every literal at every place. Parses by the oracle of packet_test.

namespace millrace::oracle {

inline unsigned char folded(char byte, bool nocase) {
  const auto value = static_cast<unsigned char>(byte);
  return nocase && value >= 'A' && value <= 'Z' ? static_cast<unsigned char>(value + 32) : value;
}

inline bool contains(const std::string& text, const std::string& literal, bool nocase) {
  for (std::size_t at = 0; at + literal.size() <= text.size(); ++at) {
    std::size_t same = 0;
    while (same < literal.size() &&
           folded(text[at + same], nocase) == folded(literal[same], nocase))
      ++same;
    if (same == literal.size()) return true;
  }
  return false;
}

/// The rules as the image numbers them: drop, class, alert, each in the order given.
inline std::vector<MatchRule> by_strength(const std::vector<MatchRule>& rules) {
  std::vector<MatchRule> sorted;
  for (const MatchAction action : {MatchAction::kDrop, MatchAction::kClass, MatchAction::kAlert}) {
    for (const MatchRule& rule : rules) {
      if (rule.action == action) sorted.push_back(rule);
    }
  }
  return sorted;
}

/// The result word of `frame`; `rules` by strength.
inline std::uint32_t match_word(std::span<const std::byte> frame,
                                const std::vector<MatchRule>& rules) {
  const PacketHeaders headers = parse(frame);
  const bool later = headers.fragment && headers.fragment_offset > 0;
  if (headers.ip_version == 6 && headers.transport_offset == 0 && !later) return UINT32_MAX - 2;
  if (headers.payload_offset == 0) return 0;
  std::string payload;
  for (std::size_t at = headers.payload_offset; at < headers.payload_end; ++at) {
    payload.push_back(static_cast<char>(frame[at]));
  }
  const auto port = [&](std::size_t at) {
    return std::to_integer<unsigned>(frame[at]) * 256 + std::to_integer<unsigned>(frame[at + 1]);
  };
  const bool has_ports =
      headers.transport_offset != 0 && (headers.protocol == 6 || headers.protocol == 17);
  for (std::size_t number = 0; number < rules.size(); ++number) {
    const MatchRule& rule = rules[number];
    if (rule.protocol != 0 && rule.protocol != headers.protocol) continue;
    if (rule.port != 0) {
      if (!has_ports) continue;
      const std::size_t transport = headers.transport_offset;
      if (rule.port != port(transport) && rule.port != port(transport + 2)) continue;
    }
    if (contains(payload, rule.literal, rule.nocase)) return static_cast<std::uint32_t>(number) + 1;
  }
  return 0;
}

}  // namespace millrace::oracle
