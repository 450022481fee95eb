// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/fingerprint.hpp"

#include <gtest/gtest.h>

#include "shared/layout/segment.hpp"

namespace millrace {
namespace {

TEST(Fingerprint, AChangeOfTheLayoutRaisesTheAbi) {
  EXPECT_EQ(kSegmentAbi, 2u);
  EXPECT_EQ(kSegmentFingerprint, 0xcf58b4f79e56d46du)
      << "the layout of the segment has changed: raise kSegmentAbi, "
         "and put both numbers here";
}

}  // namespace
}  // namespace millrace
