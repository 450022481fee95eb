// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/live/kernel_rib.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

using Place = KernelRib::Place;

const PrefixKey kKey{{0x0a00'0000'0000'0000, 0}, 8, false};

TEST(KernelRib, TheLowestMetricCountsAndTheNextWhenItGoes) {
  KernelRib rib;
  EXPECT_FALSE(rib.best(kKey));
  EXPECT_TRUE(rib.add(kKey, {20, 7}, Place::kOnly));
  EXPECT_TRUE(rib.add(kKey, {10, 8}, Place::kOnly));
  EXPECT_TRUE(rib.add(kKey, {30, 9}, Place::kOnly));
  EXPECT_EQ(rib.best(kKey), 8u);
  EXPECT_EQ(rib.prefix_count(), 1u);
  EXPECT_TRUE(rib.remove(kKey, {10, 8}));
  EXPECT_EQ(rib.best(kKey), 7u);
  EXPECT_FALSE(rib.remove(kKey, {10, 8}));
  EXPECT_TRUE(rib.remove(kKey, {20, 7}));
  EXPECT_TRUE(rib.remove(kKey, {30, 9}));
  EXPECT_EQ(rib.prefix_count(), 0u);
  EXPECT_FALSE(rib.best(kKey));
}

TEST(KernelRib, OfOneMetricTheyStandAsTheKernelPutsThem) {
  KernelRib rib;
  rib.add(kKey, {10, 1}, Place::kOnly);
  rib.add(kKey, {10, 2}, Place::kBehind);
  EXPECT_EQ(rib.best(kKey), 1u);
  rib.add(kKey, {10, 3}, Place::kBefore);
  EXPECT_EQ(rib.best(kKey), 3u);
  rib.add(kKey, {10, 4}, Place::kReplace);
  EXPECT_EQ(rib.best(kKey), 4u);
  rib.remove_first(kKey, 10);
  EXPECT_EQ(rib.best(kKey), 1u);
  rib.remove_first(kKey, 10);
  EXPECT_EQ(rib.best(kKey), 2u);
  EXPECT_TRUE(rib.has_metric(kKey, 10));
  EXPECT_FALSE(rib.has_metric(kKey, 11));
  rib.remove_first(kKey, 11);
  rib.remove_first(kKey, 10);
  EXPECT_FALSE(rib.has_metric(kKey, 10));
}

TEST(KernelRib, OneThatIsToldTwiceIsThereOnce) {
  KernelRib rib;
  EXPECT_TRUE(rib.add(kKey, {10, 1}, Place::kOnly));
  EXPECT_FALSE(rib.add(kKey, {10, 1}, Place::kBehind));
  rib.add(kKey, {20, 2}, Place::kOnly);
  EXPECT_FALSE(rib.add(kKey, {20, 2}, Place::kOnly));
  EXPECT_TRUE(rib.remove(kKey, {20, 2}));
  EXPECT_FALSE(rib.remove(kKey, {20, 2}));
  // The same bits of the other family are another prefix.
  EXPECT_FALSE(rib.best({kKey.prefix, kKey.length, true}));
  rib.clear();
  EXPECT_FALSE(rib.best(kKey));
}

}  // namespace
}  // namespace millrace
