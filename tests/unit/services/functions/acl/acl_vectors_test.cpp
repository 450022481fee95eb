// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_vectors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace {
namespace {

using testing::ElementsAre;

AclRuleSet set_of(std::size_t rule_count, std::initializer_list<std::uint32_t> rules) {
  AclRuleSet set(rule_count);
  for (const std::uint32_t rule : rules) set.flip(rule);
  return set;
}

TEST(AclVectors, ComeInWholeBlocks) {
  EXPECT_EQ(acl_word_count(0), 0u);
  EXPECT_EQ(acl_word_count(1), 32u);
  EXPECT_EQ(acl_word_count(1024), 32u);
  EXPECT_EQ(acl_word_count(1025), 64u);
}

TEST(AclVectors, OfASetHoldWhatIsInIt) {
  AclRuleSet set = set_of(40, {0, 33});
  EXPECT_EQ(set.words()[0], 1u);
  EXPECT_EQ(set.words()[1], 2u);
  set.flip(33);
  EXPECT_EQ(set.words()[1], 0u);
  EXPECT_EQ((set_of(40, {1, 2, 35}) & set_of(40, {2, 35, 36})).words()[0], 4u);
  EXPECT_EQ((set_of(40, {1, 2, 35}) & set_of(40, {2, 35, 36})).words()[1], 8u);
}

TEST(AclVectors, EqualOnesAreKeptOnce) {
  AclVectorPool pool(2000, UINT64_MAX);
  EXPECT_EQ(pool.add(set_of(2000, {5}).words()), 0u);
  EXPECT_EQ(pool.add(set_of(2000, {6}).words()), 1u);
  EXPECT_EQ(pool.add(set_of(2000, {5}).words()), 0u);
  EXPECT_EQ(pool.add(set_of(2000, {5, 1999}).words()), 2u);
  EXPECT_EQ(pool.size(), 3u);
  EXPECT_EQ(pool.take().size(), 3 * 64u);
}

TEST(AclVectors, SummariesSayWhichWordsAreNotZero) {
  AclVectorPool pool(2000, UINT64_MAX);
  pool.add(set_of(2000, {}).words());
  pool.add(set_of(2000, {0, 31, 64, 1024 + 95}).words());
  EXPECT_THAT(pool.summaries(), ElementsAre(0, 0, 0b101, 0b100));
}

TEST(AclVectors, APoolIsFullAboveItsLimit) {
  AclVectorPool pool(100, 2 * 33 * 4);
  pool.add(set_of(100, {1}).words());
  pool.add(set_of(100, {2}).words());
  EXPECT_FALSE(pool.full());
  pool.add(set_of(100, {3}).words());
  EXPECT_TRUE(pool.full());
}

}  // namespace
}  // namespace millrace
