// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ipv4_fragments.hpp"

#include <algorithm>
#include <cstring>

#include "shared/packet/ipv4_option_walk.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/put_headers.hpp"

namespace millrace {
namespace {

namespace wire = ipv4_wire;

constexpr std::size_t kUnitBytes = 8;  // of the fragment offset
constexpr std::size_t kDataEndMax = 65'535;

constexpr std::size_t whole_units(std::size_t bytes) noexcept {
  return bytes / kUnitBytes * kUnitBytes;
}

void copy(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace

Ipv4Fragments::Ipv4Fragments(std::span<const std::byte> datagram, std::size_t mtu) noexcept {
  header_bytes_ = wire::header_bytes(datagram);
  if (header_bytes_ == 0) return;
  const std::size_t total_bytes = wire::u16(datagram, wire::kTotalLengthAt);
  if (total_bytes < header_bytes_ || total_bytes > datagram.size()) return;
  datagram_ = datagram.first(total_bytes);
  const std::uint16_t field = wire::u16(datagram, wire::kFragmentAt);
  const std::size_t offset = (field & wire::kFragmentOffset) * kUnitBytes;
  if (offset + data_bytes() > kDataEndMax) return;
  if (total_bytes <= mtu) {
    count_ = 1;
  } else if ((field & wire::kDontFragment) == 0) {
    split(mtu);
  }
}

void Ipv4Fragments::split(std::size_t mtu) noexcept {
  if (mtu < header_bytes_ + kUnitBytes) return;
  copy_options();
  const std::size_t later_room = mtu - wire::kHeaderBytesMin - later_options_bytes_;
  first_bytes_ = whole_units(mtu - header_bytes_);
  later_bytes_ = whole_units(later_room);
  // The last may fill its room, which need not be whole units.
  const std::size_t rest = data_bytes() - first_bytes_;
  const std::size_t between =
      rest <= later_room ? 0 : (rest - later_room + later_bytes_ - 1) / later_bytes_;
  count_ = static_cast<std::uint32_t>(2 + between);
}

void Ipv4Fragments::copy_options() noexcept {
  ipv4_options::Walk walk(datagram_.first(header_bytes_));
  while (walk.next() && !walk.malformed()) {
    const std::span<const std::byte> option = datagram_.subspan(walk.at(), walk.bytes());
    if ((wire::u8(option, 0) & ipv4_options::kCopied) == 0) continue;
    copy(option, std::span(later_options_).subspan(later_options_bytes_));
    later_options_bytes_ += option.size();
  }
  later_options_bytes_ = (later_options_bytes_ + 3) / 4 * 4;
}

Ipv4Fragments::Piece Ipv4Fragments::piece(std::uint32_t number) const noexcept {
  const std::size_t begin = number == 0 ? 0 : first_bytes_ + (number - 1) * later_bytes_;
  if (number + 1 == count_) return {begin, data_bytes()};
  return {begin, begin + (number == 0 ? first_bytes_ : later_bytes_)};
}

void Ipv4Fragments::write_header(std::uint32_t number, Piece piece,
                                 std::span<std::byte> out) const noexcept {
  if (number == 0) {
    copy(datagram_.first(header_bytes_), out);
  } else {
    copy(datagram_.first(wire::kHeaderBytesMin), out);
    copy(std::span(later_options_).first(later_options_bytes_), out.subspan(wire::kHeaderBytesMin));
    wire::put8(out, 0, static_cast<std::uint8_t>(0x40 | out.size() / 4));
  }
  // The offset does not overflow: the data ends at kDataEndMax at most.
  unsigned field = wire::u16(datagram_, wire::kFragmentAt);
  field += static_cast<unsigned>(piece.begin / kUnitBytes);
  if (number + 1 < count_) field |= wire::kMoreFragments;
  wire::put16(out, wire::kFragmentAt, static_cast<std::uint16_t>(field));
  wire::put16(out, wire::kTotalLengthAt,
              static_cast<std::uint16_t>(out.size() + piece.end - piece.begin));
  put_ipv4_checksum(out);
}

std::size_t Ipv4Fragments::write(std::uint32_t number, std::span<std::byte> out) const noexcept {
  if (number >= count_) return 0;
  if (count_ == 1) {
    if (out.size() < datagram_.size()) return 0;
    copy(datagram_, out);
    return datagram_.size();
  }
  const Piece data = piece(number);
  const std::size_t header_bytes =
      number == 0 ? header_bytes_ : wire::kHeaderBytesMin + later_options_bytes_;
  const std::size_t bytes = header_bytes + data.end - data.begin;
  if (out.size() < bytes) return 0;
  write_header(number, data, out.first(header_bytes));
  copy(datagram_.subspan(header_bytes_ + data.begin, data.end - data.begin),
       out.subspan(header_bytes));
  return bytes;
}

}  // namespace millrace
