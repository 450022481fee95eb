// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_elsewhere.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/base/error.hpp"

// Whole files: firewall_iptables_test.cpp, firewall_nft_test.cpp.

namespace millrace {
namespace {

using testing::HasSubstr;
using Verdict = FirewallLine::Verdict;

FirewallLine line(Verdict verdict, const std::string& target = "") {
  return {.where = "f:7", .name = "", .matches = {}, .verdict = verdict, .target = target};
}

/// Empty: it may stand there. The chain "base" has `lines`, "deep" one line that drops.
std::string refusal(const std::vector<FirewallLine>& lines, bool passes = true) {
  FirewallChains chains;
  chains["base"].lines = lines;
  chains["deep"].lines = {line(Verdict::kDrop)};
  try {
    refuse_drops_elsewhere(chains, {.name = "base", .hook = "hook prerouting", .passes = passes},
                           "f");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FirewallElsewhere, WhatDropsRefusesTheFile) {
  EXPECT_THAT(refusal({line(Verdict::kDrop)}),
              HasSubstr("f:7: a rule on hook prerouting may drop packets"));
  EXPECT_THAT(refusal({line(Verdict::kReject)}), HasSubstr("f:7"));
  EXPECT_THAT(refusal({line(Verdict::kJump, "deep")}), HasSubstr("f:7"));
  EXPECT_THAT(refusal({line(Verdict::kJump, "NFQUEUE")}), HasSubstr("f:7"))
      << "a target that may drop";
  EXPECT_THAT(refusal({}, false), HasSubstr("f: the policy of chain 'base'"));
}

TEST(FirewallElsewhere, WhatMarksCountsAndPassesMayStandThere) {
  EXPECT_EQ(refusal({line(Verdict::kPass), line(Verdict::kGoesOn), line(Verdict::kReturn),
                     line(Verdict::kJump, "MARK"), line(Verdict::kJump, "base")}),
            "");
}

}  // namespace
}  // namespace millrace
