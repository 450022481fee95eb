// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/acl/acl_reject.hpp"

#include <algorithm>
#include <optional>

#include "services/functions/acl/acl_rule.hpp"
#include "services/functions/nat64/as_sent.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/mac.hpp"
#include "shared/packet/icmp.hpp"
#include "shared/packet/icmpv6.hpp"
#include "shared/packet/ip_pseudo_sum.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/tcp_reset.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp;
constexpr std::size_t kMacsBytes = 12;
constexpr std::size_t kTagBytes = 4;
constexpr std::size_t kAnswerBytesMax = kIcmpv6ErrorFrontBytes + kIcmpv6QuoteBytesMax;

/// A packet that an answer may be due to.
struct Rejected {
  std::span<const std::byte> frame;
  std::span<const std::byte> ip;         ///< to the end of the IP packet
  std::span<const std::byte> transport;  ///< empty: not there
  PacketHeaders headers;
  MacAddress from, to;  ///< of the answer
};

/// An untagged answer, as long as `bytes` says; 0: none is due.
struct Answer {
  std::array<std::byte, kAnswerBytesMax> frame;
  std::size_t bytes = 0;
  Reason why = Reason::kNone;
};

bool is_group(const MacAddress& mac) { return (mac[0] & 1) != 0; }

std::optional<Rejected> read(std::span<const std::byte> frame) noexcept {
  const PacketHeaders headers = parse_headers(frame);
  if (headers.ip_version == 0 || headers.payload_end <= headers.network_offset) return {};
  Rejected out{.frame = frame.first(headers.payload_end),
               .ip = {},
               .transport = {},
               .headers = headers,
               .from = wire_bytes::array_at<MacAddress>(frame, 0),
               .to = wire_bytes::array_at<MacAddress>(frame, sizeof(MacAddress))};
  if (is_group(out.from) || is_group(out.to)) return {};
  out.ip = out.frame.subspan(headers.network_offset);
  const bool has_transport = headers.transport_offset != 0 && !headers.fragment;
  if (has_transport) out.transport = out.frame.subspan(headers.transport_offset);
  const bool may =
      headers.ip_version == 4 ? may_answer_ipv4(out.ip) : may_answer_ipv6(out.ip, false);
  return may ? std::optional(out) : std::nullopt;
}

/// `Address`: as write_tcp_reset() takes it. `bytes`: of the answer.
template <typename Address>
void answer_tcp(const Rejected& at, const Address& sender, const Address& receiver,
                std::size_t bytes, Answer& out) noexcept {
  const std::optional<TcpReset> reset =
      tcp_reset_for(at.transport, ip_pseudo_sum(at.ip, kTcp, at.transport.size()));
  if (!reset) return;
  out.bytes = bytes;
  out.why = Reason::kReply;
  write_tcp_reset(std::span(out.frame).first(bytes), at.from, at.to, receiver, sender, *reset);
}

/// Where an error's `front` is to be written; its quote stands behind it.
std::span<std::byte> quote(const Rejected& at, std::size_t front, std::size_t quoted,
                           Answer& out) noexcept {
  std::ranges::copy(at.ip.first(quoted), std::span(out.frame).subspan(front).begin());
  out.bytes = front + quoted;
  out.why = Reason::kReport;
  return std::span(out.frame).first(front);
}

/// A RST is the answer.
bool wants_reset(const Rejected& at, std::uint8_t how) noexcept {
  return at.headers.protocol == kTcp && (how & kAclRejectIcmp) == 0;
}

void answer_ipv4(const Rejected& at, std::uint8_t how, Answer& out) noexcept {
  using ipv4_wire::kSourceAt, ipv4_wire::kDestinationAt;
  const std::uint32_t sender = wire_bytes::u32(at.ip, kSourceAt);
  const std::uint32_t receiver = wire_bytes::u32(at.ip, kDestinationAt);
  if (wants_reset(at, how)) return answer_tcp(at, sender, receiver, kTcpResetFrameBytes, out);
  if (how == kAclRejectReset) return;
  IcmpError error = kIcmpPortUnreachable;
  if ((how & kAclRejectIcmp) != 0) error.code = how >> 3 & 15;
  const std::size_t quoted = icmp_quote_bytes(at.ip.size());
  write_icmp_error(quote(at, kIcmpErrorFrontBytes, quoted, out), at.ip.first(quoted), at.from,
                   at.to, receiver, sender, error);
}

void answer_ipv6(const Rejected& at, std::uint8_t how, Answer& out) noexcept {
  using ipv6_wire::kSourceAt, ipv6_wire::kDestinationAt;
  const auto sender = wire_bytes::array_at<Ipv6Bytes>(at.ip, kSourceAt);
  const auto receiver = wire_bytes::array_at<Ipv6Bytes>(at.ip, kDestinationAt);
  if (wants_reset(at, how)) return answer_tcp(at, sender, receiver, kTcpResetIpv6FrameBytes, out);
  if (how == kAclRejectReset) return;
  Icmpv6Error error = Icmpv6Error::port_unreachable();
  if ((how & kAclRejectIcmp) != 0) error.code = how & 7;
  const std::size_t quoted = icmpv6_quote_bytes(at.ip.size());
  write_icmpv6_error(quote(at, kIcmpv6ErrorFrontBytes, quoted, out), at.ip.first(quoted), at.from,
                     at.to, receiver, sender, error);
}

}  // namespace

void AclRejecter::tell_sender(const FinishContext& call, std::uint16_t packet,
                              std::uint8_t how) noexcept {
  const Batch& batch = call.batch;
  if (call.facts.port_in == kOutputDefault || batch.output[packet] != kOutputDefault) return;
  const AsSent as_sent(call, packet);
  if (!as_sent.is_known()) return;
  const std::optional<Rejected> rejected = read(batch.bytes(packet));
  if (!rejected) return;
  Answer answer;
  rejected->headers.ip_version == 4 ? answer_ipv4(*rejected, how, answer)
                                    : answer_ipv6(*rejected, how, answer);
  const std::size_t tags = rejected->headers.vlan_tags * kTagBytes;
  if (answer.bytes == 0 || !batch.side.has_room(answer.bytes + tags) ||
      !limit_.take(call.facts.now_ns)) {
    return;
  }
  const std::span<std::byte> out =
      batch.side.add({.packet = packet,
                      .kind = static_cast<std::uint8_t>(SideKind::kSend),
                      .port = call.facts.port_in,
                      .why = static_cast<std::uint8_t>(answer.why)},
                     answer.bytes + tags);
  // MAC addresses, the tags that the packet had, the rest.
  const std::span<const std::byte> made = std::span(answer.frame).first(answer.bytes);
  auto to = std::ranges::copy(made.first(kMacsBytes), out.begin()).out;
  to = std::ranges::copy(rejected->frame.subspan(kMacsBytes, tags), to).out;
  std::ranges::copy(made.subspan(kMacsBytes), to);
}

}  // namespace millrace
