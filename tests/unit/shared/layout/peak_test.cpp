// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/peak.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

constexpr std::uint64_t kHz = 2'000'000'000;  // a window is 2.1 s
constexpr std::uint64_t kWindow = std::uint64_t{1} << kPeakWindowShift;
constexpr std::uint64_t kStart = 1000 * kWindow;

TEST(Peak, IsTheHighestOfTheLastTenSeconds) {
  Peak peak{};
  PeakMark mark(peak);
  EXPECT_EQ(peak_of(peak, kStart, kHz), 0u);
  mark.note(kStart, 5);
  mark.note(kStart + 1, 90);
  mark.note(kStart + 2, 7);
  EXPECT_EQ(peak_of(peak, kStart + 3, kHz), 90u);
  for (std::uint64_t second = 0; second < 10; ++second) {
    const std::uint64_t now = kStart + second * kHz;
    mark.note(now, 8);
    EXPECT_EQ(peak_of(peak, now, kHz), 90u) << second;
  }
  mark.note(kStart + 16 * kHz, 3);
  EXPECT_EQ(peak_of(peak, kStart + 16 * kHz, kHz), 8u);
  EXPECT_EQ(peak_of(peak, kStart + 60 * kHz, kHz), 0u);  // not written since
}

TEST(Peak, KnowsAWindowFromTheOneAWholeTurnOfTheCellsAgo) {
  Peak peak{};
  PeakMark mark(peak);
  mark.note(kStart, 50);
  EXPECT_EQ(peak_of(peak, kStart + kPeakCells * kWindow, kHz), 0u);
  mark.note(kStart + kPeakCells * kWindow, 2);
  EXPECT_EQ(peak_of(peak, kStart + kPeakCells * kWindow, kHz), 2u);
}

TEST(Peak, ANewLifeOfItsWriterDoesNotLowerIt) {
  Peak peak{};
  PeakMark(peak).note(kStart, 50);
  PeakMark again(peak);
  again.note(kStart + 1, 2);
  EXPECT_EQ(peak_of(peak, kStart + 2, kHz), 50u);
  again.note(kStart + 3, 51);
  EXPECT_EQ(peak_of(peak, kStart + 4, kHz), 51u);
}

TEST(Peak, AValueTooLargeForItsCellIsTheLargestOne) {
  Peak peak{};
  PeakMark(peak).note(kStart, UINT64_MAX);
  EXPECT_EQ(peak_of(peak, kStart, kHz), kPeakValueMax);
}

TEST(Peak, AFastClockHasCellsForTenSeconds) {
  constexpr std::uint64_t kFast = 6'000'000'000;
  Peak peak{};
  PeakMark mark(peak);
  mark.note(kStart, 9);
  EXPECT_EQ(peak_of(peak, kStart + 10 * kFast, kFast), 9u);
}

}  // namespace
}  // namespace millrace
