// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/ids/rules/rule_match.hpp"
#include "shared/packet/ipv6_bytes.hpp"

/// A rule of Snort or Suricata as it was understood: what a packet, a stream or a transaction must
/// have, and what follows. Keywords have the meaning that Suricata 7's documentation gives them.

namespace millrace {

/// In the order in which Suricata lets them count (its default `action-order`).
enum class RuleAction : std::uint8_t { kPass, kDrop, kReject, kAlert };
/// Which end a `reject` answers.
enum class RejectTo : std::uint8_t { kSource, kDestination, kBoth };

/// The protocol of a rule's head. Those behind kIcmp are recognised by what a flow carries.
enum class RuleProtocol : std::uint8_t {
  kIp,
  kTcp,
  kTcpPacket,  ///< tcp-pkt: single packets alone
  kTcpStream,  ///< tcp-stream: streams alone
  kUdp,
  kIcmp,  ///< of both versions of IP
  kSctp,
  kHttp,
  kTls,
  kDns,
  kSsh,
  kSmtp,
  kFtp,
  kSmb,
  kHttp1,  ///< kHttp is of both versions
  kHttp2,
  kCount
};

/// Inclusive.
struct AddressRange {
  std::uint8_t version;  ///< 4: the first four bytes count; 6
  Ipv6Bytes low, high;
  bool contains(std::uint8_t version_of, const Ipv6Bytes& address) const noexcept;
};
struct AddressSet {
  bool is_any = true;
  std::vector<AddressRange> ranges;  ///< by version, then ascending and disjoint; negation resolved
  bool contains(std::uint8_t version, const Ipv6Bytes& address) const noexcept;
};
struct PortSet {
  bool is_any = true;
  std::vector<std::pair<std::uint16_t, std::uint16_t>> ranges;  ///< inclusive; likewise
  bool contains(std::uint16_t port) const noexcept;
};

/// `flow`: what is asked for. Direction: to the server is direction 0 of the flow.
struct FlowTest {
  bool to_server = false, to_client = false;  ///< both false: either
  bool established = false, not_established = false;
  bool only_stream = false, no_stream = false;
  bool only_fragments = false, no_fragments = false;
};

/// A number within [low, high], or outside.
struct NumberTest {
  std::uint32_t low = 0, high = UINT32_MAX;
  bool negated = false;
  bool passes(std::uint32_t number) const noexcept {
    return (low <= number && number <= high) != negated;
  }
};

/// `flags`, `fragbits`: which bits of a header must be set.
struct BitsTest {
  enum class How : std::uint8_t { kExactly, kAllOf, kAnyOf, kNoneOf } how = How::kExactly;
  std::uint16_t bits = 0;     ///< as in the header's field
  std::uint16_t ignored = 0;  ///< of the field, those that do not matter
  bool passes(std::uint16_t field) const noexcept;
};

/// What single packets have in their headers. A rule with any but `protocols` looks at packets.
enum class HeaderField : std::uint8_t {
  kDataSize,
  kTtl,  ///< hop limit of IPv6 too
  kTos,
  kIpId,
  kIpProtocol,
  kFragmentOffset,
  kIcmpType,
  kIcmpCode,
  kIcmpId,
  kIcmpSequence,
  kTcpSequence,
  kTcpAcknowledgment,
  kTcpWindow,
  kTcpMss,
  kCount
};
struct HeaderTest {
  HeaderField field;
  NumberTest number;
};
struct PacketTests {
  std::vector<HeaderTest> headers;  ///< all of them must pass
  std::optional<BitsTest> tcp_flags, fragment_bits;
  bool same_address = false;
};

enum class TrackBy : std::uint8_t { kSource, kDestination, kBoth, kRule, kFlow };

/// `xbits`: a bit of a host, which is the packet's source or destination, or of both as a pair. The
/// host has it whether packets come from it or go to it.
struct HostBit {
  TrackBy by = TrackBy::kSource;
  std::uint32_t seconds = 30;  ///< for which it is set
  std::uint64_t name = 0;      ///< hash of its name
};
/// `flowbits` and `xbits`. Bits have numbers: RuleSet::flowbits, those of hosts behind "xbits:".
inline constexpr std::size_t kFlowbitsMax = 512;
struct FlowbitTest {
  enum class What : std::uint8_t { kIsSet, kIsNotSet, kSet, kUnset, kToggle } what;
  std::vector<std::uint16_t> bits;  ///< one, or with kIsSet any of them; one of a host
  std::optional<HostBit> host{};    ///< nothing: they are of the flow
};

/// `threshold`, `detection_filter`, and lines of a threshold file.
struct Threshold {
  enum class Kind : std::uint8_t {
    kLimit,
    kThreshold,
    kBoth,
    kDetectionFilter,  ///< the rule matches only beyond the count
  } kind = Kind::kLimit;
  TrackBy by = TrackBy::kSource;
  std::uint32_t count = 1, seconds = 1;
};

/// What the rule asks of one buffer: all of `tests`, in their order.
struct BufferTests {
  RuleBuffer buffer = RuleBuffer::kPayload;
  std::vector<Transform> transforms;
  std::vector<Match> tests;
};

/// Where the literal is that the prefilter looks for: a positive ContentMatch.
struct FastPattern {
  std::uint16_t buffer;          ///< place in Signature::buffers
  std::uint16_t test;            ///< place in its tests
  std::uint16_t offset, length;  ///< of its bytes: part of them with `fast_pattern:offset,length`
};

struct Signature {
  // Where it stands: "file:line" of the rule's first line.
  std::string place;
  std::string text;  ///< the rule as it stands there, variables not replaced
  RuleAction action = RuleAction::kAlert;
  RejectTo reject_to = RejectTo::kSource;
  RuleProtocol protocol = RuleProtocol::kIp;
  AddressSet source, destination;
  PortSet source_ports, destination_ports;
  bool both_ways = false;  ///< `<>`
  std::uint32_t sid = 0, gid = 1, revision = 0;
  std::string message, classification;  ///< classtype's description; its name where none is known
  std::uint8_t priority = 3;            ///< 1 is the highest; 1..255
  bool no_alert = false;
  std::vector<std::pair<std::string, std::string>> metadata;

