// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/packet/ipv6_bytes.hpp"

namespace millrace {

/// What all fragments of a datagram have in common (RFC 791 3.2, RFC 8200 4.5).
struct FragmentKey {
  Ipv6Bytes source{}, destination{};  ///< of IPv4 the first four bytes
  std::uint32_t identification = 0;
  std::uint8_t protocol = 0;
  bool is_ipv6 = false;
  friend bool operator==(const FragmentKey&, const FragmentKey&) = default;
};

/// One fragment. Borrowed.
struct Fragment {
  FragmentKey key;
  std::size_t at = 0;  ///< of its data in the datagram's, in bytes; a multiple of 8
  bool more = false;   ///< it is not the last
  std::span<const std::byte> data;
  /// What is to stand in front of the datagram's data, of the fragment with `at` 0.
  std::span<const std::byte> front;
};

/// Puts datagrams together out of fragments, in any order. Their number and bytes are bounded: of
/// more datagrams the oldest is forgotten, and one that is not whole in kTimeNs (RFC 1122 3.3.2,
/// RFC 8200 4.5). Fragments that overlap, contradict each other, or reach behind kDataBytesMax
/// refuse their datagram, those that come later too (RFC 1858, RFC 5722); only one that is there
/// already, byte by byte, does no harm. Private memory of one worker, with which what is half done
/// dies; only the constructor allocates.
class Reassembler {
 public:
  static constexpr std::size_t kDatagramsMax = 32;
  static constexpr std::size_t kDataBytesMax = 4096;
  static constexpr std::size_t kFrontBytesMax = 54;  ///< Ethernet, IPv6
  static constexpr std::uint64_t kTimeNs = 60'000'000'000;

  Reassembler() : datagrams_(kDatagramsMax) {}

  enum class Outcome : std::uint8_t { kWaits, kWhole, kRefused };
  /// kWhole: whole() has it. `now_ns`: any clock that does not go back.
  Outcome add(const Fragment& fragment, std::uint64_t now_ns) noexcept;
  /// Front and data of the datagram that add() has completed, to be changed at will; until the next
  /// add().
  std::span<std::byte> whole() noexcept { return whole_; }

 private:
  static constexpr std::size_t kUnitBytes = 8;
  struct Datagram {
    FragmentKey key;
    bool used = false;
    bool refused = false;
    std::uint64_t since_ns = 0;
    std::size_t end = 0;    ///< of all its data; 0: not known yet
    std::size_t reach = 0;  ///< end of what has come
    std::size_t front_bytes = 0;
    std::bitset<kDataBytesMax / kUnitBytes> units;                ///< that have come
    std::array<std::byte, kFrontBytesMax + kDataBytesMax> bytes;  ///< the front ends at its place
  };

  Datagram& place_of(const FragmentKey& key, std::uint64_t now_ns) noexcept;
  static bool contradicts(const Datagram& datagram, const Fragment& fragment) noexcept;
  static bool overlaps(const Datagram& datagram, const Fragment& fragment, bool& same) noexcept;
  static void take(Datagram& datagram, const Fragment& fragment) noexcept;

  std::vector<Datagram> datagrams_;
  std::span<std::byte> whole_;
};

}  // namespace millrace
