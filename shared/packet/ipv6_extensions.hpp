// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

/// What a node does with a packet because of an extension header.
struct Ipv6Problem {
  enum class Action : std::uint8_t {
    kNone,
    kDiscard,  // without an answer
    kAnswer,   // discard, and send a Parameter Problem with `code` and `pointer`, if
               // may_answer_ipv6(packet, code == 2) lets it
  };
  Action action = Action::kNone;
  /// 0: erroneous field, 1: unrecognized next header, 2: unrecognized option (RFC 4443 3.4), 3:
  /// first fragment without the whole header chain (RFC 7112).
  std::uint8_t code = 0;
  /// Offset of what is wrong from the IPv6 header; 0 with code 3.
  std::uint16_t pointer = 0;
};

/// Where the walk along the extension headers ended.
enum class Ipv6ChainEnd : std::uint8_t {
  kUpper,          // at a header that is no extension header
  kLaterFragment,  // behind the fragment header of a fragment that is not the first
  kCut,            // the packet ends within an extension header, or is no IPv6 packet
  kTooLong,        // more than 8 extension headers
};

/// The extension headers of a packet. Those walked are hop-by-hop options (0), routing (43),
/// fragment (44), authentication (51), destination options (60), mobility (135), host identity
/// (139) and shim6 (140). All offsets are from the IPv6 header.
struct Ipv6Extensions {
  Ipv6ChainEnd end = Ipv6ChainEnd::kCut;
  /// kUpper: protocol of the upper layer; 59 is no next header. Else the type of the first header
  /// that was not walked: in a later fragment what its fragment header names.
  std::uint8_t upper_protocol = 59;
  /// kUpper: first byte behind the extension headers, at most the packet's bytes. Else 0.
  std::uint16_t upper_offset = 0;
  /// The byte that names upper_protocol: the pointer of a Parameter Problem with code 1 about it.
  std::uint16_t upper_named_at = 6;
  /// The first header is hop-by-hop options: the only place where a router looks at them.
  bool hop_by_hop = false;
  /// That header has a router alert (RFC 2711); its value.
  bool router_alert = false;
  std::uint16_t router_alert_value = 0;
  /// The first fragment header; 0: none. An atomic fragment (RFC 6946) has one too.
  std::uint16_t fragment_at = 0;
  /// A fragment with offset 0 that lacks a part of the header chain (RFC 7112): an extension
  /// header, or the first 20 bytes of TCP, 8 of UDP or ICMPv6, 1 of another protocol. A router may
  /// drop it silently; for a receiver it is in receiver_problem.
  bool incomplete_chain = false;
  /// What hop-by-hop options demand of every node on the way (RFC 8200 4.2, 4.3).
  Ipv6Problem router_problem;
  /// What stops the node of the destination address, beyond router_problem; the first found:
  /// - an unknown or broken destination option (RFC 8200 4.6)
  /// - hop-by-hop options that are not first: code 1 (RFC 8200 4.1)
  /// - a routing header with segments left, of type 0 (RFC 5095) or another, since none is
  ///   implemented: code 0 at its type (RFC 8200 4.4)
  /// - a header chain that is incomplete (code 3), cut or too long
  Ipv6Problem receiver_problem;
};

/// `packet`: from the IPv6 header on. Bytes behind the IPv6 payload length are no part of it. An
/// option of action 11 in a packet to a multicast address asks for kDiscard. A hop-by-hop header
/// that does not fit is a router_problem. Not IPv6, or shorter than its header: kCut, both problems
/// kDiscard.
Ipv6Extensions walk_extensions(std::span<const std::byte> packet) noexcept;

}  // namespace millrace
