// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/packet/icmpv6.hpp"

#include "shared/base/check.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/ip_pseudo_sum.hpp"
#include "shared/packet/ipv6_checksum.hpp"
#include "shared/packet/ipv6_extensions.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/put_headers.hpp"

namespace millrace {
namespace {

using ipv6_wire::array_at;

constexpr std::uint8_t kEchoRequest = 128, kEchoReply = 129, kRedirect = 137;
constexpr std::uint8_t kInformational = 128;  // types below are errors

/// An address that many nodes have, or none outside.
bool names_no_node(const Ipv6Bytes& source) noexcept {
  return is_unspecified(source) || is_multicast(source) || is_loopback(source);
}

bool is_error_or_redirect(std::span<const std::byte> packet,
                          const Ipv6Extensions& extensions) noexcept {
  if (extensions.upper_protocol != ipv6_wire::kIcmpv6) return false;
  const std::size_t end = ipv6_wire::kHeaderBytes + ipv6_wire::u16(packet, 4);
  if (extensions.upper_offset >= packet.size() || extensions.upper_offset >= end) return true;
  const std::uint8_t type = ipv6_wire::u8(packet, extensions.upper_offset);
  return type < kInformational || type == kRedirect;
}

}  // namespace

bool may_answer_ipv6(std::span<const std::byte> packet, bool to_multicast_allowed) noexcept {
  if (packet.size() < ipv6_wire::kHeaderBytes || ipv6_wire::u8(packet, 0) >> 4 != 6) return false;
  if (names_no_node(array_at<Ipv6Bytes>(packet, ipv6_wire::kSourceAt))) return false;
  const auto destination = array_at<Ipv6Bytes>(packet, ipv6_wire::kDestinationAt);
  if (is_multicast(destination) && !to_multicast_allowed) return false;

  const Ipv6Extensions extensions = walk_extensions(packet);
  switch (extensions.end) {
    case Ipv6ChainEnd::kUpper:
      return !is_error_or_redirect(packet, extensions);
    case Ipv6ChainEnd::kLaterFragment:
      return extensions.upper_protocol != ipv6_wire::kIcmpv6 &&
             !packet_walk::is_extension(extensions.upper_protocol);
    case Ipv6ChainEnd::kCut:
      return true;
    case Ipv6ChainEnd::kTooLong:
      return false;
  }
  return false;
}

void write_icmpv6_error(std::span<std::byte> front, std::span<const std::byte> quote,
                        MacAddress from, MacAddress to, const Ipv6Bytes& source,
                        const Ipv6Bytes& destination, Icmpv6Error error) noexcept {
  MILLRACE_CHECK(front.size() == kIcmpv6ErrorFrontBytes);
  MILLRACE_CHECK(quote.size() <= kIcmpv6QuoteBytesMax);
  const std::size_t message_bytes = ipv6_wire::kIcmpBytes + quote.size();
  put_ethernet(front, from, to, ipv6_wire::kEtherType);
  const std::span<std::byte> packet = front.subspan(ipv6_wire::kEthernetBytes);
  put_ipv6(packet,
           {.next_header = ipv6_wire::kIcmpv6, .source = source, .destination = destination},
           message_bytes);
  put_icmp(packet.subspan(ipv6_wire::kHeaderBytes),
           {.type = error.type, .code = error.code, .rest = error.rest},
           ip_pseudo_sum(packet, ipv6_wire::kIcmpv6, message_bytes), quote);
}

bool echo_reply_in_place_ipv6(std::span<std::byte> frame, const Ipv6Bytes* source_instead,
                              const MacAddress* mac_instead) noexcept {
  const std::size_t message_bytes = ipv6_wire::icmpv6_message(frame).size();
  if (message_bytes == 0) return false;
  const std::span<std::byte> packet = frame.subspan(ipv6_wire::kEthernetBytes);
  const std::span<std::byte> message = packet.subspan(ipv6_wire::kHeaderBytes, message_bytes);
  const auto asking = array_at<Ipv6Bytes>(packet, ipv6_wire::kSourceAt);
  const auto asked = array_at<Ipv6Bytes>(packet, ipv6_wire::kDestinationAt);
  const auto to_mac = array_at<MacAddress>(frame, 0), from_mac = array_at<MacAddress>(frame, 6);
  const bool to_group_mac = is_group(to_mac);
  if (ipv6_wire::u16(message, 0) != kEchoRequest << 8 || names_no_node(asking) ||
      is_group(from_mac) || (is_multicast(asked) && source_instead == nullptr) ||
      (to_group_mac && mac_instead == nullptr)) {
    return false;
  }
  const Ipv6Bytes& source = is_multicast(asked) ? *source_instead : asked;
  ipv6_wire::put_array(frame, 0, from_mac);
  ipv6_wire::put_array(frame, 6, to_group_mac ? *mac_instead : to_mac);
  ipv6_wire::put8(packet, ipv6_wire::kHopLimitAt, kHopsDefault);
  ipv6_wire::put_array(packet, ipv6_wire::kSourceAt, source);
  ipv6_wire::put_array(packet, ipv6_wire::kDestinationAt, asking);
  ipv6_wire::put8(message, 0, kEchoReply);
  ipv6_wire::put16(message, 2, 0);
  ipv6_wire::put16(message, 2, ipv6_checksum(source, asking, ipv6_wire::kIcmpv6, message));
  return true;
}

}  // namespace millrace
