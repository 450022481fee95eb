// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_fragments.hpp"

#include <nmmintrin.h>

#include <array>
#include <cstring>

#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

/// What all fragments of a packet have in common (RFC 791 2.3, RFC 8200 4.5). Of IPv6 the protocol
/// of a later one may be hidden.
struct Fragment {
  FlowTuple addresses;
  std::uint32_t id = 0;
};

std::uint32_t ipv6_id(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  // The fragment header ends where the transport, or the rest of it, begins, but for options.
  constexpr std::size_t kFixed = 40, kFragmentHeader = 44;
  std::size_t at = headers.network_offset + kFixed;
  std::uint8_t next = wire_bytes::u8(frame, headers.network_offset + 6u);
  while (next != kFragmentHeader) {
    if (at + 8 > headers.payload_end) return 0;
    next = wire_bytes::u8(frame, at);
    at += (wire_bytes::u8(frame, at + 1) + std::size_t{1}) * 8;
  }
  return at + 8 <= headers.payload_end ? wire_bytes::u32(frame, at + 4) : 0;
}

Fragment fragment_of(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  Fragment fragment;
  FlowTuple& to = fragment.addresses;
  to.version = headers.ip_version;
  const bool is_ipv4 = headers.ip_version == 4;
  const std::size_t bytes = is_ipv4 ? 4 : 16;
  const std::size_t at = headers.network_offset + (is_ipv4 ? 12u : 8u);
  std::memcpy(to.source.data(), frame.data() + at, bytes);
  std::memcpy(to.destination.data(), frame.data() + at + bytes, bytes);
  if (is_ipv4) {
    to.protocol = headers.protocol;
    fragment.id = wire_bytes::u16(frame, headers.network_offset + 4u);
  } else {
    fragment.id = ipv6_id(frame, headers);
  }
  return fragment;
}

}  // namespace

struct FlowFragments::Entry {
  FlowTuple addresses;
  std::uint32_t id;
  std::uint16_t source_port, destination_port;
  std::uint32_t deadline_s;  ///< 0: it is free
  std::uint8_t protocol;
  std::uint8_t padding[11];
};

FlowFragments::Entry* FlowFragments::set_of(const FlowTuple& addresses,
                                            std::uint32_t id) const noexcept {
  static_assert(sizeof(Entry) == kCacheLine);
  std::array<std::uint64_t, 5> words;
  std::memcpy(words.data(), &addresses, sizeof addresses);
  std::uint64_t hash = id;
  for (const std::uint64_t word : words) hash = _mm_crc32_u64(hash, word);
  return reinterpret_cast<Entry*>(state_.bytes.data() + at_) + hash % kSets * kWays;
}

void FlowFragments::remember(std::span<const std::byte> frame, const PacketHeaders& headers,
                             const FlowTuple& tuple, std::uint32_t now_s) noexcept {
  const Fragment fragment = fragment_of(frame, headers);
  Entry* const set = set_of(fragment.addresses, fragment.id);
  Entry* place = set;
  for (Entry* entry = set; entry != set + kWays; ++entry) {
    if (entry->id == fragment.id && entry->addresses == fragment.addresses) {
      place = entry;
      break;
    }
    if (entry->deadline_s < place->deadline_s) place = entry;
  }
  state_.change(*place) = {.addresses = fragment.addresses,
                           .id = fragment.id,
                           .source_port = tuple.source_port,
                           .destination_port = tuple.destination_port,
                           .deadline_s = now_s + kTimeoutS,
                           .protocol = tuple.protocol,
                           .padding = {}};
}

std::optional<FlowTuple> FlowFragments::tuple_of(std::span<const std::byte> frame,
                                                 const PacketHeaders& headers,
                                                 std::uint32_t now_s) const noexcept {
  const Fragment fragment = fragment_of(frame, headers);
  const Entry* const set = set_of(fragment.addresses, fragment.id);
  for (const Entry* entry = set; entry != set + kWays; ++entry) {
    if (entry->deadline_s <= now_s || entry->id != fragment.id) continue;
    if (entry->addresses != fragment.addresses) continue;
    FlowTuple tuple = fragment.addresses;
    tuple.protocol = entry->protocol;
    tuple.source_port = entry->source_port;
    tuple.destination_port = entry->destination_port;
    return tuple;
  }
  return std::nullopt;
}

}  // namespace millrace
