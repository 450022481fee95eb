// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/metrics_kept.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

static_assert(kMetricsKept, "the programs of this build are the ones that users get");
static_assert(std::is_same_v<CounterRef, std::uint64_t&>);

TEST(MetricsKept, ANoteHasTheTimeOfTheDataPath) {
  const std::uint64_t before = tsc_now();
  const std::uint64_t note = tsc_for_note();
  EXPECT_GE(note, before);
  EXPECT_LE(note, tsc_now());
}

TEST(MetricsKept, AForgottenCounterChangesNothingAndReadsAsZero) {
  std::uint64_t word = 7;
  ForgottenCounter counter = word;
  ++counter;
  counter += 5;
  counter = 9;
  EXPECT_EQ(word, 7u);
  EXPECT_EQ(std::uint64_t{counter}, 0u);
}

}  // namespace
}  // namespace millrace
