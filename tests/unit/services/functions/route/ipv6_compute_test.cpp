// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What each verdict is stands in tests/golden/route_ipv6.golden; here: the two forms of the checks
// agree, in batches of both families too, and nothing else is touched.

#include "services/functions/route/ipv6_compute.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "services/functions/route/route_compute.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kUntouched = 0x55555555;

const BuiltRoutes& routes() {
  static const BuiltRoutes kRoutes(
      "10.2.0.0/16 wan 02:00:00:00:00:02\n10.2.0.8/29 lan 02:00:00:00:00:03\n"
      "2001:db8:2::/48 wan 02:00:00:00:00:02\n2001:db8:2:0::/64 lan 02:00:00:00:00:03\n"
      "2001:db8:2::8/125 wan 02:00:00:00:00:04\n2600::/12 wan 02:00:00:00:00:05\n");
  return kRoutes;
}

std::vector<std::uint16_t> all_of(const Batch& batch) {
  std::vector<std::uint16_t> packets(batch.count);
  std::iota(packets.begin(), packets.end(), std::uint16_t{0});
  return packets;
}

/// The word as README.md defines it: checks one after the other, then the look-up.
std::uint32_t slow_word(const Batch& batch, std::uint16_t packet) {
  const RouteTable& table = routes().table();
  const std::span<const std::byte> frame = batch.bytes(packet);
  const std::uint32_t word = route_check(frame, batch.wire_length(packet), table);
  if ((word & kRouteDrop) != 0) return word;
  const auto address = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = at; i < at + size; ++i) {
      value = value << 8 | std::to_integer<std::uint64_t>(frame[i]);
    }
    return value;
  };
  if (frame[12] == std::byte{0x86}) {
    EXPECT_NE(word & kRouteIpv6, 0u);
    return word | table.ipv6.look_up({address(38, 8), address(46, 8)});
  }
  EXPECT_EQ(word & kRouteIpv6, 0u);
  return word | table.look_up(static_cast<std::uint32_t>(address(30, 4)));
}

/// Runs route_compute() over `packets`; expects the words of the slow form there, and nothing
/// elsewhere. Returns how many packets of IPv6 go on.
std::size_t expect_agreement(const Batch& batch, std::span<const std::uint16_t> packets) {
  const std::span<std::uint32_t> words = batch.results(0);
  std::ranges::fill(words, kUntouched);
  route_compute(routes().table(), batch, packets, words);
  std::size_t next = 0, forwarded = 0;
  for (std::uint16_t i = 0; i < batch.count; ++i) {
    const bool selected = next < packets.size() && packets[next] == i;
    next += selected ? 1 : 0;
    const std::uint32_t expected = selected ? slow_word(batch, i) : kUntouched;
    forwarded += (expected & kRouteDrop) == 0 && (expected & kRouteIpv6) != 0 && selected ? 1 : 0;
    if (words[i] == expected) continue;
    ADD_FAILURE() << "packet " << i << " of " << packets.size() << ": " << std::hex << words[i]
                  << " instead of " << expected;
    return forwarded;
  }
  return forwarded;
}

std::vector<std::byte> random_ipv6_frame(std::mt19937& random) {
  static const Ipv6Address kAddresses[] = {ipv6("2001:db8:2::7"),
                                           ipv6("2001:db8:2::9"),
                                           ipv6("2001:db8:2:1::1"),
                                           ipv6("2001:db8::1"),
                                           ipv6("2001:db8::"),
                                           ipv6("2001:db8::2"),
                                           ipv6("::"),
                                           ipv6("::1"),
                                           ipv6("fe80::1"),
                                           ipv6("ff02::1"),
                                           ipv6("2600:9::1"),
                                           ipv6("::ffff:10.2.0.7"),
                                           ipv6("64:ff9b::a02:7"),
                                           ipv6("fec0::1"),
                                           ipv6("3fff::1"),
                                           ipv6("2001:db8:2:0:8::")};
  Ipv6FrameSpec spec;
  spec.destination_mac_first = random() % 16 == 0 ? 0x33 : 0x02;
  if (random() % 4 == 0) spec.source = kAddresses[random() % 16];
  spec.destination = kAddresses[random() % 16];
  spec.hop_limit = static_cast<std::uint8_t>(random() % 8 == 0 ? random() % 3 : random());
  spec.next_header = static_cast<std::uint8_t>(random() % 4 == 0 ? 0 : random());
  spec.payload = static_cast<std::uint16_t>(random() % 4 == 0 ? 0 : random() % 64);
  std::vector<std::byte> frame = make_ipv6_frame(spec);
  if (random() % 4 == 0) frame[12 + random() % 42] = std::byte(random());
  if (random() % 8 == 0) put16(frame, 18, random() % 100);
  if (random() % 8 == 0) frame.resize(random() % frame.size());
  if (random() % 8 == 0) frame.resize(frame.size() + random() % 20);
  return frame;
}

std::vector<std::byte> random_ipv4_frame(std::mt19937& random) {
  FrameSpec spec;
  spec.destination = 0x0a020000 | random() % 32;
  spec.ttl = static_cast<std::uint8_t>(random());
  spec.option_words = static_cast<std::uint8_t>(random() % 8 == 0 ? random() % 11 : 0);
  std::vector<std::byte> frame = make_frame(spec);
  if (random() % 8 == 0) frame[12 + random() % 22] ^= std::byte{1};
  return frame;
}

