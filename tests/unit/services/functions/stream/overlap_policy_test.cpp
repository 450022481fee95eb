// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/overlap_policy.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/stream/system_receiver.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kAround = 0xffff'fff8;  // numbers go round among them

TEST(OverlapPolicy, IsThatOfTheTableWhereverTwoSegmentsLie) {
  for (const std::string_view name : overlap_policy_names()) {
    SCOPED_TRACE(name);
    const OverlapPolicy policy = overlap_policy(name).value();
    for (std::uint32_t word = 0; word < 4096; ++word) {
      const std::size_t waits_at = word & 7, waits_end = waits_at + 1 + (word >> 3 & 7);
      const std::size_t comes_at = word >> 6 & 7, comes_end = comes_at + 1 + (word >> 9 & 7);
      const auto number = [](std::size_t at) { return kAround + static_cast<std::uint32_t>(at); };
      EXPECT_EQ(counts_instead(policy, {number(waits_at), number(waits_end)},
                               {number(comes_at), number(comes_end)}),
                is_new_version_kept(name, {waits_at, waits_end}, {comes_at, comes_end}))
          << waits_at << ".." << waits_end << " " << comes_at << ".." << comes_end;
    }
  }
}

TEST(OverlapPolicy, HasTheNamesOfSystems) {
  EXPECT_EQ(overlap_policy("linux"), OverlapPolicy::kLinux);
  EXPECT_EQ(overlap_policy("vista"), OverlapPolicy::kFirst);
  EXPECT_FALSE(overlap_policy("Linux") || overlap_policy("") || overlap_policy("plan9"));
}

}  // namespace
}  // namespace millrace
