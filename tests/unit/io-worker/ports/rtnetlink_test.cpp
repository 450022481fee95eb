// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/rtnetlink.hpp"

#include <net/if.h>
#include <net/if_arp.h>

#include <cerrno>
#include <set>
#include <string>

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

TEST_F(RtnetlinkTest, FindsALinkByItsIndexUnderAnyName) {
  const std::uint32_t index = if_nametoindex("here");
  EXPECT_EQ(find_link(index)->name, "here");
  shell("ip link set here name other");
  EXPECT_EQ(find_link(index)->name, "other");
  EXPECT_EQ(find_link("other")->index, index);
  EXPECT_FALSE(find_link(0u));
  EXPECT_FALSE(find_link(index + 1000));
}

TEST_F(RtnetlinkTest, FindsWhatLiesOverALink) {
  const auto over = [](const char* name) {
    std::set<std::string> names;
    for (const Link& link : links_over(*find_link(name))) names.insert(link.name);
    return names;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(over("here"), Names()) << "the other end of the cable is in this namespace too";
  shell("ip link add br0 type bridge && ip link set here master br0");
  shell("ip link add m7 link br0 type macvlan");
  shell("ip link add br1 type bridge && ip link set m7 master br1");
  shell("ip link add m9 link there type macvlan");
  EXPECT_EQ(over("here"), (Names{"br0", "br1", "m7"}));
  EXPECT_EQ(over("br0"), (Names{"br1", "m7"}));
  EXPECT_EQ(over("there"), Names{"m9"});
  EXPECT_EQ(over("m9"), Names());
}

TEST_F(RtnetlinkTest, AnAliasIsSetAndTakenAway) {
  const std::uint32_t index = if_nametoindex("here");
  EXPECT_EQ(set_alias(index, "of two words"), 0);
  EXPECT_EQ(find_link("here")->alias, "of two words");
  EXPECT_EQ(set_alias(index, ""), 0);
  EXPECT_EQ(find_link("here")->alias, "");
  EXPECT_EQ(set_alias(index + 1000, "x"), ENODEV);
}

TEST_F(RtnetlinkTest, AnInterfaceIsSetUpAndRemoved) {
  shell("ip link set here down");
  const std::uint32_t index = if_nametoindex("here");
  const LinkSettings settings{.mtu = 4000, .tx_queue_length = 77, .mac = {2, 0, 0, 0, 0, 9}};
  EXPECT_EQ(bring_up(index, settings), 0);
  EXPECT_EQ(find_link("here")->mtu, 4000u);
  EXPECT_NE(find_link("here")->flags & IFF_UP, 0u);
  shell("ip link show here | grep -q 'qlen 77'");
  shell("ip link show here | grep -q 'link/ether 02:00:00:00:00:09'");
  EXPECT_EQ(bring_up(index, {.mtu = 1, .mac = settings.mac}), EINVAL);
  EXPECT_EQ(remove_link(index), 0);
  EXPECT_FALSE(find_link("here"));
  EXPECT_EQ(remove_link(index), ENODEV);
  EXPECT_EQ(bring_up(index, settings), ENODEV);
}

TEST_F(RtnetlinkTest, AddressesAreReadAndAdded) {
  for (const char* text : {"10.1.0.1", "10.1.0.1/", "10.1.0.1/33", "/8", "x/8", "::1/129", "::1/-1",
                           "10.1.0.1/8 ", "10.1.0.1/256", ""}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
  const std::uint32_t index = if_nametoindex("here");
  for (const char* text : {"10.1.0.1/24", "2001:db8::1/64"}) {
    const auto address = parse_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(add_address(index, *address), 0);
    EXPECT_EQ(add_address(index, *address), EEXIST);
    shell("ip address show here | grep -q 'inet6\\? " + std::string(text) + "'");
  }
}

TEST_F(RtnetlinkTest, TellsWhatADeviceDidNotTake) {
  EXPECT_EQ(read_tx_dropped(if_nametoindex("here")), 0u);
  EXPECT_FALSE(read_tx_dropped(1000));
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
