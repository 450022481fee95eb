// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What each verdict is stands in tests/golden/route.golden; here: the two forms of the checks
// agree, and nothing else is touched.

#include "services/functions/route/route_compute.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

/// What is done to the words of packets that take no part.
constexpr std::uint32_t kUnwritten = 0x55555555;

/// A batch and what route_check() says of it, packet by packet.
class Compared {
 public:
  explicit Compared(std::uint32_t capacity, RouteTable table = routes().table())
      : arena_(capacity), table_(table) {}

  void clear() { arena_.clear(); }
  void add(std::span<const std::byte> frame, std::uint32_t wire_length = 0) {
    arena_.add(frame, wire_length);
  }
  void fill(std::span<const std::byte> frame) {
    clear();
    while (!arena_.full()) add(frame);
  }
  Batch batch() const { return arena_.batch(); }

  /// Runs route_compute() over `packets`; expects the words of the slow form there, and nothing
  /// elsewhere. Returns how many go on.
  std::size_t expect_agreement(std::span<const std::uint16_t> packets) const {
    const Batch batch = arena_.batch();
    const std::span<std::uint32_t> words = batch.results(0);
    std::ranges::fill(words, kUnwritten);
    route_compute(table_, batch, packets, words);
    std::size_t next = 0, forwarded = 0;
    for (std::uint16_t i = 0; i < batch.count; ++i) {
      const bool selected = next < packets.size() && packets[next] == i;
      next += selected ? 1 : 0;
      const std::uint32_t expected = selected ? slow_word(batch, i) : kUnwritten;
      forwarded += (expected & kRouteDrop) == 0 ? 1 : 0;
      if (words[i] != expected) {
        ADD_FAILURE() << "packet " << i << " of " << packets.size() << ": " << std::hex << words[i]
                      << " instead of " << expected;
        return forwarded;
      }
    }
    return forwarded;
  }
  std::size_t expect_agreement() const { return expect_agreement(all_of(batch())); }

 private:
  /// The word as README.md defines it: checks one after the other, then the look-up.
  std::uint32_t slow_word(const Batch& batch, std::uint16_t packet) const {
    const std::span<const std::byte> frame = batch.bytes(packet);
    const std::uint32_t word = route_check(frame, batch.wire_length(packet), table_);
    if ((word & kRouteDrop) != 0) return word;
    std::uint32_t address = 0;
    for (int i = 30; i < 34; ++i) address = address << 8 | std::to_integer<std::uint32_t>(frame[i]);
    return word | table_.look_up(address);
  }

  BatchArena arena_;
  RouteTable table_;
};

/// Some packets, ascending: all, a run of them, or any.
std::vector<std::uint16_t> some_of(std::uint32_t count, std::mt19937& random) {
  std::vector<std::uint16_t> packets;
  std::uint32_t first = 0, end = count, one_in = 1;
  if (random() % 2 == 0) first = random() % count;
  if (random() % 2 == 0) end = first + 1 + random() % (count - first);
  if (random() % 2 == 0) one_in = 1 + random() % 8;
  for (std::uint32_t i = first; i < end; ++i) {
    if (one_in == 1 || random() % one_in == 0) packets.push_back(static_cast<std::uint16_t>(i));
  }
  return packets;
}

