// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/scanner.hpp"

#include <cstring>

#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp, ip_protocol::kUdp;

/// What a rule may ask of the packet beside its literal, and the strongest rule found so far.
struct Scan {
  const MatchRuleEntry* rules;
  std::uint32_t strongest;
  std::uint32_t carry;  ///< a literal that ends there does not count
  std::uint8_t protocol;
  std::uint16_t ports[2];  ///< 0: has none
};

bool applies(const MatchRuleEntry& rule, const Scan& scan) noexcept {
  const bool protocol = rule.protocol == 0 || rule.protocol == scan.protocol;
  const bool port = rule.port == 0 || rule.port == scan.ports[0] || rule.port == scan.ports[1];
  return protocol && port;
}

/// Called by Vectorscan for each literal found. Not 0 ends the scan: nothing is stronger than
/// rule 0.
int on_literal(unsigned rule, unsigned long long, unsigned long long end, unsigned, void* context) {
  Scan& scan = *static_cast<Scan*>(context);
  if (end <= scan.carry) return 0;
  if (rule < scan.strongest && applies(scan.rules[rule], scan)) scan.strongest = rule;
  return scan.strongest == 0 ? 1 : 0;
}

std::uint16_t port_at(std::span<const std::byte> frame, std::size_t at) noexcept {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(frame[at]) << 8 |
                                    std::to_integer<unsigned>(frame[at + 1]));
}

Scan scan_of(std::span<const std::byte> frame, const PacketHeaders& headers,
             std::span<const MatchRuleEntry> rules) noexcept {
  Scan scan{.rules = rules.data(),
            .strongest = static_cast<std::uint32_t>(rules.size()),
            .carry = 0,
            .protocol = headers.protocol,
            .ports = {0, 0}};
  if (headers.transport_offset != 0 && (headers.protocol == kTcp || headers.protocol == kUdp)) {
    scan.ports[0] = port_at(frame, headers.transport_offset);
    scan.ports[1] = port_at(frame, headers.transport_offset + 2u);
  }
  return scan;
}

bool contains(std::span<const std::byte> payload, std::uint8_t byte) noexcept {
  return std::memchr(payload.data(), byte, payload.size()) != nullptr;
}

}  // namespace

MatchScanner::MatchScanner(const MatchImage& image)
    : rules_(image.rules()), database_(image.database()) {
  for (std::uint32_t number = 0; number < rules_.size(); ++number) {
    if (rules_[number].is_byte != 0) byte_rules_.push_back(number);
  }
  grow_scratch(scratch_, database_.get());
}

std::uint32_t MatchScanner::strongest_rule(std::span<const std::byte> frame) const noexcept {
  const PacketHeaders headers = parse_headers(frame);
  if (chain_breaks_off(headers)) return kMatchHidden;
  if (headers.payload_offset == 0 || headers.payload_offset >= headers.payload_end) return 0;
  return strongest_rule(
      frame.subspan(headers.payload_offset, headers.payload_end - headers.payload_offset), 0, frame,
      headers);
}

std::uint32_t MatchScanner::strongest_rule(std::span<const std::byte> text, std::uint32_t carry,
                                           std::span<const std::byte> frame,
                                           const PacketHeaders& headers) const noexcept {
  Scan scan = scan_of(frame, headers, rules_);
  scan.carry = carry;
  const std::span<const std::byte> fresh = text.subspan(carry);
  for (const std::uint32_t number : byte_rules_) {
    const MatchRuleEntry& rule = rules_[number];
    if (!applies(rule, scan)) continue;
    if (!contains(fresh, rule.byte[0]) && !contains(fresh, rule.byte[1])) continue;
    scan.strongest = number;
    break;
  }
  if (database_ != nullptr && scan.strongest != 0) {
    scan_text(database_.get(), text, scratch_.get(), on_literal, &scan);
  }
  return scan.strongest == rules_.size() ? 0 : scan.strongest + 1;
}

}  // namespace millrace
