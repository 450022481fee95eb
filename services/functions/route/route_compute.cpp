// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Eight packets side by side (AVX2): 32-bit lane i of each vector belongs to packet i of the eight.
// Values stand in a lane as in memory ("network order") unless a name says host. Frames and entries
// are read by plain loads, frames then transposed: gathers are slow on some processors.

#include "services/functions/route/route_compute.hpp"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "services/functions/frames.hpp"
#include "services/functions/route/ipv6_compute.hpp"

namespace millrace {
namespace {

constexpr std::size_t kLaneCount = 8;
constexpr std::uint32_t kBytesRead = 14 + 20;  ///< of a frame

/// What is read in place of a frame that is too short; not ordinary.
constexpr std::byte kNoFrame[kBytesRead] = {};

/// Eight lanes of 32 bits; operators work on each.
using Lanes = std::uint32_t __attribute__((vector_size(4 * kLaneCount)));
/// What a comparison of Lanes gives: all bits of a lane set where it holds.
using LaneMask = std::int32_t __attribute__((vector_size(4 * kLaneCount)));

__m256i raw(Lanes lanes) noexcept { return reinterpret_cast<__m256i>(lanes); }
Lanes lanes(__m256i raw) noexcept { return reinterpret_cast<Lanes>(raw); }
__m128i load16(const void* at) noexcept { return _mm_loadu_si128(static_cast<const __m128i*>(at)); }
Lanes load(const std::uint32_t* at) noexcept {
  return lanes(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
void store(std::uint32_t* at, Lanes value) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), raw(value));
}
/// One bit a lane: its highest.
std::uint32_t high_bits(__m256i lanes) noexcept {
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}
/// The lower 16 bits of each lane from one vector, the upper ones from the other.
Lanes join_halves(Lanes lower, Lanes upper) noexcept {
  return lanes(_mm256_blend_epi16(raw(lower), raw(upper), 0b10101010));
}

/// Constants, the same in all lanes. Read from memory they are operands of the instructions that
/// need them; left to itself, GCC makes each in three instructions, again for every eight packets.
struct Constants {
  static constexpr Lanes all(std::uint32_t value) noexcept {
    return Lanes{value, value, value, value, value, value, value, value};
  }
  Lanes bytes_read = all(kBytesRead);
  Lanes reverse_bytes = {0x00010203, 0x04050607, 0x08090a0b, 0x0c0d0e0f,
                         0x00010203, 0x04050607, 0x08090a0b, 0x0c0d0e0f};
  Lanes lower_half = all(0xffff);
  Lanes plain_bits = all(0xffff00ff);  ///< see is_plain()
  Lanes plain = all(0x00080045);
  Lanes type_bits = all(0xffff0000);  ///< see is_ipv6()
  Lanes ipv6_type = all(0xdd860000);
  Lanes header_bytes = all(20);
  Lanes signs = all(0x80008000);  ///< see sums_up()
  Lanes ones = all(0x00010001);
  Lanes good_sum = all(0xffff - 5);
  Lanes low_seven_bits = all(0x7f7f7f7f);  ///< see odd_addresses()
  Lanes high_four_bits = all(0xf0f0f0f0);
  Lanes multicast = all(0xe0e0e0e0);
  Lanes first_bytes = all(0x00ff00ff);
  Lanes link_local = all(0xfea9fea9);
  Lanes first_factor = all(OwnFilter::kFirstFactor);
  Lanes second_factor = all(OwnFilter::kSecondFactor);
  Lanes bits_of_word = all(31);
  Lanes one = all(1);
  Lanes ttl_above_one = all(0xfe);
  Lanes expired = all(kRouteTtlExpired);
};

const Constants& constants() noexcept {
  static constexpr Constants kConstants;
  const Constants* at = &kConstants;
  asm("" : "+r"(at));  // the compiler forgets what it points at
  return *at;
}

Lanes host_order(Lanes network, const Constants& k) noexcept {
  return lanes(_mm256_shuffle_epi8(raw(network), raw(k.reverse_bytes)));
}

/// What is read of eight frames; bytes are counted from a frame's start.
struct Headers {
  Lanes type;             ///< bytes 10..13: of the source MAC; EtherType
  Lanes version;          ///< bytes 14..17: version, header length, service; total length
  Lanes identification;   ///< bytes 18..21: identification; fragment
  Lanes ttl;              ///< bytes 22..25: TTL, protocol; checksum
  Lanes source;           ///< bytes 26..29
  Lanes destination;      ///< bytes 30..33
  std::uint32_t any_mac;  ///< bytes 0..3 of all, by OR
};

/// Bytes [at, at + 16) of two frames, one in each half.
__m256i load_two(const std::byte* lower, const std::byte* upper, std::size_t at) noexcept {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(lower + at)), load16(upper + at), 1);
}

