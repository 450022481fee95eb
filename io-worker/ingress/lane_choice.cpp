// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/lane_choice.hpp"

#include <nmmintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet.hpp"
#include "shared/packet/quoted_headers.hpp"
#include "shared/packet/tick.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kIcmp, ip_protocol::kTcp, ip_protocol::kUdp;

std::uint32_t hash_of(std::span<const std::byte> address) noexcept {
  std::uint64_t hash = ~0u;
  for (std::size_t at = 0; at < address.size(); at += 4) {
    std::uint32_t word;
    std::memcpy(&word, address.data() + at, sizeof word);
    hash = _mm_crc32_u32(static_cast<std::uint32_t>(hash), word);
  }
  return static_cast<std::uint32_t>(hash);
}

}  // namespace

/// Both ends of the packet; of an ICMP error, of an answer to the packet that it quotes: the error
/// has the same lane as such an answer.
struct LaneChoice::Ends {
  std::span<const std::byte> source, destination;  ///< 4 or 16 bytes; empty: no IP
  std::uint8_t protocol = 0;
  bool has_port = false;
  std::uint16_t port = 0;    ///< of the destination; of ICMP the identifier
  std::uint64_t packet = 0;  ///< Fragmented::packet; 0: it is no fragment of IPv4
  bool later = false;        ///< a fragment other than the first

  static Ends of(std::span<const std::byte> frame) noexcept {
    const PacketHeaders headers = parse_headers(frame);
    if (headers.ip_version == 0) return {};
    const std::optional<PacketHeaders> quoted = quoted_headers(frame, headers);
    const PacketHeaders& from = quoted ? *quoted : headers;
    const std::size_t bytes = from.ip_version == 4 ? 4 : 16;
    const std::size_t at = from.network_offset + (from.ip_version == 4 ? 12u : 8u);
    Ends ends{.source = frame.subspan(at, bytes),
              .destination = frame.subspan(at + bytes, bytes),
              .protocol = from.protocol};
    if (from.transport_offset != 0) {
      const std::size_t rest = headers.payload_end - std::size_t{from.transport_offset};
      ends.set_port(frame.subspan(from.transport_offset, rest), quoted.has_value());
    }
    if (quoted) std::swap(ends.source, ends.destination);
    if (headers.fragment && headers.ip_version == 4) ends.set_fragment(frame, headers);
    return ends;
  }

 private:
  void set_fragment(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
    const std::uint64_t addresses =
        std::uint64_t{wire_bytes::u32(source, 0)} << 32 | wire_bytes::u32(destination, 0);
    const std::uint64_t rest =
        std::uint64_t{headers.protocol} << 16 | wire_bytes::u16(frame, headers.network_offset + 4u);
    packet = (addresses ^ rest * 0x9e3779b97f4a7c15) | 1;
    later = !headers.first_fragment;
  }
  /// `of_source`: the port that the packet came from, as an answer goes there.
  void set_port(std::span<const std::byte> transport, bool of_source) noexcept {
    const bool icmp = protocol == kIcmp;
    if (!icmp && protocol != kTcp && protocol != kUdp) return;
    const std::size_t at = icmp ? 4 : of_source ? 0 : 2;
    if (at + 2 > transport.size()) return;
    has_port = true;
    port = wire_bytes::u16(transport, at);
  }
};

LaneChoice::LaneChoice(const PlanPath& path, std::uint32_t port)
    : lane_count_(path.lane_count),
      by_(path.lanes_by),
      in_turn_(!path.ordered),
      inside_(std::ranges::find(path.translation.inside, port) != path.translation.inside.end()),
      block_(path.translation.block),
      pool_(path.translation.pool),
      fixed_(path.translation.fixed),
      fragmented_(by_ == LanesBy::kInside && !inside_ ? kFragmentedMax : 0) {}

std::uint32_t LaneChoice::by_ends(std::span<const std::byte> frame) const noexcept {
  if (is_tick(frame)) return static_cast<std::uint32_t>(read_tick(frame).number % lane_count_);
  const Ends ends = Ends::of(frame);
  if (ends.source.empty()) return scaled(flow_hash_of(frame));
  if (by_ == LanesBy::kInside) {
    if (inside_) return scaled(hash_of(ends.source));
    return ends.packet != 0 ? of_fragment(ends) : from_outside(ends);
  }
  return scaled(mix_flow_ends(hash_of(ends.source), hash_of(ends.destination), 0));
}

/// Later fragments take the lane of the first one; a fragment before the first has no port.
std::uint32_t LaneChoice::of_fragment(const Ends& ends) const noexcept {
  Fragmented& place = fragmented_[(ends.packet * 0x9e3779b97f4a7c15) >> 56];
  if (ends.later) return place.packet == ends.packet ? place.lane : from_outside(ends);
  place = {ends.packet, from_outside(ends)};
  return place.lane;
}

bool LaneChoice::in_pool(std::uint32_t address) const noexcept {
  return std::ranges::any_of(pool_, [&](const PlanTranslation::Range& range) {
    return address >= range.first && address <= range.last;
  });
}

std::uint32_t LaneChoice::from_outside(const Ends& ends) const noexcept {
  if (ends.destination.size() != 4) return scaled(hash_of(ends.destination));
  const std::uint32_t address = wire_bytes::u32(ends.destination, 0);
  for (const PlanFixedAddress& fixed : fixed_) {
    if (address < fixed.outside || address - fixed.outside >= fixed.count) continue;
    const bool all = fixed.protocol == 0;
    if (!all && (fixed.protocol != ends.protocol || !ends.has_port || fixed.port != ends.port)) {
      continue;
    }
    std::array<std::byte, 4> inside;
    wire_bytes::put32(inside, 0, fixed.inside + (address - fixed.outside));
    return scaled(hash_of(inside));
  }
  if (ends.has_port && in_pool(address)) return ends.port / block_ % lane_count_;
  return scaled(hash_of(ends.destination));
}

}  // namespace millrace
