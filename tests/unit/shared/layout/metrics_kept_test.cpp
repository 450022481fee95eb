// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/metrics_kept.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace millrace {
namespace {

static_assert(metrics_kept(), "the programs of this build are the ones that users get");
static_assert(std::is_same_v<CounterRef, std::uint64_t&>);

TEST(MetricsKept, ACounterIsTheWordItself) {
  std::uint64_t word = 7;
  CounterRef counter = word;
  ++counter;
  counter += 5;
  EXPECT_EQ(word, 13u);
}

}  // namespace
}  // namespace millrace
