// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_fragments.hpp"

#include <gtest/gtest.h>

#include "shared/layout/mapping.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

class Fragments : public testing::Test {
 protected:
  /// A fragment of UDP at `offset` (bytes); of IPv6 with a fragment header.
  static Frame ipv4(unsigned offset) {
    return FrameBuilder()
        .ipv4(17, 24, 20, (offset != 0 ? 0u : 0x2000u) + offset / 8)
        .udp(16)
        .build();
  }
  static Frame ipv6(unsigned offset) {
    return FrameBuilder().ipv6(44, 32).fragment(17, offset, offset == 0).udp(16).build();
  }
  static FlowTuple tuple(const Frame& frame) {
    return flow_tuple_of(frame, parse_headers(frame)).value();
  }
  std::optional<FlowTuple> asked(const Frame& frame, std::uint32_t now_s = 1) const {
    return fragments_.tuple_of(frame, parse_headers(frame), now_s);
  }
  void remember(const Frame& frame, std::uint32_t now_s = 1) {
    fragments_.remember(frame, parse_headers(frame), tuple(frame), now_s);
  }

  Mapping memory_ = Mapping::create_anonymous(FlowFragments::kBytes + 64);
  FlowFragments fragments_{{.bytes = {memory_.base(), FlowFragments::kBytes + 64}}, 64};
};

TEST_F(Fragments, LaterOnesHaveTheTupleOfTheFirst) {
  for (const auto make : {ipv4, ipv6}) {
    EXPECT_FALSE(asked(make(16)));
    remember(make(0));
    EXPECT_EQ(asked(make(16)), tuple(make(0)));
    EXPECT_EQ(asked(make(800), 30), tuple(make(0)));
    EXPECT_FALSE(asked(make(16), 31)) << "30 s later";
  }
}

TEST_F(Fragments, AnotherPacketIsAnother) {
  remember(ipv4(0));
  Frame other = ipv4(16);
  other[19] ^= std::byte{1};  // identification
  EXPECT_FALSE(asked(other));
  other = ipv4(16);
  other[29] ^= std::byte{1};  // source
  EXPECT_FALSE(asked(other));
  other = ipv4(16);
  other[23] = std::byte{6};  // protocol
  EXPECT_FALSE(asked(other));
}

TEST_F(Fragments, TheOldestOfAFullSetGoes) {
  std::vector<Frame> firsts;
  for (unsigned id = 0; id < 2000; ++id) {
    Frame first = ipv4(0);
    first[18] = std::byte(id >> 8);
    first[19] = std::byte(id);
    remember(first, 1 + id / 100);
    firsts.push_back(first);
  }
  unsigned known = 0;
  for (Frame& first : firsts) {
    first[20] = std::byte{0};
    first[21] = std::byte{2};
    known += asked(first, 21) ? 1 : 0;
  }
  EXPECT_LE(known, FlowFragments::kSets * FlowFragments::kWays);
  EXPECT_GT(known, FlowFragments::kSets);
  EXPECT_TRUE(asked(firsts.back(), 21));
}

}  // namespace
}  // namespace millrace
