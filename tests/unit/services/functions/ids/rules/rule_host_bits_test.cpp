// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

using What = FlowbitTest::What;

DraftOf with_kept(KeptBits kept) {
  DraftOf of;
  of.setup.kept_bits = kept;
  return of;
}

TEST(RuleHostBits, SayWhatIsTracked) {
  const Signature signature = signature_of(
      "xbits:isset,a.b,track ip_src,expire 10; xbits:set, c, track ip_pair; "
      "xbits:unset,c,track ip_dst,expire 7; flowbits:set,c;");
  ASSERT_EQ(signature.flowbits.size(), 4u);
  const FlowbitTest& asked = signature.flowbits[0];
  EXPECT_EQ(asked.what, What::kIsSet);
  ASSERT_TRUE(asked.host);
  EXPECT_EQ(asked.host->by, TrackBy::kSource);
  EXPECT_EQ(asked.host->seconds, 10u);
  const FlowbitTest& set = signature.flowbits[1];
  EXPECT_EQ(set.what, What::kSet);
  EXPECT_EQ(set.host->by, TrackBy::kBoth);
  EXPECT_EQ(set.host->seconds, 30u) << "Suricata's default";
  EXPECT_NE(set.host->name, asked.host->name);
  EXPECT_EQ(signature.flowbits[2].host->name, set.host->name);
  EXPECT_EQ(signature.flowbits[2].host->by, TrackBy::kDestination);
  EXPECT_EQ(signature.flowbits[2].bits, set.bits);
  EXPECT_FALSE(signature.flowbits[3].host);
  EXPECT_NE(signature.flowbits[3].bits, set.bits) << "a flowbit of that name is another bit";
}

TEST(RuleHostBits, NoAlertGoesWithThem) { EXPECT_TRUE(signature_of("xbits:noalert;").no_alert); }

TEST(RuleHostBits, AreRefusedWhereALaneDoesNotHaveTheHost) {
  const char* const pair = "xbits:set,a,track ip_pair;";
  const char* const source = "xbits:isset,a,track ip_src;";
  EXPECT_EQ(refusal_of(pair, with_kept(KeptBits::kOfHosts)), "");
  EXPECT_EQ(refusal_of(source, with_kept(KeptBits::kOfHosts)), "");
  EXPECT_EQ(refusal_of(pair, with_kept(KeptBits::kOfPairs)), "");
  EXPECT_EQ(refusal_of(source, with_kept(KeptBits::kOfPairs)),
            "xbits: bits of hosts are kept in a topology with one path of one lane");
  EXPECT_EQ(refusal_of(pair, with_kept(KeptBits::kNone)),
            "xbits: bits of pairs of hosts are kept where one path has their packets in one lane");
}

TEST(RuleHostBits, WhatIsNotUnderstoodIsRefused) {
  expect_refused({
      {"xbits:set,a;", "a command, a name"},
      {"xbits:set,a,track ip_src,expire 3,x;", "a command, a name"},
      {"xbits:sit,a,track ip_src;", "'sit' is not known"},
      {"xbits:set,a,track tx;", "'tx' is not known"},
      {"xbits:set,a,by ip_src;", "not what is tracked"},
      {"xbits:set,a,track ip_src,expires 3;", "no time"},
      {"xbits:set,a,track ip_src,expire 0;", "not from 1"},
      {"xbits:set,a b,track ip_src;", "no name of a bit"},
  });
}

TEST(RuleHostBits, ARuleThatSetsThemLooksAtEachPacket) {
  EXPECT_TRUE(signature_of("flowbits:set,a;", draft_of(RuleProtocol::kIp)).looks_at_heads_only());
  EXPECT_FALSE(
      signature_of("xbits:set,a,track ip_src;", draft_of(RuleProtocol::kIp)).looks_at_heads_only());
}

}  // namespace
}  // namespace millrace
