// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/defences.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace millrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

TEST(Defences, AnAddressIsDefendedOnceInTenSeconds) {
  Defences defences;
  EXPECT_TRUE(defences.take(0, 0x0a010001, 0));
  EXPECT_FALSE(defences.take(0, 0x0a010001, 0));
  EXPECT_FALSE(defences.take(0, 0x0a010001, 10 * kSecondNs - 1));
  EXPECT_TRUE(defences.take(0, 0x0a010001, 10 * kSecondNs));
  EXPECT_FALSE(defences.take(0, 0x0a010001, 15 * kSecondNs));
}

TEST(Defences, EachAddressOfEachPortCountsForItself) {
  Defences defences;
  EXPECT_TRUE(defences.take(0, 0x0a010001, 0));
  EXPECT_TRUE(defences.take(0, 0x0a010002, 0));
  EXPECT_TRUE(defences.take(1, 0x0a010001, 0));
}

}  // namespace
}  // namespace millrace
