// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What each verdict is stands in tests/golden/route.golden; here: the two forms of the checks
// agree, and nothing else is touched.

#include "services/functions/route/route_compute.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

const BuiltRoutes& routes() {
  static const BuiltRoutes kRoutes(
      "10.2.0.0/16 wan 02:00:00:00:00:02\n10.2.0.8/29 lan 02:00:00:00:00:03\n"
      "192.0.2.0/24 wan 02:00:00:00:00:04\n");
  return kRoutes;
}

std::vector<std::uint16_t> all_of(const Batch& batch) {
  std::vector<std::uint16_t> packets(batch.count);
  std::iota(packets.begin(), packets.end(), std::uint16_t{0});
  return packets;
}

/// The word as README.md defines it: checks one after the other, then the look-up.
std::uint32_t slow_word(std::span<const std::byte> frame, std::uint32_t wire_length) {
  const std::uint32_t word = route_check(frame, wire_length, routes().table());
  if ((word & kRouteDrop) != 0) return word;
  std::uint32_t address = 0;
  for (int i = 30; i < 34; ++i) address = address << 8 | std::to_integer<std::uint32_t>(frame[i]);
  return word | routes().table().look_up(address);
}

/// One frame of many kinds: right ones, cut ones, ones with a changed header.
std::vector<std::byte> random_frame(std::mt19937& random) {
  constexpr std::uint32_t kAddresses[] = {0x0a020007, 0x0a020009, 0xc0000201, 0xc0000202,
                                          0x0a010001, 0xe0000001, 0x7f000001, 0x00000000,
                                          0xffffffff, 0x0a0100ff, 0xf0000001, 0x08080808};
  FrameSpec spec;
  spec.destination_mac_first = random() % 16 == 0 ? 0xff : 0x02;
  spec.source = random() % 4 == 0 ? kAddresses[random() % 12] : 0x0a010000 | (random() & 0xffff);
  spec.destination = kAddresses[random() % 12];
  spec.ttl = static_cast<std::uint8_t>(random() % 8 == 0 ? random() % 3 : random());
  spec.option_words = static_cast<std::uint8_t>(random() % 4 == 0 ? random() % 11 : 0);
  spec.payload = static_cast<std::uint16_t>(random() % 64);
  std::vector<std::byte> frame = make_frame(spec);
  if (random() % 4 == 0) frame[12 + random() % 22] = std::byte(random());
  if (random() % 8 == 0) put16(frame, 16, random() % 100);
  if (random() % 4 == 0) put16(frame, 24, header_checksum(make_frame(spec)));
  if (random() % 8 == 0) frame.resize(random() % frame.size());
  if (random() % 8 == 0) frame.resize(frame.size() + random() % 20);
  return frame;
}

