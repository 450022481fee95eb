// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/packet/ipv6_extensions.hpp"

#include <algorithm>

#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/ipv6_wire.hpp"

namespace millrace {
namespace {

using ipv6_wire::kNextHeaderAt;
using ipv6_wire::u16;
using ipv6_wire::u8;
using Action = Ipv6Problem::Action;

using ip_protocol::kDestinationOptions, ip_protocol::kFragment, ip_protocol::kHopByHop;
using ip_protocol::kNoNextHeader, ip_protocol::kRouting;
constexpr std::uint8_t kPad1 = 0, kPadN = 1, kRouterAlert = 5;
constexpr std::uint8_t kErroneousField = 0, kUnknownHeader = 1, kUnknownOption = 2;
constexpr std::uint8_t kIncompleteChain = 3;
constexpr std::size_t kExtensionBytesMin = 8;
constexpr std::size_t kIpv6PacketBytesMax = 65535;  // pointers and offsets have 16 bits

void set_first(Ipv6Problem& problem, Action action, std::uint8_t code = 0,
               std::size_t pointer = 0) noexcept {
  if (problem.action == Action::kNone) {
    problem = {action, code, static_cast<std::uint16_t>(pointer)};
  }
}

/// Bytes of upper-layer header that RFC 7112 wants in a first fragment. As Linux has it.
std::size_t upper_bytes_min(std::uint8_t protocol) noexcept {
  switch (protocol) {
    case ip_protocol::kTcp:
      return packet_walk::kTcpBytesMin;
    case ip_protocol::kUdp:
    case ip_protocol::kIcmpv6:
      return 8;
    case kNoNextHeader:
      return 0;
    default:
      return 1;
  }
}

/// The walk over one packet, which ends at its IPv6 payload length or before.
class ExtensionWalk {
 public:
  /// `packet`: at least the fixed header.
  explicit ExtensionWalk(std::span<const std::byte> packet) noexcept : packet_(packet) {}

  Ipv6Extensions walk() noexcept {
    std::size_t at = ipv6_wire::kHeaderBytes;
    set_named(kNextHeaderAt);
    for (int walked = 0; packet_walk::is_extension(found_.upper_protocol); ++walked) {
      if (walked == packet_walk::kExtensionHeadersMax) return stop(Ipv6ChainEnd::kTooLong);
      const std::uint8_t type = found_.upper_protocol;
      const std::size_t bytes = bytes_of(type, at);
      if (bytes == 0) return cut(type, at);
      look_at(type, at, bytes);
      set_named(at);
      at += bytes;
      if (later_fragment_) {
        found_.end = Ipv6ChainEnd::kLaterFragment;
        return found_;
      }
    }
    found_.end = Ipv6ChainEnd::kUpper;
    found_.upper_offset = static_cast<std::uint16_t>(at);
    if (packet_.size() - at < upper_bytes_min(found_.upper_protocol)) set_incomplete();
    return found_;
  }

 private:
  void set_named(std::size_t at) noexcept {
    found_.upper_named_at = static_cast<std::uint16_t>(at);
    found_.upper_protocol = u8(packet_, at);
  }

  /// 0: the packet ends before the header does.
  std::size_t bytes_of(std::uint8_t type, std::size_t at) const noexcept {
    if (packet_.size() - at < kExtensionBytesMin) return 0;
    const FrameBytes bytes{packet_.data(), packet_.size()};
    const std::size_t size = packet_walk::extension_bytes(bytes, type, at);
    return size <= packet_.size() - at ? size : 0;
  }

  void set_incomplete() noexcept {
    if (!first_fragment_) return;
    found_.incomplete_chain = true;
    set_first(found_.receiver_problem, Action::kAnswer, kIncompleteChain);
  }

  Ipv6Extensions stop(Ipv6ChainEnd end) noexcept {
    found_.end = end;
    set_incomplete();
    set_first(found_.receiver_problem, Action::kDiscard);
    return found_;
  }

