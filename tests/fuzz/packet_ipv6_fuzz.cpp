// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a frame for ICMPv6, Neighbour Discovery and the walk along extension headers.
// Nothing outside is read (the copy has no byte to spare, so the sanitizer sees it), what is
// refused is not changed, and what is written is read again.

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "shared/base/check.hpp"
#include "shared/base/packet.hpp"
#include "shared/packet/icmpv6.hpp"
#include "shared/packet/ipv6_extensions.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/neighbour_discovery.hpp"
#include "tests/unit/shared/base/packet_oracle.hpp"

namespace millrace {
namespace {

constexpr MacAddress kOwnMac = {2, 0, 0, 0, 0, 9};
constexpr Ipv6Bytes kOwn = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};

void check_neighbour(std::span<const std::byte> frame) {
  NeighbourMessage message;
  if (!parse_neighbour(frame, message)) return;
  RouterSolicitation solicitation;
  MILLRACE_CHECK(!parse_router_solicitation(frame, solicitation));
  MILLRACE_CHECK(!is_multicast(message.target) && !is_multicast(message.source));
  MILLRACE_CHECK(!message.has_mac || (message.mac[0] & 1) == 0);
  // What was read can be written and read again.
  std::array<std::byte, kNeighbourFrameBytes> again;
  if (message.advertisement) {
    write_advertisement(again, message.mac, kOwnMac, message.source, message.destination,
                        message.target, message.router, message.solicited, message.override_);
  } else if (!is_unspecified(message.source)) {
    write_solicitation(again, message.mac, kOwnMac, message.source, message.destination,
                       message.target);
  } else {
    return;
  }
  NeighbourMessage second;
  MILLRACE_CHECK(parse_neighbour(again, second));
  MILLRACE_CHECK(second.advertisement == message.advertisement && second.mac == message.mac);
  MILLRACE_CHECK(second.router == message.router && second.solicited == message.solicited &&
                 second.override_ == message.override_);
  MILLRACE_CHECK(second.source == message.source && second.target == message.target &&
                 second.destination == message.destination);
}

void check_echo(std::vector<std::byte> frame) {
  const std::vector<std::byte> before = frame;
  if (!echo_reply_in_place_ipv6(frame, &kOwn, &kOwnMac)) {
    MILLRACE_CHECK(frame == before);
    return;
  }
  const std::span<const std::byte> message = ipv6_wire::icmpv6_message(frame);
  MILLRACE_CHECK(message.size() >= 8 && ipv6_wire::u16(message, 0) == 129 << 8);
  MILLRACE_CHECK(std::memcmp(&frame[0], &before[6], 6) == 0 &&
                 (frame[6] & std::byte{1}) == std::byte{0});
  MILLRACE_CHECK(!echo_reply_in_place_ipv6(frame, &kOwn, &kOwnMac));
}

void check_walk(std::span<const std::byte> frame) {
  const PacketHeaders headers = oracle::parse(frame);
  if (headers.ip_version != 6) return;
  const std::span<const std::byte> packet = frame.subspan(headers.network_offset);
  const Ipv6Extensions found = walk_extensions(packet);
  const bool upper = found.end == Ipv6ChainEnd::kUpper;
  MILLRACE_CHECK(upper == (headers.transport_offset != 0));
  MILLRACE_CHECK(found.upper_named_at < packet.size());
  for (const Ipv6Problem& problem : {found.router_problem, found.receiver_problem}) {
    MILLRACE_CHECK(problem.pointer < packet.size() && problem.code <= 3);
    MILLRACE_CHECK(problem.action == Ipv6Problem::Action::kAnswer ||
                   (problem.code == 0 && problem.pointer == 0));
  }
  if (upper) {
    MILLRACE_CHECK(found.upper_protocol == headers.protocol);
    MILLRACE_CHECK(found.upper_offset == headers.transport_offset - headers.network_offset);
  }
}

void check_answer(std::span<const std::byte> packet) {
  if (may_answer_ipv6(packet, false)) MILLRACE_CHECK(may_answer_ipv6(packet, true));
  if (!may_answer_ipv6(packet, true)) return;
  const std::span<const std::byte> quote = packet.first(icmpv6_quote_bytes(packet.size()));
  std::vector<std::byte> error(kIcmpv6ErrorFrontBytes);
  const auto to = ipv6_wire::array_at<Ipv6Bytes>(packet, ipv6_wire::kSourceAt);
  write_icmpv6_error(error, quote, kOwnMac, kOwnMac, kOwn, to, Icmpv6Error::hop_limit_exceeded());
  error.insert(error.end(), quote.begin(), quote.end());
  MILLRACE_CHECK(ipv6_wire::icmpv6_message(error).size() == 8 + quote.size());
  // An error is never answered.
  MILLRACE_CHECK(!may_answer_ipv6(std::span(error).subspan(ipv6_wire::kEthernetBytes), true));
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> frame(size);
  if (size != 0) std::memcpy(frame.data(), data, size);
  millrace::check_neighbour(frame);
  millrace::check_echo(frame);
  millrace::check_walk(frame);
  if (size >= 14) millrace::check_answer(std::span(frame).subspan(14));
  return 0;
}
