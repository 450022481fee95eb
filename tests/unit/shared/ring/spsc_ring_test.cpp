// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/ring/spsc_ring.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace millrace {
namespace {

using Ring = SpscRing<std::uint64_t>;
using Words = std::vector<std::uint64_t>;

const auto kNoStamp = [](std::uint64_t) {};

/// A ring in private memory, and the means to leave it as a killed side does.
class SpscRingTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kDepth = 8;

  bool push(const Words& words) { return ring_.push(words); }
  Words take(std::size_t most) {
    Words out(most);
    out.resize(ring_.take(out, kNoStamp));
    return out;
  }
  Words snapshot() const {
    Words out;
    ring_.snapshot(out);
    return out;
  }
  /// Another view of the same ring, as another process has it.
  Ring other_view() { return Ring(reinterpret_cast<rte_ring*>(memory_.get())); }

  struct Free {
    void operator()(std::byte* memory) const {
      operator delete[](memory, std::align_val_t{kAlignment});
    }
  };
  static constexpr std::size_t kAlignment = 64;
  std::unique_ptr<std::byte, Free> memory_{
      static_cast<std::byte*>(operator new[](Ring::bytes(kDepth), std::align_val_t{kAlignment}))};
  Ring ring_ = Ring::create(memory_.get(), "test", kDepth);
};

TEST_F(SpscRingTest, GivesElementsBackInOrder) {
  EXPECT_TRUE(ring_.empty());
  EXPECT_TRUE(push({1, 2, 3}));
  EXPECT_TRUE(push({4}));
  EXPECT_EQ(ring_.size(), 4u);
  EXPECT_EQ(take(3), (Words{1, 2, 3}));
  EXPECT_EQ(take(3), (Words{4}));
  EXPECT_EQ(take(3), Words{});
}

TEST_F(SpscRingTest, GoesRoundItsMemoryAtEveryPosition) {
  std::uint64_t pushed = 0;
  std::uint64_t taken = 0;
  for (int turn = 0; turn < 100; ++turn) {
    EXPECT_TRUE(push({pushed, pushed + 1, pushed + 2, pushed + 3, pushed + 4}));
    pushed += 5;
    Words wanted(5);
    std::iota(wanted.begin(), wanted.end(), taken);
    EXPECT_EQ(snapshot(), wanted);
    EXPECT_EQ(take(8), wanted);
    taken += 5;
  }
}