  Ipv6Extensions cut(std::uint8_t type, std::size_t at) noexcept {
    if (type == kHopByHop && at == ipv6_wire::kHeaderBytes) {
      found_.hop_by_hop = true;
      set_first(found_.router_problem, Action::kDiscard);
    }
    return stop(Ipv6ChainEnd::kCut);
  }

  void look_at(std::uint8_t type, std::size_t at, std::size_t bytes) noexcept {
    if (type == kHopByHop && at == ipv6_wire::kHeaderBytes) {
      found_.hop_by_hop = true;
      look_at_options(at, bytes, true, found_.router_problem);
    } else if (type == kHopByHop) {
      set_first(found_.receiver_problem, Action::kAnswer, kUnknownHeader, found_.upper_named_at);
    } else if (type == kDestinationOptions) {
      look_at_options(at, bytes, false, found_.receiver_problem);
    } else if (type == kRouting && u8(packet_, at + 3) != 0) {
      set_first(found_.receiver_problem, Action::kAnswer, kErroneousField, at + 2);
    } else if (type == kFragment) {
      if (found_.fragment_at == 0) found_.fragment_at = static_cast<std::uint16_t>(at);
      later_fragment_ = u16(packet_, at + 2) >> 3 != 0;
      first_fragment_ = true;
    }
  }

  /// The options of the header of `bytes` at `at`.
  void look_at_options(std::size_t at, std::size_t bytes, bool hop_by_hop,
                       Ipv6Problem& problem) noexcept {
    const std::size_t end = at + bytes;
    std::size_t option = at + 2;
    while (option < end) {
      const std::uint8_t type = u8(packet_, option);
      if (type == kPad1) {
        ++option;
        continue;
      }
      if (end - option < 2 || u8(packet_, option + 1) > end - option - 2) {
        // Points to the length, or where it had to be within the header to the type.
        set_first(problem, Action::kAnswer, kErroneousField, std::min(option + 1, end - 1));
        return;
      }
      const std::uint8_t length = u8(packet_, option + 1);
      if (hop_by_hop && type == kRouterAlert) {
        note_router_alert(option, length);
      } else if (type != kPadN) {
        refuse_unknown(option, type, problem);
      }
      option += 2 + std::size_t{length};
    }
  }

  void note_router_alert(std::size_t option, std::uint8_t length) noexcept {
    if (length != 2) {
      set_first(found_.router_problem, Action::kAnswer, kErroneousField, option + 1);
    } else if (!found_.router_alert) {
      found_.router_alert = true;
      found_.router_alert_value = u16(packet_, option + 2);
    }
  }

  /// The upper two bits of the type say what is to be done (RFC 8200 4.2).
  void refuse_unknown(std::size_t option, std::uint8_t type, Ipv6Problem& problem) const noexcept {
    const int action = type >> 6;
    const bool multicast = u8(packet_, ipv6_wire::kDestinationAt) == 0xff;
    if (action == 0) return;
    if (action == 1 || (action == 3 && multicast)) {
      set_first(problem, Action::kDiscard);
    } else {
      set_first(problem, Action::kAnswer, kUnknownOption, option);
    }
  }

  std::span<const std::byte> packet_;
  Ipv6Extensions found_;
  bool first_fragment_ = false;  // it has a fragment header, and none with an offset
  bool later_fragment_ = false;
};

}  // namespace

Ipv6Extensions walk_extensions(std::span<const std::byte> packet) noexcept {
  if (packet.size() < ipv6_wire::kHeaderBytes || u8(packet, 0) >> 4 != 6) {
    Ipv6Extensions none;
    none.router_problem.action = Action::kDiscard;
    none.receiver_problem.action = Action::kDiscard;
    return none;
  }
  const std::size_t bytes = ipv6_wire::kHeaderBytes + u16(packet, 4);
  return ExtensionWalk(packet.first(std::min({bytes, packet.size(), kIpv6PacketBytesMax}))).walk();
}

}  // namespace millrace