TEST(Ipv6Compute, TheFastFormAgreesWithTheSlowOneInBatchesOfBothFamilies) {
  std::mt19937 random(5);
  std::size_t forwarded = 0;
  for (int round = 0; round < 3000 && !HasFailure(); ++round) {
    BatchArena arena(1 + random() % 200);
    const std::uint32_t ipv6_in_8 = random() % 9;
    while (!arena.full()) {
      const std::vector<std::byte> frame =
          random() % 8 < ipv6_in_8 ? random_ipv6_frame(random) : random_ipv4_frame(random);
      arena.add(frame, static_cast<std::uint32_t>(frame.size() + random() % 2));
    }
    const Batch batch = arena.batch();
    std::vector<std::uint16_t> packets = all_of(batch);
    if (random() % 2 == 0) {
      std::erase_if(packets, [&](std::uint16_t) { return random() % 4 == 0; });
    }
    if (packets.empty()) continue;
    forwarded += expect_agreement(batch, packets);
  }
  EXPECT_GT(forwarded, 30'000u);
}

TEST(Ipv6Compute, EachBitOfAHeaderCounts) {
  BatchArena arena(64);
  for (std::uint32_t bit = 0; bit < 54 * 8 && !HasFailure(); bit += 8) {
    arena.clear();
    while (!arena.full()) {
      std::vector<std::byte> frame = make_ipv6_frame({});
      frame[bit / 8] ^= std::byte(1 << arena.batch().count % 8);
      arena.add(frame);
    }
    expect_agreement(arena.batch(), all_of(arena.batch()));
  }
}

TEST(Ipv6Compute, EachLengthIsWeighedAgainstEachPayloadLength) {
  for (std::uint32_t payload = 0; payload < 100 && !HasFailure(); ++payload) {
    BatchArena arena(150);
    std::vector<std::byte> frame = make_ipv6_frame({.payload = 95});
    put16(frame, 18, payload);
    for (std::size_t length = 0; length < 150; ++length) {
      arena.add(std::span(frame).first(std::min<std::size_t>(length, frame.size())), 150);
    }
    const std::size_t fits = payload > 95 ? 0 : 150 - (54 + payload);
    EXPECT_EQ(expect_agreement(arena.batch(), all_of(arena.batch())), fits) << payload;
  }
}

TEST(Ipv6Compute, EachFirstByteOfAnAddressAndEachHopLimitIsTold) {
  for (std::uint32_t other = 0; other < 256 && !HasFailure(); ++other) {
    BatchArena arena(256);
    for (std::uint64_t first = 0; first < 256; ++first) {
      arena.add(make_ipv6_frame({.source = {std::uint64_t{other} << 56 | 9, 3},
                                 .destination = {first << 56 | 9, 1},
                                 .hop_limit = static_cast<std::uint8_t>(first + other)}));
    }
    EXPECT_EQ(expect_agreement(arena.batch(), all_of(arena.batch())), other == 255 ? 0u : 255u);
  }
}

TEST(Ipv6Compute, NothingIsReadBehindAFrame) {
  // Frames end where a page does that may not be touched.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const base = static_cast<std::byte*>(memory);
  ASSERT_EQ(mprotect(base + page, page, PROT_NONE), 0);
  const std::vector<std::byte> frame = make_ipv6_frame({.payload = 0});
  BatchArena arena(8);
  for (std::size_t length = 0; length <= frame.size(); ++length) {
    arena.clear();
    while (!arena.full()) arena.add(std::span(frame).first(length));
    Batch batch = arena.batch();
    batch.buffers = {base, 0};
    std::ranges::fill(batch.offset, static_cast<std::uint16_t>(page - length));
    std::memcpy(base + page - length, frame.data(), length);
    route_compute(routes().table(), batch, all_of(batch), batch.results(0));
    EXPECT_EQ((batch.results(0)[7] & kRouteDrop) == 0, length == frame.size()) << length;
  }
  munmap(memory, 2 * page);
}

TEST(Ipv6Compute, AForeignSourceInTheFilterOfOwnAddressesIsForwarded) {
  const Ipv6Address source = ipv6("2600::1");
  const std::vector<Ipv6Address> both = {source, ipv6("2001:db8::1")};
  const OwnFilter filter = own_filter_of(both);
  RouteTable table = routes().table();
  table.ipv6.own_filter = &filter;
  BatchArena arena;
  arena.add(make_ipv6_frame({.source = source}));
  arena.add(make_ipv6_frame({.source = ipv6("2001:db8::1")}));
  const Batch batch = arena.batch();
  route_compute(table, batch, all_of(batch), batch.results(0));
  EXPECT_EQ(batch.results(0)[0],
            kRouteIpv6 | routes().table().ipv6.look_up(Ipv6FrameSpec{}.destination));
  EXPECT_EQ(batch.results(0)[1], kRouteDrop | static_cast<std::uint32_t>(RouteReason::kNotUnicast));
}

TEST(Ipv6Compute, WithoutAnIpv6RouteItIsAnotherEtherType) {
  const BuiltRoutes ipv4("10.2.0.0/16 wan 02:00:00:00:00:02\n");
  BatchArena arena(64);
  while (!arena.full()) {
    arena.add(make_ipv6_frame({}));
    arena.add(make_frame({}));
  }
  const Batch batch = arena.batch();
  route_compute(ipv4.table(), batch, all_of(batch), batch.results(0));
  for (std::uint32_t i = 0; i < batch.count; i += 2) {
    EXPECT_EQ(batch.results(0)[i], kRouteDrop | static_cast<std::uint32_t>(RouteReason::kNotIpv4));
    EXPECT_EQ(batch.results(0)[i + 1], ipv4.table().look_up(FrameSpec{}.destination));
  }
}

}  // namespace
}  // namespace millrace
