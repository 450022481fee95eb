// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/signature.hpp"

#include <algorithm>
#include <cstring>
#include <variant>

namespace millrace {
namespace {

constexpr std::size_t kIpv4Bytes = 4;
constexpr std::uint8_t kIpv4Version = 4;

/// As memcmp(), of the bytes that count in `version`.
int compare(std::uint8_t version, const Ipv6Bytes& a, const Ipv6Bytes& b) noexcept {
  return std::memcmp(a.data(), b.data(), version == kIpv4Version ? kIpv4Bytes : a.size());
}

/// A content that must be at a place from the start of what is looked at.
bool has_place(const Match& match) noexcept {
  const auto* const content = std::get_if<ContentMatch>(&match);
  return content != nullptr && (content->offset || content->depth || content->starts_with);
}

bool asks_for_packets(const Signature& rule) noexcept {
  const FlowTest& flow = rule.flow;
  return rule.protocol == RuleProtocol::kTcpPacket || !rule.packet.headers.empty() ||
         rule.packet.tcp_flags || rule.packet.fragment_bits || rule.packet.same_address ||
         flow.no_stream || flow.only_fragments;
}

bool asks_nothing(const FlowTest& flow) noexcept {
  return !flow.to_server && !flow.to_client && !flow.established && !flow.not_established &&
         !flow.only_stream && !flow.no_stream && !flow.only_fragments && !flow.no_fragments;
}

bool may_be_datagrams(RuleProtocol protocol) noexcept {
  switch (protocol) {
    case RuleProtocol::kIp:
    case RuleProtocol::kUdp:
    case RuleProtocol::kIcmp:
    case RuleProtocol::kSctp:
    case RuleProtocol::kDns:
      return true;
    default:
      return false;
  }
}

bool may_be_streams(RuleProtocol protocol) noexcept {
  return protocol != RuleProtocol::kTcpPacket && protocol != RuleProtocol::kUdp &&
         protocol != RuleProtocol::kIcmp && protocol != RuleProtocol::kSctp;
}

bool is_of_payload(const BufferTests& tests) noexcept {
  return tests.buffer == RuleBuffer::kPayload;
}

}  // namespace

bool AddressRange::contains(std::uint8_t version_of, const Ipv6Bytes& address) const noexcept {
  return version == version_of && compare(version, low, address) <= 0 &&
         compare(version, high, address) >= 0;
}

bool AddressSet::contains(std::uint8_t version, const Ipv6Bytes& address) const noexcept {
  if (is_any) return true;
  // The first range that does not end in front of the address.
  const auto found = std::partition_point(ranges.begin(), ranges.end(), [&](const auto& range) {
    if (range.version != version) return range.version < version;
    return compare(version, range.high, address) < 0;
  });
  return found != ranges.end() && found->contains(version, address);
}

bool PortSet::contains(std::uint16_t port) const noexcept {
  if (is_any) return true;
  const auto found = std::partition_point(ranges.begin(), ranges.end(),
                                          [&](const auto& range) { return range.second < port; });
  return found != ranges.end() && found->first <= port;
}

bool BitsTest::passes(std::uint16_t field) const noexcept {
  const auto seen = static_cast<std::uint16_t>(field & ~ignored);
  switch (how) {
    case How::kExactly:
      return seen == bits;
    case How::kAllOf:
      return (seen & bits) == bits;
    case How::kAnyOf:
      return (seen & bits) != 0;
    case How::kNoneOf:
      return (seen & bits) == 0;
  }
  return false;
}

bool Signature::looks_at_packets() const noexcept {
  if (asks_for_packets(*this)) return true;
  if (flow.only_stream || protocol == RuleProtocol::kTcpStream) return false;
  if (buffers.empty()) return !looks_at_transactions();
  return std::ranges::any_of(buffers, [&](const BufferTests& of) {
    return is_of_payload(of) &&
           (may_be_datagrams(protocol) || std::ranges::any_of(of.tests, has_place));
  });
}

bool Signature::looks_at_packet_headers() const noexcept { return asks_for_packets(*this); }

bool Signature::looks_at_streams() const noexcept {
  if (asks_for_packets(*this) || !may_be_streams(protocol)) return false;
  return std::ranges::any_of(buffers, is_of_payload) || protocol == RuleProtocol::kTcpStream;
}

bool Signature::looks_at_transactions() const noexcept {
  return protocol >= RuleProtocol::kHttp || !not_protocols.empty() ||
         !std::ranges::all_of(buffers, is_of_payload);
}

bool Signature::looks_at_heads_only() const noexcept {
  if (asks_for_packets(*this) || looks_at_transactions() || !buffers.empty()) return false;
  return protocol != RuleProtocol::kTcpStream && asks_nothing(flow) &&
         std::ranges::all_of(flowbits, [](const FlowbitTest& test) {
           return test.what == FlowbitTest::What::kSet && !test.host;
         });
}

}  // namespace millrace
