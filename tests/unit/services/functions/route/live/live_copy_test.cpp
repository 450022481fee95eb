// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A copy on a device whose writes come late and in any order until settle(), with batches that
// hold on to what they have read. What it should say is known by slow code.

#include "services/functions/route/live/live_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <random>

#include "services/functions/route/live/live_blocks.hpp"
#include "services/functions/route/live/live_image.hpp"
#include "services/functions/route/live/live_nodes.hpp"
#include "services/functions/route/live/live_table.hpp"
#include "services/functions/route/route_gpu.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/device_memory_fake.hpp"
#include "tests/unit/services/functions/route/live/live_world.hpp"

namespace millrace {
namespace {

/// Words that were written arrive one by one, in any order, before settle() returns: but for those
/// written twice.
class LateMemory final : public FakeDeviceMemory {
 public:
  explicit LateMemory(std::function<void()> between) : between_(std::move(between)) {}
  const std::byte* copy(std::span<const std::byte> bytes) override {
    const std::byte* const at = FakeDeviceMemory::copy(bytes);
    if (bytes.size() == sizeof(at)) pointer_ = at;
    return at;
  }
  void write(const std::byte* at, std::span<const std::byte> bytes) override {
    if (fails) throw Error("no more");
    if (bytes.size() > kWholeBytes) return FakeDeviceMemory::write(at, bytes);
    const std::size_t step = at == pointer_ ? sizeof(at) : 4;
    for (std::size_t i = 0; i < bytes.size(); i += step) {
      Late late{at + i, {}, step};
      std::ranges::copy(bytes.subspan(i, step), late.bytes.begin());
      late_.push_back(late);
    }
  }
  void settle() override {
    while (!late_.empty()) {
      // Two writes of one word stay in order.
      const std::byte* const at = late_[random_() % late_.size()].at;
      const auto late = std::ranges::find(late_, at, &Late::at);
      FakeDeviceMemory::write(late->at, std::span(late->bytes).first(late->count));
      late_.erase(late);
      between_();
    }
  }
  bool fails = false;

 private:
  static constexpr std::size_t kWholeBytes = 1 << 20;
  struct Late {
    const std::byte* at;
    std::array<std::byte, 8> bytes;
    std::size_t count;
  };
  std::function<void()> between_;
  const std::byte* pointer_ = nullptr;  ///< a piece that is one: it is written whole
  std::vector<Late> late_;
  std::mt19937_64 random_{3};
};

/// Batches that were begun, by their numbers.
struct Batches final : ReaderGrace {
  std::uint64_t begun = 0;
  std::uint64_t oldest = 0;  ///< that is there
  std::uint64_t now() override { return begun; }
  bool passed(std::uint64_t moment) override { return oldest >= moment; }
};

struct Ipv4Part {
  static constexpr bool kIsIpv6 = false;
  static std::unique_ptr<LiveLeaves> leaves(LiveRouteImage& image) {
    return std::make_unique<LiveBlocks>(image.blocks(), image.journal());
  }
  static std::span<std::uint32_t> roots(LiveRouteImage& image) { return image.table24(); }
  template <typename Load>
  static std::uint32_t look_up(const RouteTable& table, const Ipv6Address& address,
                               const Load& load) {
    return table.look_up(static_cast<std::uint32_t>(address.high >> 32), load);
  }
};
struct Ipv6Part {
  static constexpr bool kIsIpv6 = true;
  static std::unique_ptr<LiveLeaves> leaves(LiveRouteImage& image) {
    return std::make_unique<LiveNodes>(image.ipv6_nodes(), image.ipv6_runs(),
                                       image.ipv6_first_chunk(), image.journal());
  }
  static std::span<std::uint32_t> roots(LiveRouteImage& image) { return image.ipv6_table24(); }
  template <typename Load>
  static std::uint32_t look_up(const RouteTable& table, const Ipv6Address& address,
                               const Load& load) {
    const std::uint32_t hop = table.ipv6.look_up(address, load);
    return hop == kHopDefaultIpv6 ? 0 : hop;
  }
};

template <typename Part>
class LiveCopyTest : public testing::Test {
 protected:
  using Known = std::map<std::tuple<std::uint64_t, std::uint64_t, int>, std::uint32_t>;

  LiveCopyTest() {
    tend();
    table_.write_all();  // an empty table
    view_ = view_in<RouteGpuTable>(upload_route(world_.function(), memory_));
  }