  /// `app-layer-protocol:!`: what the flow carries is known, and is none of these.
  std::vector<RuleProtocol> not_protocols;
  /// It asks for what the flow carries and for nothing else: of each direction, the packet counts
  /// with which that is known.
  bool at_recognition = false;
  FlowTest flow;
  PacketTests packet;
  std::vector<FlowbitTest> flowbits;
  std::optional<Threshold> threshold, detection_filter;
  std::vector<BufferTests> buffers;         ///< one for each pair of buffer and transforms
  std::uint8_t variables = 0;               ///< that byte_extract and byte_math write
  std::optional<FastPattern> fast_pattern;  ///< none: no literal can gate it

  /// It looks at single packets: their headers (tests of them, `no_stream`, tcp-pkt), contents
  /// where no stream is (datagrams), contents with a place (offset, depth) in a TCP packet, or it
  /// has nothing but its head. What asks for headers looks at no stream.
  bool looks_at_packets() const noexcept;
  /// It asks for single packets, by tests of their headers or by words of `flow`.
  bool looks_at_packet_headers() const noexcept;
  /// It looks at what TCP's receiver reads. A rule of contents with a place looks at both.
  bool looks_at_streams() const noexcept;
  /// It asks for a buffer other than the payload, or is of a recognised protocol.
  bool looks_at_transactions() const noexcept;
  /// It asks for addresses, ports and a protocol of IP alone: what it says of a packet, it says of
  /// the packet's flow. It may set flowbits.
  bool looks_at_heads_only() const noexcept;
};

}  // namespace millrace
