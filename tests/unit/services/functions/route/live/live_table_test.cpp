// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/live/live_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>
#include <tuple>

#include "services/functions/route/live/live_blocks.hpp"
#include "services/functions/route/live/live_nodes.hpp"
#include "tests/unit/services/functions/route/live/live_world.hpp"

namespace millrace {
namespace {

/// Memory of one family's part of an image, and its writer.
struct Ipv4Memory {
  static constexpr bool kIsIpv6 = false;
  std::vector<std::uint32_t> table24 = std::vector<std::uint32_t>(LiveTable::kRoots);
  std::vector<std::uint32_t> blocks = std::vector<std::uint32_t>(512 * kBlockEntries);
  std::unique_ptr<LiveLeaves> leaves(LiveJournal& journal) {
    return std::make_unique<LiveBlocks>(blocks, journal);
  }
  std::uint32_t look_up(const Ipv6Address& address) const {
    RouteTable table;
    table.table24 = table24.data();
    table.blocks = blocks.data();
    return table.look_up(static_cast<std::uint32_t>(address.high >> 32));
  }
};
struct Ipv6Memory {
  static constexpr bool kIsIpv6 = true;
  static constexpr std::uint32_t kFirstChunk = kBlockEntries;
  std::vector<std::uint32_t> table24 = std::vector<std::uint32_t>(LiveTable::kRoots);
  std::vector<Ipv6Node> nodes = std::vector<Ipv6Node>(4096);
  std::vector<std::uint32_t> runs = std::vector<std::uint32_t>(kFirstChunk + 512 * kBlockEntries);
  std::unique_ptr<LiveLeaves> leaves(LiveJournal& journal) {
    return std::make_unique<LiveNodes>(nodes, runs, kFirstChunk, journal);
  }
  std::uint32_t look_up(const Ipv6Address& address) const {
    const Ipv6Routes routes{.table24 = table24.data(), .nodes = nodes.data(), .runs = runs.data()};
    const std::uint32_t hop = routes.look_up(address);
    return hop == kHopDefaultIpv6 ? 0 : hop;
  }
};

template <typename Memory>
class LiveTableTest : public testing::Test {
 protected:
  using Known = std::map<std::tuple<std::uint64_t, std::uint64_t, int>, std::uint32_t>;

  LiveTableTest() { restart(); }

  /// Another writer, which knows all prefixes.
  void restart() {
    table_.reset();
    leaves_ = memory_.leaves(journal_);
    table_ = std::make_unique<LiveTable>(memory_.table24, *leaves_, journal_);
    tend();
    for (const auto& [key, hop] : known_) {
      const auto [high, low, length] = key;
      table_->load({{high, low}, static_cast<std::uint8_t>(length), hop});
    }
    table_->write_all();
  }
  void tend() {
    test::NoReader grace;
    leaves_->tend(grace);
    leaves_->tend(grace);
  }