  /// What a kernel would find now.
  std::uint32_t look_up(const Ipv6Address& address) const {
    return Part::look_up(view_.table, address, load_of(now()));
  }
  std::ptrdiff_t now() const {
    return *view_.now - reinterpret_cast<const std::byte*>(view_.table.table24);
  }
  static auto load_of(std::ptrdiff_t moved) {
    return [moved]<typename Word>(const Word& word) {
      Word value;
      std::memcpy(&value, reinterpret_cast<const std::byte*>(&word) + moved, sizeof value);
      return value;
    };
  }
  void tend() {
    test::NoReader grace;  // of this host: none computes here
    leaves_->tend(grace);
    leaves_->tend(grace);
  }
  void set(const Ipv6Route& route) {
    table_.set(route);
    known_[{route.prefix.high, route.prefix.low, route.length}] = route.hop;
    tend();
  }
  void remove(const Ipv6Route& route) {
    table_.remove(route.prefix, route.length);
    known_.erase({route.prefix.high, route.prefix.low, route.length});
    tend();
  }
  /// Until nothing is left to copy.
  DeviceCopies follow() {
    DeviceCopies all;
    for (int idle = 0; idle < 2;) {
      batches_.oldest = batches_.begun;
      const DeviceCopies some = memory_.follow(batches_);
      all.words += some.words;
      all.tables += some.tables;
      idle = some.words == 0 && some.tables == 0 ? idle + 1 : 0;
    }
    return all;
  }
  Ipv6Address random_address() {
    Ipv6Address address{0x2001'0000'0000'0000, 0};
    for (int byte = 2; byte < (Part::kIsIpv6 ? 16 : 4); ++byte) {
      const std::uint64_t value = random_() % 4 == 0 ? random_() % 256 : random_() % 2 * 0x80;
      (byte < 8 ? address.high : address.low) |= value << (56 - byte % 8 * 8);
    }
    return address;
  }
  Ipv6Route random_route() {
    const std::uint32_t most = Part::kIsIpv6 ? 128 : 32;
    Ipv6Route route;
    route.length = static_cast<std::uint8_t>(17 + random_() % (most - 16));
    route.prefix = random_address() & ipv6_mask(route.length);
    route.hop = 5 + static_cast<std::uint32_t>(random_() % 40);
    return route;
  }
  /// By slow, obvious code.
  std::uint32_t hop_of(const Ipv6Address& address) const {
    int best = 0;
    std::uint32_t hop = 0;
    for (const auto& [key, one] : known_) {
      const auto [high, low, length] = key;
      const Ipv6Address masked = address & ipv6_mask(static_cast<std::uint32_t>(length));
      if (length <= best || masked != Ipv6Address{high, low}) continue;
      best = length;
      hop = one;
    }
    return hop;
  }
  void compare(int addresses) {
    for (int i = 0; i < addresses; ++i) {
      const Ipv6Address address = random_address();
      ASSERT_EQ(look_up(address), hop_of(address));
    }
  }

  std::function<void()> between_ = [] {};
  std::mt19937_64 random_{5};
  test::LiveWorld world_{"203.0.113.0/24 drop\n", true};
  LiveRouteImage image_{world_.path()};
  std::unique_ptr<LiveLeaves> leaves_ = Part::leaves(image_);
  LiveTable table_{Part::roots(image_), *leaves_, image_.journal()};
  LateMemory memory_{[this] { between_(); }};
  Batches batches_;
  RouteGpuTable view_;
  Known known_;
};

using Parts = testing::Types<Ipv4Part, Ipv6Part>;
TYPED_TEST_SUITE(LiveCopyTest, Parts);

TYPED_TEST(LiveCopyTest, SaysWhatSlowCodeSaysAfterEachGroupOfChanges) {
  std::uint64_t words = 0;
  for (int round = 0; round < 60; ++round) {
    for (std::uint64_t changes = this->random_() % 40; changes != 0; --changes) {
      const Ipv6Route route = this->random_route();
      if (this->random_() % 3 != 0 || this->known_.empty()) {
        this->set(route);
        continue;
      }
      auto at = this->known_.lower_bound({route.prefix.high, route.prefix.low, route.length});
      if (at == this->known_.end()) at = this->known_.begin();
      const auto [high, low, length] = at->first;
      this->remove({{high, low}, static_cast<std::uint8_t>(length), 0});
    }
    const DeviceCopies copies = this->follow();
    words += copies.words;
    ASSERT_EQ(copies.tables, 0u) << "no word is lost";
    this->compare(100);
    if (this->HasFatalFailure()) return;
  }
  EXPECT_NE(words, 0u);
  EXPECT_EQ(std::memcmp(*this->view_.now, this->image_.table24().data(),
                        this->image_.table24().size_bytes()),
            0);
}

/// A batch at the device: it has read where to go on, and does so when it ends.
struct HeldLookUp {
  std::uint64_t which;
  std::ptrdiff_t moved;
  std::uint32_t root;
};

TYPED_TEST(LiveCopyTest, ABatchFindsTheOldOrTheNewWheneverItReads) {
  // Each address has routes of its own, which come and go in the same leaves as the others'.
  constexpr std::uint64_t kAddresses = 64;
  const auto address_of = [](std::uint64_t i) {
    return Ipv6Address{0x2001'0000'0000'0000 + ((i / 16) << 40) + ((i % 16 * 16) << 32), 0};
  };
  std::deque<HeldLookUp> held;
  std::uint64_t wrong = 0, ended = 0;
  std::mt19937_64 random(11);
  const std::uint32_t* const roots =
      TypeParam::kIsIpv6 ? this->view_.table.ipv6.table24 : this->view_.table.table24;
  const auto begin = [&] {
    const std::uint64_t which = random() % kAddresses;
    const std::ptrdiff_t moved = this->now();
    const auto load = this->load_of(moved);
    held.push_back({which, moved, load(roots[address_of(which).high >> 40])});
    ++this->batches_.begun;
  };
  const auto end = [&] {
    const HeldLookUp one = held.front();
    held.pop_front();
    ++this->batches_.oldest;
    ++ended;
    // The rest of the look-up, with the first word as it was read then.
    const auto load = [&, later = this->load_of(one.moved)]<typename Word>(const Word& word) {
      if constexpr (sizeof(Word) == sizeof(std::uint32_t)) {
        if (&word == &roots[address_of(one.which).high >> 40]) return one.root;
      }
      return later(word);
    };
    const std::uint32_t hop = TypeParam::look_up(this->view_.table, address_of(one.which), load);
    if (hop != 0 && hop != 100 + one.which && hop != 200 + one.which) ++wrong;
  };
  this->between_ = [&] {
    if (random() % 2 == 0) begin();
    while (held.size() > 20 || (!held.empty() && random() % 3 == 0)) end();
  };
  for (int i = 0; i < 1500; ++i) {
    const std::uint64_t which = random() % kAddresses;
    const Ipv6Route route{address_of(which), 32,
                          static_cast<std::uint32_t>(which + (random() % 2 == 0 ? 100 : 200))};
    if (random() % 3 == 0) {
      this->remove(route);
    } else {
      this->set(route);
    }
    if (random() % 8 == 0) this->memory_.follow(this->batches_);
    if (random() % 4 == 0) this->between_();
  }
  while (!held.empty()) end();
  this->between_ = [] {};
  this->follow();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(ended, 300u);
  for (std::uint64_t i = 0; i < kAddresses; ++i) {
    EXPECT_EQ(this->look_up(address_of(i)), this->hop_of(address_of(i)));
  }
}

TYPED_TEST(LiveCopyTest, WhatTheJournalHasLostIsCopiedAsAWhole) {
  const std::size_t pieces = this->memory_.piece_count();
  this->batches_.begun = 5;                       // they stay at the device
  this->set({{0x8000'0000'0000'0000, 0}, 1, 7});  // more words than the journal holds
  EXPECT_EQ(this->memory_.follow(this->batches_).tables, 1u);
  EXPECT_NE(this->now(), 0);
  EXPECT_EQ(this->look_up({0xc000'0000'0000'0000, 0}), 7u);
  EXPECT_EQ(this->memory_.piece_count(), pieces + 1) << "batches read the one before";
  this->set({{0xc000'0000'0000'0000, 0}, 32, 9});
  EXPECT_NE(this->memory_.follow(this->batches_).words, 0u);
  EXPECT_EQ(this->look_up({0xc000'0000'0000'0000, 0}), 9u);
  this->batches_.oldest = 5;
  this->memory_.follow(this->batches_);
  EXPECT_EQ(this->memory_.piece_count(), pieces);
  this->compare(100);
}

TYPED_TEST(LiveCopyTest, AnotherWriterMakesAWholeCopy) {
  this->set({{0x2001'0000'0000'0000, 0}, 32, 9});
  this->follow();
  LiveRouteImage successor(this->world_.path());
  EXPECT_EQ(this->follow().tables, 1u);
  this->compare(100);
}

TYPED_TEST(LiveCopyTest, WhatCouldNotBeWrittenIsMadeGoodByAWholeCopy) {
  this->set({{0x2001'0000'0000'0000, 0}, 32, 9});
  this->memory_.fails = true;
  EXPECT_THROW(this->memory_.follow(this->batches_), Error);
  EXPECT_EQ(this->look_up({0x2001'0000'0000'0000, 0}), 0u);
  this->memory_.fails = false;
  EXPECT_EQ(this->follow().tables, 1u);
  EXPECT_EQ(this->look_up({0x2001'0000'0000'0000, 0}), 9u);
}

}  // namespace
}  // namespace millrace
