// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_tuple.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "shared/base/ip_protocol.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kIcmp, ip_protocol::kIcmpv6;
constexpr std::size_t kPortsBytes = 4, kIcmpBytes = 8;

/// A question of ICMP and what answers it (RFC 792, 950, 4443).
struct Question {
  std::uint8_t protocol, asks, answers;
};
constexpr Question kQuestions[] = {
    {kIcmp, 8, 0}, {kIcmp, 13, 14}, {kIcmp, 15, 16}, {kIcmp, 17, 18}, {kIcmpv6, 128, 129}};

/// False: it is neither a question nor an answer.
bool set_icmp_ports(std::span<const std::byte> message, FlowTuple& tuple) noexcept {
  if (message.size() < kIcmpBytes) return false;
  const std::uint8_t type = wire_bytes::u8(message, 0);
  const std::uint16_t identifier = wire_bytes::u16(message, 4);
  for (const Question& question : kQuestions) {
    if (question.protocol != tuple.protocol) continue;
    if (type == question.asks || type == question.answers) {
      tuple.source_port = identifier;
      tuple.destination_port = question.asks;
      if (type == question.answers) std::swap(tuple.source_port, tuple.destination_port);
      return true;
    }
  }
  return false;
}

/// Of a number of bytes that is known: moves, and no call.
template <std::size_t kBytes>
void copy_addresses(const std::byte* from, FlowTuple& tuple) noexcept {
  std::memcpy(tuple.source.data(), from, kBytes);
  std::memcpy(tuple.destination.data(), from + kBytes, kBytes);
}

}  // namespace

void set_addresses(std::span<const std::byte> ip, FlowTuple& tuple) noexcept {
  if (tuple.version == 4) {
    copy_addresses<4>(ip.data() + 12, tuple);
  } else {
    copy_addresses<16>(ip.data() + 8, tuple);
  }
}

std::optional<FlowTuple> flow_tuple_of(std::span<const std::byte> frame,
                                       const PacketHeaders& headers) noexcept {
  if (headers.ip_version == 0 || headers.transport_offset == 0) return std::nullopt;
  FlowTuple tuple{.protocol = headers.protocol, .version = headers.ip_version};
  set_addresses(frame.subspan(headers.network_offset), tuple);
  const std::size_t end = std::min<std::size_t>(frame.size(), headers.payload_end);
  if (end < headers.transport_offset) return std::nullopt;
  const auto transport = frame.subspan(headers.transport_offset, end - headers.transport_offset);
  if (ip_protocol::has_ports(tuple.protocol)) {
    if (transport.size() < kPortsBytes) return std::nullopt;
    tuple.source_port = wire_bytes::u16(transport, 0);
    tuple.destination_port = wire_bytes::u16(transport, 2);
  } else if (tuple.protocol == kIcmp || tuple.protocol == kIcmpv6) {
    if (!set_icmp_ports(transport, tuple)) return std::nullopt;
  }
  return tuple;
}

}  // namespace millrace