  /// Few first bits, so that prefixes cover each other.
  Ipv6Route random_route() {
    const int most = Memory::kIsIpv6 ? 128 : 32;
    Ipv6Route route;
    route.length = static_cast<std::uint8_t>(1 + random_() % static_cast<unsigned>(most));
    if (random_() % 2 == 0) {
      route.length =
          static_cast<std::uint8_t>(std::min<int>(most, 16 + static_cast<int>(random_() % 20)));
    }
    route.prefix = random_address() & ipv6_mask(route.length);
    route.hop = 5 + static_cast<std::uint32_t>(random_() % 40);
    return route;
  }
  Ipv6Address random_address() {
    Ipv6Address address{0x2001'0000'0000'0000, 0};
    for (int byte = 2; byte < (Memory::kIsIpv6 ? 16 : 4); ++byte) {
      const std::uint64_t value = random_() % 4 == 0 ? random_() % 256 : random_() % 2 * 0x80;
      (byte < 8 ? address.high : address.low) |= value << (56 - byte % 8 * 8);
    }
    return address;
  }
  /// By slow, obvious code.
  std::uint32_t hop_of(const Ipv6Address& address) const {
    int best = 0;
    std::uint32_t hop = 0;
    for (const auto& [key, one] : known_) {
      const auto [high, low, length] = key;
      const Ipv6Address masked = address & ipv6_mask(static_cast<std::uint32_t>(length));
      if (length > best && masked == Ipv6Address{high, low}) {
        best = length;
        hop = one;
      }
    }
    return hop;
  }
  void change_once() {
    const Ipv6Route route = random_route();
    const auto key = std::tuple(route.prefix.high, route.prefix.low, int{route.length});
    if (random_() % 5 < 2 && !known_.empty()) {
      auto at = known_.lower_bound(key);
      if (at == known_.end()) at = known_.begin();
      const auto [high, low, length] = at->first;
      ASSERT_TRUE(table_->remove({high, low}, static_cast<std::uint8_t>(length)));
      known_.erase(at);
      return;
    }
    const auto at = known_.find(key);
    const bool differs = at == known_.end() || at->second != route.hop;
    ASSERT_EQ(table_->set(route), differs);
    known_[key] = route.hop;
  }
  void compare(const char* when) {
    ASSERT_EQ(table_->size(), known_.size());
    for (int i = 0; i < 300; ++i) {
      const Ipv6Address address = random_address();
      ASSERT_EQ(memory_.look_up(address), hop_of(address))
          << when << ", seed " << testing::UnitTest::GetInstance()->random_seed();
    }
  }

  Memory memory_;
  LiveJournal journal_;  // of no image
  std::unique_ptr<LiveLeaves> leaves_;
  std::unique_ptr<LiveTable> table_;
  Known known_;
  std::mt19937_64 random_{5};
};

using Memories = testing::Types<Ipv4Memory, Ipv6Memory>;
TYPED_TEST_SUITE(LiveTableTest, Memories);

TYPED_TEST(LiveTableTest, SaysWhatSlowCodeSaysAfterEachOfManyChanges) {
  for (int i = 0; i < 3000; ++i) {
    this->change_once();
    this->tend();
    if (i % 50 == 0) this->compare("a change");
  }
}

TYPED_TEST(LiveTableTest, ASuccessorMakesItRightWhateverWasWritten) {
  for (int i = 0; i < 400; ++i) this->change_once();
  this->restart();
  this->compare("a restart");
  // What a writer had not done yet, or half.
  for (int i = 0; i < 200; ++i) {
    const Ipv6Route route = this->random_route();
    this->known_[{route.prefix.high, route.prefix.low, route.length}] = route.hop;
  }
  this->restart();
  this->compare("changes that were missed");
  this->known_.clear();
  this->restart();
  this->compare("all routes gone");
}

TYPED_TEST(LiveTableTest, WhatHasGoneTakesNoRoom) {
  for (int i = 0; i < 200; ++i) this->change_once();
  while (!this->known_.empty()) {
    const auto [high, low, length] = this->known_.begin()->first;
    ASSERT_TRUE(this->table_->remove({high, low}, static_cast<std::uint8_t>(length)));
    this->known_.erase(this->known_.begin());
    this->tend();
  }
  EXPECT_FALSE(this->table_->remove({0x2001'0000'0000'0000, 0}, 16));
  for (const std::uint32_t entry : this->memory_.table24) ASSERT_EQ(entry, 0u);
  EXPECT_TRUE(this->leaves_->has_room());
  EXPECT_FALSE(this->leaves_->waits());
}

TYPED_TEST(LiveTableTest, WithoutRoomItSaysSoAndWhatWasThereHolds) {
  for (int i = 0; i < 100; ++i) this->change_once();
  bool full = false;
  // Nothing is freed.
  for (std::uint64_t i = 0; i < 100'000 && !full; ++i) {
    const Ipv6Route route{{0x3000'0000'0000'0000 + (i << 40) + (std::uint64_t{1} << 32), 0}, 32, 7};
    try {
      this->table_->set(route);
      this->known_[{route.prefix.high, route.prefix.low, route.length}] = route.hop;
    } catch (const LiveTableFull&) {
      full = true;
    }
  }
  ASSERT_TRUE(full);
  for (int i = 0; i < 300; ++i) {
    const Ipv6Address address = this->random_address();
    ASSERT_EQ(this->memory_.look_up(address), this->hop_of(address));
  }
}

/// A reader that says when it begins a turn, as actors do.
struct OneReader final : ReaderGrace {
  std::atomic<std::uint64_t> turn{0};
  std::atomic<std::uint64_t> clock{0};
  std::uint64_t now() override { return clock.fetch_add(1) + 1; }
  bool passed(std::uint64_t moment) override { return turn.load() > moment; }
  void begin_turn() { turn.store(clock.fetch_add(1) + 1); }
};

TYPED_TEST(LiveTableTest, AReaderFindsTheOldOrTheNewAndNothingElse) {
  // Each address has a route of its own, which comes and goes in the same leaves as the others'.
  constexpr std::uint64_t kAddresses = 64;
  const auto address_of = [](std::uint64_t i) {
    return Ipv6Address{0x2001'0000'0000'0000 + ((i / 16) << 40) + ((i % 16 * 16) << 32), 0};
  };
  OneReader grace;
  std::atomic<bool> ends{false};
  std::atomic<std::uint64_t> wrong{0}, turns{0};
  std::thread reader([&] {
    while (!ends.load()) {
      grace.begin_turn();
      for (std::uint64_t i = 0; i < kAddresses; ++i) {
        const std::uint32_t hop = this->memory_.look_up(address_of(i));
        if (hop != 0 && hop != 100 + i && hop != 200 + i) ++wrong;
      }
      ++turns;
    }
  });
  std::mt19937_64 random(7);
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t which = random() % kAddresses;
    const std::uint32_t hop = static_cast<std::uint32_t>(which + (random() % 2 == 0 ? 100 : 200));
    const std::uint8_t length = 32;
    if (random() % 3 == 0) {
      this->table_->remove(address_of(which), length);
    } else {
      this->table_->set({address_of(which), length, hop});
    }
    this->leaves_->tend(grace);
    while (!this->leaves_->has_room() && this->leaves_->waits()) this->leaves_->tend(grace);
  }
  while (turns.load() == 0) std::this_thread::yield();
  ends = true;
  reader.join();
  EXPECT_EQ(wrong.load(), 0u);
}

}  // namespace
}  // namespace millrace
