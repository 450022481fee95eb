// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/share_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using Numbers = std::vector<std::uint32_t>;

constexpr std::uint32_t kSharesMax = 16;

std::uint32_t changes(const Numbers& before, const Numbers& after) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < before.size(); ++i) count += before[i] != after[i] ? 1 : 0;
  return count;
}

/// Tries each choice of the queues that get one share more than the others: what a queue reads
/// already it keeps, up to its number.
std::uint32_t fewest_changes(const Numbers& readers, std::uint32_t queues) {
  const auto shares = static_cast<std::uint32_t>(readers.size());
  std::vector<bool> has_one_more(queues, false);
  std::fill(has_one_more.end() - shares % queues, has_one_more.end(), true);
  std::uint32_t fewest = shares;
  do {
    std::uint32_t kept = 0;
    for (std::uint32_t queue = 0; queue < queues; ++queue) {
      const auto read = static_cast<std::uint32_t>(std::ranges::count(readers, queue));
      kept += std::min(read, shares / queues + (has_one_more[queue] ? 1 : 0));
    }
    fewest = std::min(fewest, shares - kept);
  } while (std::next_permutation(has_one_more.begin(), has_one_more.end()));
  return fewest;
}

/// False when there is something wrong with it.
bool is_even_with_fewest_changes(const Numbers& readers, std::uint32_t queues) {
  const Numbers wanted = spread_shares(readers, queues);
  if (wanted.size() != readers.size()) return false;
  std::uint32_t all = 0;
  for (std::uint32_t queue = 0; queue < queues; ++queue) {
    const auto count = static_cast<std::uint32_t>(std::ranges::count(wanted, queue));
    const std::size_t least = readers.size() / queues;
    const std::size_t most = least + (readers.size() % queues != 0 ? 1 : 0);
    if (count < least || count > most) return false;
    all += count;
  }
  return all == readers.size() && changes(readers, wanted) == fewest_changes(readers, queues);
}

TEST(SpreadShares, ItIsEvenWithTheFewestChangesWhoeverReadsThem) {
  for (std::uint32_t shares = 1; shares <= 5; ++shares) {
    for (std::uint32_t queues = 1; queues <= shares; ++queues) {
      Numbers readers(shares, 0);  // counts, with a digit above `queues` that is no queue
      for (bool more = true; more;) {
        ASSERT_TRUE(is_even_with_fewest_changes(readers, queues))
            << queues << " queues, readers " << testing::PrintToString(readers);
        more = false;
        for (std::uint32_t& digit : readers) {
          digit = (digit + 1) % (queues + 2);
          if (digit == 0) continue;
          more = true;
          break;
        }
      }
    }
  }
}

TEST(SpreadShares, SoItIsWithManyShares) {
  std::mt19937 random(1);
  for (std::uint32_t shares = 6; shares <= kSharesMax; ++shares) {
    for (std::uint32_t queues = 1; queues <= shares; ++queues) {
      for (std::uint32_t i = 0; i < 50; ++i) {
        // From few readers, which have many each, to ones that are no queues of it.
        const std::uint32_t end = 1 + random() % (kSharesMax + 2);
        Numbers readers(shares);
        for (std::uint32_t& reader : readers) reader = random() % end;
        ASSERT_TRUE(is_even_with_fewest_changes(readers, queues))
            << queues << " queues, readers " << testing::PrintToString(readers);
      }
    }
  }
}

TEST(SpreadShares, WhatIsEvenStays) {
  for (std::uint32_t queues = 1; queues <= kSharesMax; ++queues) {
    Numbers readers(kSharesMax);
    for (std::uint32_t i = 0; i < kSharesMax; ++i) readers[i] = i % queues;
    EXPECT_EQ(spread_shares(readers, queues), readers);
    std::ranges::reverse(readers);
    EXPECT_EQ(spread_shares(readers, queues), readers);
  }
}

constexpr const char* kSharedQueues =
    "millrace: 1\nname: words\n"
    "ports:\n"
    "  a: { device: afpacket, interface: x, queues: 2, queues_max: 4 }\n"
    "  b: { device: afpacket, interface: y, queues: 3 }\n"
    "  c: { device: \"null\" }\n"
    "paths: { one: { from: [a, b, c], run: [], to: c } }\n";