TEST_F(SpscRingTest, RefusesAPushThatDoesNotFitAsAWhole) {
  EXPECT_TRUE(push({1, 2, 3, 4, 5}));
  EXPECT_FALSE(push({6, 7, 8}));
  EXPECT_EQ(snapshot(), (Words{1, 2, 3, 4, 5}));
  EXPECT_TRUE(push({6, 7}));
  EXPECT_FALSE(push({8})) << "a ring of 8 entries takes 7";
  EXPECT_EQ(take(8), (Words{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(SpscRingTest, StampsEveryElementBeforeItLetsGo) {
  push({10, 11, 12});
  Words stamped;
  Words out(2);
  const auto stamp = [&](std::uint64_t word) {
    EXPECT_EQ(snapshot(), (Words{10, 11, 12})) << "gone from the ring before it is stamped";
    stamped.push_back(word);
  };
  EXPECT_EQ(ring_.take(out, stamp), 2u);
  EXPECT_EQ(stamped, out);
  EXPECT_EQ(snapshot(), (Words{12}));
}

TEST_F(SpscRingTest, AStampOfAllComesOnceBeforeTheRingLetsGo) {
  for (int turn = 0; turn < 5; ++turn) {  // round the end of the memory, too
    push({10, 11, 12});
    Words stamped;
    Words out(3);
    const auto stamp = [&](std::span<const std::uint64_t> words) {
      EXPECT_EQ(snapshot(), (Words{10, 11, 12})) << "gone from the ring before it is stamped";
      stamped.insert(stamped.end(), words.begin(), words.end());
    };
    EXPECT_EQ(ring_.take(out, stamp), 3u);
    EXPECT_EQ(stamped, (Words{10, 11, 12}));
    EXPECT_EQ(out, stamped);
  }
}

TEST_F(SpscRingTest, AViewThatSlumberedSeesWhatOthersDid) {
  Ring producer = other_view();
  Ring consumer = other_view();
  const Words seven = {1, 2, 3, 4, 5, 6, 7};
  Words out(8);
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_TRUE(producer.push(seven));
    EXPECT_FALSE(producer.push({&seven[0], 1})) << "full for a fresh look too";
    EXPECT_EQ(consumer.take(out, kNoStamp), 7u);
  }
  // Recovery empties the ring behind both views.
  EXPECT_TRUE(producer.push(seven));
  ring_.reset();
  EXPECT_EQ(consumer.take(out, kNoStamp), 0u);
  EXPECT_TRUE(producer.push({&seven[0], 2}));
  EXPECT_EQ(consumer.take(out, kNoStamp), 2u);
}

TEST_F(SpscRingTest, PeeksWithoutTaking) {
  push({1, 2});
  std::uint64_t word = 0;
  EXPECT_TRUE(ring_.peek(word));
  EXPECT_EQ(word, 1u);
  EXPECT_EQ(take(8), (Words{1, 2}));
  EXPECT_FALSE(ring_.peek(word));
}

TEST_F(SpscRingTest, IsEmptyAfterAReset) {
  push({1, 2});
  ring_.reset();
  EXPECT_TRUE(ring_.empty());
  EXPECT_TRUE(push({5}));
  EXPECT_EQ(take(8), (Words{5}));
}

TEST_F(SpscRingTest, HoldsBufferNumbersOfFourBytesToo) {
  std::vector<std::byte> memory(SpscRing<std::uint32_t>::bytes(4) + 64);
  void* at = memory.data();
  std::size_t room = memory.size();
  std::align(64, SpscRing<std::uint32_t>::bytes(4), at, room);
  auto ring = SpscRing<std::uint32_t>::create(static_cast<std::byte*>(at), "four", 4);
  const std::array<std::uint32_t, 3> words = {0xffffffff, 0, 7};
  std::array<std::uint32_t, 3> out{};
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_TRUE(ring.push(words));
    EXPECT_EQ(ring.take(out, [](std::uint32_t) {}), 3u);
    EXPECT_EQ(out, words);
  }
}

TEST_F(SpscRingTest, LosesNothingBetweenTwoThreads) {
  constexpr std::uint64_t kCount = 400'000;
  std::thread producer([&] {
    std::mt19937 random(1);
    std::array<std::uint64_t, 5> words;
    for (std::uint64_t next = 0; next < kCount;) {
      const std::size_t count = std::min<std::uint64_t>(1 + random() % 5, kCount - next);
      std::iota(words.begin(), words.end(), next);
      if (ring_.push({words.data(), count})) {
        next += count;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::mt19937 random(2);
  std::array<std::uint64_t, 5> out;
  std::uint64_t wrong = 0;
  for (std::uint64_t next = 0; next < kCount;) {
    const std::uint32_t count = ring_.take({out.data(), 1 + random() % 5}, kNoStamp);
    for (std::uint32_t i = 0; i < count; ++i) wrong += out[i] != next++ ? 1 : 0;
    if (count == 0) std::this_thread::yield();
  }
  producer.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_TRUE(ring_.empty());
}

TEST(SpscRing, AConsumerKilledInATakeHasTakenNothing) {
  const std::size_t bytes = Ring::bytes(8);
  void* shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Ring ring = Ring::create(static_cast<std::byte*>(shared), "shared", 8);
  const Words words = {1, 2, 3};
  ring.push(words);
  const pid_t consumer = fork();
  if (consumer == 0) {
    Words out(3);
    ring.take(out, [](std::uint64_t word) {
      if (word == 2) _exit(7);
    });
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(consumer, &status, 0), consumer);
  ASSERT_EQ(WEXITSTATUS(status), 7) << "died in the middle";
  Words out(8);
  out.resize(ring.take(out, kNoStamp));
  EXPECT_EQ(out, words);
  munmap(shared, bytes);
}

TEST(SpscRingDeathTest, RefusesADepthThatIsNoPowerOfTwo) {
  alignas(64) static std::array<std::byte, 4096> memory;
  EXPECT_DEATH(Ring::create(memory.data(), "six", 6), "CHECK");
}

}  // namespace
}  // namespace millrace
