// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/rtnetlink.hpp"

#include <net/if.h>
#include <net/if_arp.h>

#include <cerrno>

#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using RtnetlinkTest = test::VethTest;

TEST_F(RtnetlinkTest, FindsWhatALinkIsLike) {
  shell("ip link set here mtu 4000 down");
  const auto here = find_link("here");
  ASSERT_TRUE(here);
  EXPECT_EQ(here->index, if_nametoindex("here"));
  EXPECT_EQ(here->mtu, 4000u);
  EXPECT_EQ(here->type, ARPHRD_ETHER);
  EXPECT_EQ(here->flags & IFF_UP, 0u);
  EXPECT_EQ(here->alias, "");
  EXPECT_NE(find_link("there")->flags & IFF_UP, 0u);
  EXPECT_EQ(find_link("lo")->type, ARPHRD_LOOPBACK);
  EXPECT_FALSE(find_link("nobody"));
  EXPECT_FALSE(find_link("a-name-longer-than-any-interface-has"));
}

TEST_F(RtnetlinkTest, AnAliasIsSetAndTakenAway) {
  const std::uint32_t index = if_nametoindex("here");
  EXPECT_EQ(set_alias(index, "of two words"), 0);
  EXPECT_EQ(find_link("here")->alias, "of two words");
  EXPECT_EQ(set_alias(index, ""), 0);
  EXPECT_EQ(find_link("here")->alias, "");
  EXPECT_EQ(set_alias(index + 1000, "x"), ENODEV);
}

TEST_F(RtnetlinkTest, TheKernelIsCutOffAndConnectedAgain) {
  const std::uint32_t index = if_nametoindex("here");
  EXPECT_FALSE(has_clsact(index));
  EXPECT_EQ(add_clsact(index), 0);
  EXPECT_TRUE(has_clsact(index));
  EXPECT_EQ(add_clsact(index), EEXIST);
  EXPECT_EQ(add_cut(index), 0);
  EXPECT_EQ(add_cut(index), EEXIST);
  EXPECT_EQ(remove_cut(index), 0);
  EXPECT_NE(remove_cut(index), 0);
  EXPECT_EQ(remove_clsact(index), 0);
  EXPECT_FALSE(has_clsact(index));
}

}  // namespace
}  // namespace millrace