class ShareWordsTest : public testing::Test {
 protected:
  ActorEntry& entry(const std::string& port, std::uint32_t queue) const {
    return world_.entry("ingress." + port + "." + std::to_string(queue));
  }
  std::uint32_t actor(const std::string& port, std::uint32_t queue) const {
    return world_.actor("ingress." + port + "." + std::to_string(queue));
  }
  /// By share; queues of the port.
  Numbers wanted_of_a() const {
    Numbers wanted;
    for (std::uint32_t share = 0; share < 4; ++share) {
      wanted.push_back(entry("a", share).share_wanted - actor("a", 0));
    }
    return wanted;
  }

  const test::SmallWorld world_{kSharedQueues};
  ShareWords words_{world_.plan, world_.status};
};

TEST_F(ShareWordsTest, SharesAreWantedByTheFirstQueuesOfTheirPort) {
  words_.spread(0, 4);  // 0 and 2 are read by queue 0, 1 and 3 by queue 1
  EXPECT_THAT(wanted_of_a(), ElementsAre(0, 1, 2, 3));
  words_.spread(0, 3);
  EXPECT_THAT(wanted_of_a(), ElementsAre(0, 1, 0, 2)) << "what was wanted before is of no matter";
  words_.spread(0, 1);
  EXPECT_THAT(wanted_of_a(), ElementsAre(0, 0, 0, 0));
  words_.spread(0, 2);
  EXPECT_THAT(wanted_of_a(), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(entry("b", 1).share_wanted, 0u) << "another port";
}

TEST_F(ShareWordsTest, WhoIsNoQueueOfThePortKeepsNothing) {
  entry("a", 0).share_reader = actor("b", 0);
  entry("a", 1).share_reader = 0;
  entry("a", 2).share_reader = actor("a", 1);
  words_.spread(0, 2);
  EXPECT_THAT(wanted_of_a(), ElementsAre(0, 0, 1, 1));
}

TEST_F(ShareWordsTest, APortOfOneQueueHasNothingToSpread) {
  words_.spread(2, 1);
  EXPECT_EQ(entry("c", 0).share_wanted, 0u);
  EXPECT_TRUE(words_.all_moved(2));
}

TEST_F(ShareWordsTest, AllHaveMovedWhenEachIsReadByWhomItIsWantedBy) {
  EXPECT_TRUE(words_.all_moved(0)) << "nothing is wanted";
  words_.spread(0, 4);
  EXPECT_FALSE(words_.all_moved(0));
  EXPECT_TRUE(words_.all_moved(1));
  entry("a", 2).share_reader = actor("a", 2);
  EXPECT_FALSE(words_.all_moved(0));
  entry("a", 3).share_reader = actor("a", 2);
  EXPECT_FALSE(words_.all_moved(0)) << "by another one";
  entry("a", 3).share_reader = actor("a", 3);
  EXPECT_TRUE(words_.all_moved(0));
}

TEST_F(ShareWordsTest, WhatOneReaderHasJoinedIsForgotten) {
  for (std::uint32_t queue = 0; queue < 4; ++queue) entry("a", queue).share_joined = 1;
  entry("a", 3).share_reader = actor("a", 1);
  words_.forget_joined(0, actor("a", 1));
  for (std::uint32_t queue = 0; queue < 4; ++queue) {
    const bool its = entry("a", queue).share_reader == actor("a", 1);
    EXPECT_EQ(entry("a", queue).share_joined, its ? 0u : 1u) << queue;
  }
  words_.wait_no_more(0, actor("a", 1));
  for (std::uint32_t queue = 0; queue < 4; ++queue) EXPECT_EQ(entry("a", queue).share_joined, 1u);
  words_.forget_joined(0, actor("a", 1));
  words_.forget_joined(1, actor("a", 0));
  EXPECT_EQ(entry("a", 0).share_joined, entry("a", 0).share_reader == actor("a", 1) ? 0u : 1u)
      << "of another port";
}

}  // namespace
}  // namespace millrace
