// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_check.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "shared/base/reason.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

TEST(RouteCheck, EachLengthOfAFrameIsReadOnlyAsFarAsItGoes) {
  // Each copy ends at the end of its allocation: a sanitizer sees one byte too many.
  FrameSpec spec;
  spec.option_words = 10;
  const std::vector<std::byte> whole = make_frame(spec);
  constexpr OwnFilter kNone{};
  RouteTable table;
  table.own_filter = &kNone;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const std::vector<std::byte> frame(whole.begin(),
                                       whole.begin() + static_cast<std::ptrdiff_t>(length));
    const std::uint32_t word = route_check(frame, static_cast<std::uint32_t>(length), table);
    const auto expected = length < 14 + 60 ? RouteReason::kMalformed : RouteReason::kTruncated;
    if (length == whole.size()) {
      EXPECT_EQ(word, 0u);
    } else {
      EXPECT_EQ(word, kRouteDrop | static_cast<std::uint32_t>(expected)) << length;
    }
  }
}

}  // namespace
}  // namespace millrace