TEST(RouteCompute, TheFastFormAgreesWithTheSlowOneOnEveryKindOfFrame) {
  std::mt19937 random(5);
  std::size_t forwarded = 0, packets = 0;
  Compared compared(kBatchCapacityMax);
  // Frames are made seldom and changed often: ends and bytes move about, and so do the packets.
  for (int round = 0; round < 700 && !HasFailure(); ++round) {
    compared.clear();
    for (std::uint32_t i = 0; i < kBatchCapacityMax; ++i) {
      const std::vector<std::byte> frame = random_frame(random);
      compared.add(frame, static_cast<std::uint32_t>(frame.size() + random() % 2));
    }
    for (int change = 0; change < 30 && !HasFailure(); ++change) {
      const std::vector<std::uint16_t> some = some_of(kBatchCapacityMax, random);
      forwarded += compared.expect_agreement(some);
      packets += some.size();
      const Batch batch = compared.batch();
      for (std::uint16_t i = 0; i < batch.count; ++i) {
        const std::uint32_t what = random();
        if (what % 16 == 0) batch.length[i] = static_cast<std::uint16_t>(what / 16 % 129);
        if (what % 16 == 1) batch.data(i)[what / 16 % 34] ^= std::byte(1 << what / 1024 % 8);
        if (what % 16 == 2) std::swap(batch.buffer[i], batch.buffer[what / 16 % batch.count]);
      }
    }
  }
  EXPECT_GT(forwarded, 500'000u);
  EXPECT_GT(packets - forwarded, 500'000u);
}

TEST(RouteCompute, EachBitOfAHeaderCountsInEachLane) {
  Compared compared(16);
  for (const bool with_checksum : {false, true}) {
    for (std::uint32_t bit = 0; bit < 34 * 8; ++bit) {
      for (std::uint16_t lane = 0; lane < 16 && !HasFailure(); ++lane) {
        std::vector<std::byte> frame = make_frame({});
        compared.fill(frame);
        frame[bit / 8] ^= std::byte(1 << bit % 8);
        if (with_checksum) put16(frame, 24, header_checksum(frame));
        std::ranges::copy(frame, compared.batch().data(lane));
        EXPECT_GE(compared.expect_agreement(), 15u) << "bit " << bit << ", lane " << lane;
      }
    }
  }
}

TEST(RouteCompute, EachLengthIsWeighedAgainstEachTotalLength) {
  Compared compared(129);
  for (std::uint32_t total = 0; total < 140 && !HasFailure(); ++total) {
    compared.clear();
    std::vector<std::byte> frame = make_frame({.payload = 94});
    put16(frame, 16, total);
    put16(frame, 24, header_checksum(frame));
    for (std::size_t length = 0; length <= 128; ++length) {
      compared.add(std::span(frame).first(length), 128);
    }
    // All that are as long as their header says.
    const bool fits = total >= 20 && total <= 114;
    EXPECT_EQ(compared.expect_agreement(), fits ? 129 - (14 + total) : 0) << total;
  }
  for (const std::uint32_t total : {0x8000u, 0xff14u, 0xffffu}) {
    std::vector<std::byte> frame = make_frame({});
    put16(frame, 16, total);
    put16(frame, 24, header_checksum(frame));
    compared.fill(frame);
    EXPECT_EQ(compared.expect_agreement(), 0u);
  }
}

TEST(RouteCompute, EachChecksumIsTold) {
  // One identification is right for each checksum, but 0 and 0xffff are the same there.
  Compared compared(256);
  const std::vector<std::byte> frame = make_frame({});
  for (const std::uint32_t checksum : {0u, 1u, 0x7fffu, 0x8000u, 0xfffeu, 0xffffu}) {
    std::size_t forwarded = 0;
    for (std::uint32_t id = 0; id < 0x10000 && !HasFailure(); id += 256) {
      compared.fill(frame);
      for (std::uint32_t i = 0; i < 256; ++i) {
        std::byte* header = compared.batch().data(i);
        header[18] = std::byte(id >> 8);
        header[19] = std::byte(i);
        header[24] = std::byte(checksum >> 8);
        header[25] = std::byte(checksum & 255);
      }
      forwarded += compared.expect_agreement();
    }
    EXPECT_TRUE(forwarded == 1 || forwarded == 2) << checksum;
  }
}

TEST(RouteCompute, EachFirstByteOfAnAddressAndEachTtlIsTold) {
  Compared compared(256);
  for (std::uint32_t other = 0; other < 256 && !HasFailure(); ++other) {
    compared.clear();
    for (std::uint32_t first = 0; first < 256; ++first) {
      compared.add(make_frame({.source = other << 24 | 0x030201,
                               .destination = first << 24 | 0x010203,
                               .ttl = static_cast<std::uint8_t>(first + other)}));
    }
    // 0, 127 and 224..239 are 18 of each; 255 is class E but for the broadcast address.
    const bool never = other == 0 || other == 127 || (other & 0xf0) == 0xe0;
    EXPECT_EQ(compared.expect_agreement(), never ? 0u : 256u - 18u) << other;
  }
}

TEST(RouteCompute, LinkLocalAddressesAreToldByTwoBytes) {
  Compared compared(256);
  for (const bool of_source : {false, true}) {
    compared.clear();
    for (std::uint32_t second = 0; second < 256; ++second) {
      const std::uint32_t near = 0xa9000001 | second << 16;
      compared.add(of_source ? make_frame({.source = near}) : make_frame({.destination = near}));
    }
    EXPECT_EQ(compared.expect_agreement(), 255u);
  }
}

TEST(RouteCompute, AnAddressOfOursIsToldWhateverItsBitsOfTheFilter) {
  OwnFilter seen{};
  for (std::uint32_t own = 0x0a000001; own < 0x0a002001; ++own) {
    const OwnFilter filter = own_filter_of(std::array{own});
    OwnFilter both = seen;
    both.add(OwnFilter::hash(own));
    if (both == seen) continue;  // each of its bits has been another's
    seen = both;
    RouteTable table = routes().table();
    table.own = {&own, 1};
    table.own_filter = &filter;
    Compared compared(64, table);
    compared.fill(make_frame({.source = 0x0a010005}));
    const std::vector<std::byte> from_us = make_frame({.source = own});
    for (const std::uint32_t i : {0u, 13u, 22u, 63u}) {
      std::ranges::copy(from_us, compared.batch().data(i));
    }
    ASSERT_EQ(compared.expect_agreement(), 60u) << own;
  }
  for (const auto& table : seen.words) {
    for (const std::uint32_t word : table) EXPECT_EQ(word, UINT32_MAX) << "not tried";
  }
}

TEST(RouteCompute, NothingIsReadBehindAFrame) {
  // Frames end where a page does that may not be touched.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const base = static_cast<std::byte*>(memory);
  ASSERT_EQ(mprotect(base + page, page, PROT_NONE), 0);
  const std::vector<std::byte> frame = make_frame({.option_words = 10, .payload = 0});
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
    EXPECT_TRUE(batch.goes_on(i));
    EXPECT_EQ(batch.output[i], kOutputDefault);
    const std::vector<std::byte> frame = make_frame({});
    EXPECT_EQ(std::memcmp(batch.data(i), frame.data(), frame.size()), 0);
  }
}

TEST(RouteCompute, AForeignSourceInTheFilterOfOwnAddressesIsForwarded) {
  // Only the exact comparison tells it from 10.1.0.1.
  const std::uint32_t source = 0x0b000000;
  const OwnFilter filter = own_filter_of(std::array{source, std::uint32_t{0x0a010001}});
  RouteTable table = routes().table();
  table.own_filter = &filter;
  BatchArena arena;
  FrameSpec spec;
  spec.source = source;
  arena.add(make_frame(spec));
  spec.source = 0x0a010001;
  arena.add(make_frame(spec));
  const Batch batch = arena.batch();
  route_compute(table, batch, all_of(batch), batch.results(0));
  EXPECT_EQ(batch.results(0)[0], routes().table().look_up(spec.destination));
  EXPECT_EQ(batch.results(0)[1], kRouteDrop | static_cast<std::uint32_t>(RouteReason::kNotUnicast));
}

}  // namespace
}  // namespace millrace
