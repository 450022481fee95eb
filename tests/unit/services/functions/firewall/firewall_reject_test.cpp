// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_reject.hpp"

#include <gtest/gtest.h>

#include "services/functions/acl/acl_rule.hpp"
#include "services/functions/acl/acl_words.hpp"

namespace millrace {
namespace {

TEST(FirewallReject, OfNft) {
  EXPECT_EQ(reject_of_nft("tcp reset", ""), kAclRejectReset);
  EXPECT_EQ(reject_of_nft("icmp", "host-prohibited"), acl_reject_icmp(10, 0));
  EXPECT_EQ(reject_of_nft("icmpv6", "addr-unreachable"), acl_reject_icmp(0, 3));
  EXPECT_EQ(reject_of_nft("icmpx", "admin-prohibited"), acl_reject_icmp(13, 1));
  EXPECT_EQ(reject_by_default(), acl_reject_icmp(3, 4));
  EXPECT_THROW(reject_of_nft("icmpx", "host-prohibited"), AclRefusal);
  EXPECT_THROW(reject_of_nft("icmp", "addr-unreachable"), AclRefusal);
}

TEST(FirewallReject, OfIptables) {
  EXPECT_EQ(reject_of_iptables(4, "tcp-reset"), kAclRejectReset);
  EXPECT_EQ(reject_of_iptables(4, "icmp-host-prohibited"), acl_reject_icmp(10, 0));
  EXPECT_EQ(reject_of_iptables(4, "icmp-proto-unreachable"), acl_reject_icmp(2, 0));
  EXPECT_EQ(reject_of_iptables(6, "icmp6-adm-prohibited"), acl_reject_icmp(0, 1));
  EXPECT_EQ(reject_of_iptables(6, "icmp6-reject-route"), acl_reject_icmp(0, 6));
  EXPECT_THROW(reject_of_iptables(4, "icmp6-no-route"), AclRefusal);
}

}  // namespace
}  // namespace millrace
