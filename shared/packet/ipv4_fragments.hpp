// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

/// The fragments of an IPv4 datagram (RFC 791 3.2): each a whole datagram of at most `mtu` bytes.
/// Their data follows each other in order and without overlap; all but the last hold a multiple of
/// 8 bytes of it. A datagram that is itself a fragment keeps its place: its offset is added, and
/// its last fragment has MF as it has.
///
/// The first fragment has all options, the later ones those with the copied flag, in the same order
/// and filled up with ends of options; of malformed options those in front of the malformed one.
/// Identification, TOS, TTL and the reserved flag are the datagram's, header checksums are made
/// anew.
class Ipv4Fragments {
 public:
  /// Borrows `datagram`, from the IPv4 header on; bytes behind its total length are padding.
  /// `mtu`: of the link that it leaves by, in bytes, from 68 (RFC 791) on.
  Ipv4Fragments(std::span<const std::byte> datagram, std::size_t mtu) noexcept;

  /// 1: the datagram fits, and is what write() writes, unchanged, also with DF set. 0: it cannot be
  /// sent: it does not fit and DF is set or `mtu` has no room for a header and 8 bytes of data; or
  /// it is no datagram: no whole header, cut, or with data beyond offset 65,535.
  std::uint32_t count() const noexcept { return count_; }

  /// Writes fragment `number`, below count(), to the start of `out`; at most `mtu` bytes. Returns
  /// its bytes, header and data; 0, and nothing is written: there is no such fragment, or `out` is
  /// too short for it. In any order, any number of times.
  std::size_t write(std::uint32_t number, std::span<std::byte> out) const noexcept;

 private:
  struct Piece {
    std::size_t begin, end;  // within the data of the datagram
  };

  void split(std::size_t mtu) noexcept;
  void copy_options() noexcept;
  Piece piece(std::uint32_t number) const noexcept;
  void write_header(std::uint32_t number, Piece piece, std::span<std::byte> out) const noexcept;
  std::size_t data_bytes() const noexcept { return datagram_.size() - header_bytes_; }

  std::span<const std::byte> datagram_;  // header and data, without padding
  std::size_t header_bytes_ = 0;         // of the datagram and of its first fragment
  std::size_t first_bytes_ = 0;          // data of the first fragment
  std::size_t later_bytes_ = 0;          // data of those between the first and the last
  std::uint32_t count_ = 0;
  std::size_t later_options_bytes_ = 0;
  std::array<std::byte, 40> later_options_ = {};
};

}  // namespace millrace
