// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/fingerprint.hpp"

#include <gtest/gtest.h>

#include "shared/layout/segment.hpp"

namespace millrace {
namespace {

TEST(Fingerprint, AChangeOfTheLayoutRaisesTheAbi) {
  EXPECT_EQ(kSegmentAbi, 6u);
  EXPECT_EQ(kSegmentFingerprint, 0xe78b0fa95be4eebdu)
      << "the layout of the segment has changed: raise kSegmentAbi, "
         "and put both numbers here";
}

}  // namespace
}  // namespace millrace