/// Where eight frames are. Those too short to be read are kNoFrame, in a copy.
class Eight {
 public:
  Eight(const std::uint64_t* address, std::uint32_t too_short) noexcept : at_(address) {
    if (too_short != 0) [[unlikely]]
      leave_out(too_short);
  }
  Eight(const Eight&) = delete;  // at_ may be copy_
  Eight& operator=(const Eight&) = delete;
  const std::byte* operator[](std::size_t i) const noexcept {
    return reinterpret_cast<const std::byte*>(at_[i]);
  }

 private:
  void leave_out(std::uint32_t too_short) noexcept {
    for (std::size_t i = 0; i < kLaneCount; ++i) {
      const bool is_short = (too_short >> i & 1) != 0;
      copy_[i] = is_short ? reinterpret_cast<std::uint64_t>(kNoFrame) : at_[i];
    }
    at_ = copy_;
  }

  const std::uint64_t* at_;
  std::uint64_t copy_[kLaneCount];
};

/// The lower half of a vector holds the first four of the frames. Two transpositions
/// of 4 x 4 words in each half: of bytes 2..17, the first two words of which are not used, and of
/// 18..33.
/// Two loops have it inside: left to itself, GCC calls it and passes the result through memory.
[[gnu::always_inline]] inline Headers load_headers(const Eight& frames) noexcept {
  __m256i front[4], back[4];
  std::uint32_t any_mac = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::byte* lower = frames[i];
    const std::byte* upper = frames[i + 4];
    front[i] = load_two(lower, upper, 2);
    back[i] = load_two(lower, upper, 18);
    std::uint32_t mac[2];
    std::memcpy(&mac[0], lower, sizeof mac[0]);
    std::memcpy(&mac[1], upper, sizeof mac[1]);
    any_mac |= mac[0];
    any_mac |= mac[1];
  }
  const __m256i front_01 = _mm256_unpackhi_epi32(front[0], front[1]);
  const __m256i front_23 = _mm256_unpackhi_epi32(front[2], front[3]);
  const __m256i middle_01 = _mm256_unpacklo_epi32(back[0], back[1]);
  const __m256i middle_23 = _mm256_unpacklo_epi32(back[2], back[3]);
  const __m256i back_01 = _mm256_unpackhi_epi32(back[0], back[1]);
  const __m256i back_23 = _mm256_unpackhi_epi32(back[2], back[3]);
  return {.type = lanes(_mm256_unpacklo_epi64(front_01, front_23)),
          .version = lanes(_mm256_unpackhi_epi64(front_01, front_23)),
          .identification = lanes(_mm256_unpacklo_epi64(middle_01, middle_23)),
          .ttl = lanes(_mm256_unpackhi_epi64(middle_01, middle_23)),
          .source = lanes(_mm256_unpacklo_epi64(back_01, back_23)),
          .destination = lanes(_mm256_unpackhi_epi64(back_01, back_23)),
          .any_mac = any_mac};
}

/// EtherType 0x0800, version 4, header of 20 bytes.
LaneMask is_plain(const Headers& header, const Constants& k) noexcept {
  return (join_halves(header.version, header.type) & k.plain_bits) == k.plain;
}

LaneMask is_ipv6(const Headers& header, const Constants& k) noexcept {
  return (header.type & k.type_bits) == k.ipv6_type;
}

/// The frame holds the header and what its total length says. `length`: at least kBytesRead.
LaneMask is_whole(const Headers& header, Lanes length, const Constants& k) noexcept {
  const Lanes total = host_order(header.version, k) & k.lower_half;
  return total - k.header_bytes <= length - k.bytes_read;
}

/// The ones' complement sum of the ten 16-bit words of the header is 0xffff (RFC 1071, which says
/// too that either byte order will do). The instruction that adds the two halves of a lane takes
/// them as signed; so each is lowered by 0x8000, and the sum of all is 5 x 0x10000 too low.
LaneMask sums_up(const Headers& header, const Constants& k) noexcept {
  const auto add_halves = [&](Lanes word) {
    return lanes(_mm256_madd_epi16(raw(word ^ k.signs), raw(k.ones)));
  };
  const Lanes sum = (add_halves(header.version) + add_halves(header.identification)) +
                    (add_halves(header.ttl) + add_halves(header.source)) +
                    add_halves(header.destination);
  // The upper half holds the carries, less 5: -5..4. Added to the lower half they do not carry over
  // into a good sum again.
  const Lanes folded = lanes(_mm256_srai_epi32(raw(sum), 16)) + sum;
  return (folded & k.lower_half) == k.good_sum;
}

