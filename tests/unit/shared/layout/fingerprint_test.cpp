// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/fingerprint.hpp"

#include <gtest/gtest.h>

#include "shared/layout/segment.hpp"

namespace millrace {
namespace {

TEST(Fingerprint, AChangeOfTheLayoutRaisesTheAbi) {
  EXPECT_EQ(kSegmentAbi, 7u);
  EXPECT_EQ(kSegmentFingerprint, 0x59b222844a1365e5u)
      << "the layout of the segment has changed: raise kSegmentAbi, "
         "and put both numbers here";
}

}  // namespace
}  // namespace millrace