TEST(RouteCompute, TheFastFormAgreesWithTheSlowOneOnEveryKindOfFrame) {
  std::mt19937 random(5);
  std::size_t forwarded = 0, dropped = 0;
  BatchArena arena(kBatchCapacityMax);
  for (int round = 0; round < 400; ++round) {
    arena.clear();
    std::vector<std::vector<std::byte>> frames;
    while (!arena.full()) {
      frames.push_back(random_frame(random));
      arena.add(frames.back(), static_cast<std::uint32_t>(frames.back().size() + random() % 2));
    }
    const Batch batch = arena.batch();
    route_compute(routes().table(), batch, all_of(batch), batch.results(0));
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      const std::uint32_t expected = slow_word(frames[i], batch.wire_length[i]);
      ASSERT_EQ(batch.results(0)[i], expected) << "round " << round << ", packet " << i;
      ((expected & kRouteDrop) != 0 ? dropped : forwarded) += 1;
    }
  }
  EXPECT_GT(forwarded, 10'000u);
  EXPECT_GT(dropped, 10'000u);
}

/// One byte of the headers changed at most, so that eight packets differ in what is wrong with one.
std::vector<std::byte> nearly_right_frame(std::mt19937& random) {
  FrameSpec spec;
  spec.source = 0x0a010000 | (random() & 0xffff);
  spec.destination = 0x0a020000 | (random() & 0xffff);
  spec.ttl = static_cast<std::uint8_t>(random());
  spec.payload = static_cast<std::uint16_t>(random() % 30);
  std::vector<std::byte> frame = make_frame(spec);
  if (random() % 4 == 0) frame[random() % 34] ^= std::byte(1u << random() % 8);
  if (random() % 16 == 0) frame.resize(random() % frame.size());
  return frame;
}

TEST(RouteCompute, AnySelectionOfPacketsGetsTheWordsOfTheSlowForm) {
  std::mt19937 random(6);
  BatchArena arena;
  std::size_t ordinary = 0, odd = 0;
  for (int round = 0; round < 4000; ++round) {
    arena.clear();
    std::vector<std::vector<std::byte>> frames(1 + random() % kBatchCapacityDefault);
    for (auto& frame : frames) {
      frame = nearly_right_frame(random);
      arena.add(frame);
    }
    const Batch batch = arena.batch();
    std::vector<std::uint16_t> packets = all_of(batch);
    if (round % 2 == 0) std::erase_if(packets, [&](std::uint16_t) { return random() % 8 == 0; });
    std::ranges::fill(batch.results(0), 0x55555555u);
    route_compute(routes().table(), batch, packets, batch.results(0));
    for (std::uint16_t i = 0; i < batch.count; ++i) {
      const bool selected = std::ranges::binary_search(packets, i);
      const std::uint32_t expected =
          selected ? slow_word(frames[i], batch.wire_length[i]) : 0x55555555u;
      ASSERT_EQ(batch.results(0)[i], expected) << "round " << round << ", packet " << i;
      ((expected & kRouteDrop) != 0 ? odd : ordinary) += 1;
    }
  }
  EXPECT_GT(ordinary, 50'000u);
  EXPECT_GT(odd, 10'000u);
}

TEST(RouteCompute, ChangesNothingButTheWordsOfItsPackets) {
  BatchArena arena(8);
  for (int i = 0; i < 8; ++i) arena.add(make_frame({}));
  const Batch batch = arena.batch();
  std::ranges::fill(batch.results(0), 0x55555555u);
  const std::vector<std::uint16_t> packets = {1, 3, 6};
  route_compute(routes().table(), batch, packets, batch.results(0));
  for (std::uint16_t i = 0; i < 8; ++i) {
    const bool selected = std::ranges::find(packets, i) != packets.end();
    EXPECT_EQ(batch.results(0)[i] != 0x55555555u, selected) << i;
    EXPECT_TRUE(batch.passes(i));
    EXPECT_EQ(batch.output[i], kOutputDefault);
    const std::vector<std::byte> frame = make_frame({});
    EXPECT_EQ(std::memcmp(batch.data(i), frame.data(), frame.size()), 0);
  }
}

TEST(RouteCompute, AForeignSourceInTheFilterOfOwnAddressesIsForwarded) {
  // An address whose bit of the filter is that of 10.1.0.1: only the exact comparison tells.
  std::uint32_t source = 0x0b000000;
  while (own_filter_bit(source) != own_filter_bit(0x0a010001)) ++source;
  BatchArena arena;
  FrameSpec spec;
  spec.source = source;
  arena.add(make_frame(spec));
  spec.source = 0x0a010001;
  arena.add(make_frame(spec));
  const Batch batch = arena.batch();
  route_compute(routes().table(), batch, all_of(batch), batch.results(0));
  EXPECT_EQ(batch.results(0)[0], routes().table().look_up(spec.destination));
  EXPECT_EQ(batch.results(0)[1], kRouteDrop | static_cast<std::uint32_t>(Reason::kNotUnicast));
}

}  // namespace
}  // namespace millrace