/// Not 0 where source or destination begins with a byte that needs a closer look, 0, 127, 224..239
/// or 255, or with 169.254: see never_routed().
Lanes odd_addresses(const Headers& header, const Constants& k) noexcept {
  // Halves of a lane begin as source and destination do.
  const __m256i bytes = raw(join_halves(header.source, header.destination << 16));
  const auto equal = [&](Lanes bits, Lanes value) {
    return lanes(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, raw(bits)), raw(value)));
  };
  const Lanes zero = lanes(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256()));
  const Lanes link_local = lanes(_mm256_cmpeq_epi16(bytes, raw(k.link_local)));
  return (zero | equal(k.low_seven_bits, k.low_seven_bits) | equal(k.high_four_bits, k.multicast) |
          link_local) &
         k.first_bytes;
}

/// OwnFilter::hash()
Lanes own_hash(Lanes address, const Constants& k) noexcept {
  address = (address ^ address >> OwnFilter::kSecondShift) * k.first_factor;
  address = (address ^ address >> OwnFilter::kFirstShift) * k.second_factor;
  return address ^ address >> OwnFilter::kSecondShift;
}

/// Not 0 where the source may be an address of ours: OwnFilter::may_have() of its hash.
Lanes maybe_own(const Headers& header, const OwnFilter& filter, const Constants& k) noexcept {
  Lanes hash = own_hash(host_order(header.source, k), k);
  Lanes all = k.one;
  for (const auto& table : filter.words) {
    // The word by three bits of the hash; of higher ones the instruction knows nothing.
    const __m256i word = _mm256_permutevar8x32_epi32(raw(load(table)), raw(hash >> 5));
    all &= lanes(_mm256_srlv_epi32(word, raw(hash & k.bits_of_word)));
    hash >>= 8;
  }
  return all;
}

/// One bit a lane: nothing in the IPv4 header asks for a closer look.
std::uint32_t ordinary_headers(const Headers& header, Lanes length, const RouteTable& table,
                               const Constants& k) noexcept {
  const Lanes odd = odd_addresses(header, k) | maybe_own(header, *table.own_filter, k);
  return high_bits(raw(reinterpret_cast<Lanes>(is_plain(header, k) & is_whole(header, length, k) &
                                               sums_up(header, k) & (odd == 0))));
}

/// One bit a lane: the destination MAC is a group's.
std::uint32_t to_groups(const Headers& header, const Eight& frames) noexcept {
  if ((header.any_mac & 1) == 0) [[likely]]
    return 0;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    bits |= (std::to_integer<std::uint32_t>(*frames[i]) & 1) << i;
  }
  return bits;
}

/// For packets that do not lie side by side, or end amid eight: then zeros follow.
const std::uint16_t* copy_lengths(const Batch& batch, std::span<const std::uint16_t> packets,
                                  std::uint16_t* copy) noexcept {
  std::size_t i = 0;
  for (; i < packets.size(); ++i) copy[i] = batch.length[packets[i]];
  for (; i % kLaneCount != 0; ++i) copy[i] = 0;
  return copy;
}

/// What is known of each packet before the look-up.
struct alignas(32) Checked {
  std::uint32_t word[kFramesMax];     ///< of route_check()
  std::uint32_t address[kFramesMax];  ///< destination, host byte order
  std::uint32_t entry[kFramesMax];    ///< its place in RouteTable::table24
};

/// Sets `checked`, prefetches entries, and returns one bit a packet: set where it is what most are,
/// plain IPv4 without options in which nothing is wrong. The word of others says nothing. `ipv6`
/// gets the bits of those of IPv6, if wanted.
template <bool kWithIpv6>
std::uint64_t check(const RouteTable& table, const std::uint16_t* lengths, std::size_t count,
                    const Frames& frames, Checked& checked, std::uint64_t& ipv6) noexcept {
  const Constants& k = constants();
  std::uint64_t ordinary = 0;
  for (std::size_t at = 0; at < count; at += kLaneCount) {
    const Lanes length = lanes(_mm256_cvtepu16_epi32(load16(lengths + at)));
    const Eight eight(frames.address + at,
                      high_bits(_mm256_cmpgt_epi32(raw(k.bytes_read), raw(length))));
    const Headers header = load_headers(eight);
    Lanes address = host_order(header.destination, k);
    if constexpr (kWithIpv6) {
      const Lanes other = reinterpret_cast<Lanes>(is_ipv6(header, k));
      address &= ~other;  // looked up too, as 0.0.0.0, instead of a branch for all
      ipv6 |= std::uint64_t{high_bits(raw(other))} << at;
    }
    store(checked.address + at, address);
    store(checked.entry + at, address >> 8);
    store(checked.word + at,
          reinterpret_cast<Lanes>((header.ttl & k.ttl_above_one) == 0) & k.expired);
    for (std::size_t i = at; i < at + kLaneCount; ++i) {
      __builtin_prefetch(table.table24 + checked.entry[i]);
    }
    const std::uint32_t bits =
        ordinary_headers(header, length, table, k) & ~to_groups(header, eight);
    ordinary |= std::uint64_t{bits} << at;
  }
  return ordinary;
}

