// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/blocked_apps.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace millrace {
namespace {

Signature rule(RuleAction action, RuleProtocol protocol, RuleBuffer buffer) {
  Signature made;
  made.action = action;
  made.protocol = protocol;
  made.buffers.push_back({.buffer = buffer, .transforms = {}, .tests = {}});
  return made;
}

TEST(BlockedApps, AreThoseThatRulesWithDropAskFor) {
  const std::vector rules{rule(RuleAction::kDrop, RuleProtocol::kTls, RuleBuffer::kTlsSni),
                          rule(RuleAction::kAlert, RuleProtocol::kHttp, RuleBuffer::kHttpUri),
                          rule(RuleAction::kReject, RuleProtocol::kTcp, RuleBuffer::kPayload)};
  const BlockedApps apps{rules};
  EXPECT_TRUE(apps.has(AppProtocol::kTls, 0));
  EXPECT_FALSE(apps.has(AppProtocol::kTls, 1));
  EXPECT_FALSE(apps.has(AppProtocol::kHttp, 0));
  EXPECT_TRUE(apps.has(AppProtocol::kUnknown, 0));
  EXPECT_FALSE(apps.has(AppProtocol::kUnknown, 1));
}

TEST(BlockedApps, FilesAreOfHttpAndMails) {
  const std::vector any{rule(RuleAction::kDrop, RuleProtocol::kTcp, RuleBuffer::kFileData)};
  const BlockedApps apps{any};
  EXPECT_TRUE(apps.has(AppProtocol::kHttp, 0) && apps.has(AppProtocol::kHttp, 1));
  EXPECT_TRUE(apps.has(AppProtocol::kSmtp, 0));
  std::vector mails{rule(RuleAction::kDrop, RuleProtocol::kSmtp, RuleBuffer::kFileData)};
  mails[0].flow.to_server = true;
  EXPECT_FALSE(BlockedApps(mails).has(AppProtocol::kHttp, 0));
  EXPECT_TRUE(BlockedApps(mails).has(AppProtocol::kSmtp, 0));
  EXPECT_FALSE(BlockedApps(mails).has(AppProtocol::kSmtp, 1));
}

TEST(BlockedApps, FlowbitsCountWhereARuleDrops) {
  std::vector rules{rule(RuleAction::kAlert, RuleProtocol::kHttp, RuleBuffer::kHttpUri)};
  rules[0].flowbits.push_back({.what = FlowbitTest::What::kSet, .bits = {1}});
  EXPECT_FALSE(BlockedApps(rules).has(AppProtocol::kHttp, 0));
  rules.push_back(rule(RuleAction::kDrop, RuleProtocol::kTcp, RuleBuffer::kPayload));
  EXPECT_TRUE(BlockedApps(rules).has(AppProtocol::kHttp, 0));
  EXPECT_FALSE(BlockedApps().has(AppProtocol::kUnknown, 0));
}

}  // namespace
}  // namespace millrace
