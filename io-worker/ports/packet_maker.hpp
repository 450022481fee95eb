// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "io-worker/ports/generate.hpp"
#include "shared/base/mac.hpp"

namespace millrace {

inline constexpr std::uint64_t kNumberedMagic = 0x4d494c4c52414345ull;  ///< "MILLRACE"

/// Payload of a numbered packet: big-endian, from the byte behind the UDP header.
///
/// | offset | bytes | field |
/// |--:|--:|---|
/// | 0 | 8 | kNumberedMagic |
/// | 8 | 4 | stream |
/// | 12 | 4 | flow |
/// | 16 | 8 | number in the stream: the ordinal |
/// | 24 | 8 | number in the flow |
/// | 32 | 8 | system clock when it was due, ns since 1970 |
inline constexpr std::uint32_t kNumberedOffset = 42;  ///< Ethernet 14, IPv4 20, UDP 8
inline constexpr std::uint32_t kNumberedSizeMin = kNumberedOffset + 40;

/// Makes the packets of one generated stream. IPv4 with a valid checksum, TTL 64, do not fragment;
/// UDP without checksum (RFC 768 allows it); other bytes zero. Sources are of 198.18.0.0/15 (RFC
/// 2544), destinations random in the prefixes, a fixed one for each flow. Flows take turns: packet
/// n is number n / flows of flow n mod flows, and flow f comes from source f mod sources.
///
/// With `syn` the packets are TCP segments with a valid checksum that ask for a connection (RFC
/// 9293): SYN alone, no options; the smallest is padded, a longer one carries zeros. Source,
/// destination, both ports and the sequence number are random for each packet. Source ports begin
/// at 1024, destination ports at 1.
class PacketMaker {
 public:
  /// `destination`: MAC of the port that receives.
  PacketMaker(const GenerateSettings& settings, MacAddress destination, std::uint32_t stream);

  /// Makes the next packet number `ordinal`.
  void seek(std::uint64_t ordinal) noexcept;
  /// Writes the next packet at `to`, which has room for the largest size, and returns its length.
  /// `time_ns` goes into numbered packets.
  std::uint32_t make(std::byte* to, std::uint64_t time_ns) noexcept;

 private:
  struct Template {
    std::vector<std::byte> bytes;
    // Of the headers without what differs between packets, not yet folded.
    std::uint32_t ip_checksum = 0, tcp_checksum = 0;
  };

  Template make_template(std::uint32_t size, MacAddress destination) const;
  const Template& choose_template() const noexcept;
  std::uint32_t destination_of(std::uint64_t random) const noexcept;
  void put_of_flow(const Template& from, std::byte* frame) const noexcept;
  void put_syn(const Template& from, std::byte* frame) const noexcept;
  void next_flow() noexcept;
  void put_numbers(std::byte* payload, std::uint64_t time_ns) const noexcept;

  std::vector<Template> templates_;
  std::vector<Ipv4Prefix> destinations_;
  std::uint64_t flows_;
  std::uint64_t sources_;
  std::uint64_t seed_;
  bool numbered_, syn_;
  std::uint32_t stream_;
  std::uint64_t ordinal_ = 0;
  std::uint64_t flow_ = 0;            ///< ordinal_ mod flows_
  std::uint64_t source_ = 0;          ///< flow_ mod sources_
  std::uint64_t port_ = 0;            ///< flow_ / sources_
  std::uint64_t number_in_flow_ = 0;  ///< ordinal_ / flows_
};

}  // namespace millrace