/// Asks route_check() about the packets with a bit set in `odd`.
[[gnu::noinline]] void check_odd(const RouteTable& table, const Batch& batch,
                                 std::span<const std::uint16_t> packets, std::uint64_t odd,
                                 Checked& checked) noexcept {
  for (; odd != 0; odd &= odd - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(odd));
    const std::uint16_t packet = packets[i];
    checked.word[i] = route_check(batch.bytes(packet), batch.wire_length(packet), table);
    // A dropped packet is looked up too, as 0.0.0.0, instead of a branch for all.
    if ((checked.word[i] & kRouteDrop) != 0) checked.address[i] = checked.entry[i] = 0;
  }
}

/// table24 at eight entries.
__m256i load_entries(const std::uint32_t* table24, const std::uint32_t* entries) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<int>(table24[entries[i]]); };
  const auto four_from = [&](std::size_t i) {
    __m128i four = _mm_cvtsi32_si128(at(i));
    four = _mm_insert_epi32(four, at(i + 1), 1);
    four = _mm_insert_epi32(four, at(i + 2), 2);
    return _mm_insert_epi32(four, at(i + 3), 3);
  };
  return _mm256_set_m128i(four_from(4), four_from(0));
}

/// Writes `count` words, in whole eights: those of `checked`, and the next hops of what was not
/// dropped.
void look_up(const RouteTable& table, const Checked& checked, std::size_t count,
             std::uint32_t* words) noexcept {
  static_assert(kRouteDrop == 1u << 31 && kBlockFlag == 1u << 31, "high_bits() and signs");
  for (std::size_t at = 0; at < count; at += kLaneCount) {
    __m256i hops = load_entries(table.table24, checked.entry + at);
    if (high_bits(hops) != 0) [[unlikely]] {
      std::uint32_t found[kLaneCount];
      for (std::size_t i = 0; i < kLaneCount; ++i) {
        found[i] = table.look_up(checked.address[at + i]);
      }
      hops = raw(load(found));
    }
    const Lanes word = load(checked.word + at);
    const __m256i dropped = _mm256_srai_epi32(raw(word), 31);
    store(words + at, word | lanes(_mm256_andnot_si256(dropped, hops)));
  }
}

/// 1..kFramesMax packets, which lie at `frames`. Without routes of IPv6 nothing of it is in the
/// code that runs.
template <bool kWithIpv6>
void compute_some(const RouteTable& table, const Batch& batch,
                  std::span<const std::uint16_t> packets, const Frames& frames,
                  std::span<std::uint32_t> results) noexcept {
  const bool in_place = packets.size() % kLaneCount == 0 && side_by_side(packets);
  std::uint16_t copy[kFramesMax];
  const std::uint16_t* lengths =
      in_place ? batch.length.data() + packets.front() : copy_lengths(batch, packets, copy);
  const std::size_t count = (packets.size() + kLaneCount - 1) / kLaneCount * kLaneCount;
  Checked checked;
  std::uint64_t ipv6 = 0;
  std::uint64_t known = check<kWithIpv6>(table, lengths, count, frames, checked, ipv6);
  const std::uint64_t all = ~std::uint64_t{0} >> (kFramesMax - packets.size());
  if constexpr (kWithIpv6) {
    ipv6 &= all;
    known |= ipv6;
    if (ipv6 != 0) compute_ipv6(table, batch, packets, ipv6, frames, results);
    if (ipv6 == all) return;
  }
  if (known != all) check_odd(table, batch, packets, all & ~known, checked);
  if (in_place && ipv6 == 0) [[likely]] {
    look_up(table, checked, count, results.data() + packets.front());
    return;
  }
  std::uint32_t words[kFramesMax];
  look_up(table, checked, count, words);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    if ((ipv6 >> i & 1) == 0) results[packets[i]] = words[i];
  }
}

}  // namespace

void route_compute(const RouteTable& table, const Batch& batch,
                   std::span<const std::uint16_t> packets, const Frames& frames,
                   std::span<std::uint32_t> results) noexcept {
  if (table.ipv6.present()) {
    compute_some<true>(table, batch, packets, frames, results);
  } else {
    compute_some<false>(table, batch, packets, frames, results);
  }
}

void route_compute(const RouteTable& table, const Batch& batch,
                   std::span<const std::uint16_t> packets,
                   std::span<std::uint32_t> results) noexcept {
  for_each_part(batch, packets, [&](std::span<const std::uint16_t> some, const Frames& frames) {
    route_compute(table, batch, some, frames, results);
  });
}

}  // namespace millrace
