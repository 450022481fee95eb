// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/signature_event.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(SignatureEvent, HasTheNumbersOfTheRule) {
  Signature signature;
  signature.sid = 2019401;
  signature.gid = 3;
  signature.revision = 7;
  signature.priority = 1;
  const SignatureEvent event = signature_event(4, signature, EventAction::kBlocked);
  EXPECT_EQ(event.rule, 4u);
  EXPECT_EQ(event.sid, 2019401u);
  EXPECT_EQ(event.gid, 3u);
  EXPECT_EQ(event.revision, 7u);
  EXPECT_EQ(event.priority, 1u);
  EXPECT_EQ(event.action, EventAction::kBlocked);
  EXPECT_EQ(event.direction, FlowDirection::kUnknown);
  EXPECT_EQ(event.scope, SignatureScope::kPacket);
  EXPECT_EQ(event.app[0], '\0');
}

}  // namespace
}  // namespace millrace
