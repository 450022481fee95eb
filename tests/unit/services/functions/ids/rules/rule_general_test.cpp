// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(RuleGeneral, ARuleHasNamesAndNumbers) {
  const Signature signature = signature_of(
      R"(msg:"a \"b\"\; c\\d"; gid:3; rev:22; priority:2; noalert; target:dest_ip; rem:"x";)"
      R"(reference:cve,2004-0826; tag:session,5,packets;)"
      R"(metadata:policy security-ips drop, created_at 2010_07_30,single;)");
  EXPECT_EQ(signature.message, R"(a "b"; c\d)");
  EXPECT_EQ(signature.sid, 1u);
  EXPECT_EQ(signature.gid, 3u);
  EXPECT_EQ(signature.revision, 22u);
  EXPECT_EQ(signature.priority, 2);
  EXPECT_TRUE(signature.no_alert);
  EXPECT_THAT(signature.metadata,
              ElementsAre(Pair("policy", "security-ips drop"), Pair("created_at", "2010_07_30"),
                          Pair("single", "")));
}

TEST(RuleGeneral, AClassGivesItsPriorityUnlessTheRuleDoes) {
  DraftOf of;
  of.setup.classes["bad-one"] = {1, "a bad one"};
  Signature signature = signature_of("classtype:bad-one;", of);
  EXPECT_EQ(signature.classification, "a bad one");
  EXPECT_EQ(signature.priority, 1);
  EXPECT_EQ(signature_of("priority:4; classtype:bad-one;", of).priority, 4);
  EXPECT_EQ(signature_of("classtype:bad-one; priority:4;", of).priority, 4);
  signature = signature_of("classtype:other;", of);
  EXPECT_EQ(signature.classification, "other");
  EXPECT_EQ(signature.priority, 3);
  of.setup.classes["no-text"] = {2, ""};
  EXPECT_EQ(signature_of("classtype:no-text;", of).classification, "no-text");
}

TEST(RuleGeneral, NumbersThatAreNoneAreRefused) {
  expect_refused({
      {"sid:5;", "sid: it stands twice"},
      {"gid:x;", "no number"},
      {"rev:-1;", "not from 0"},
      {"rev:4294967296;", "not from 0"},
      {"priority:0;", "not from 1 to 255"},
      {"priority:256;", "not from 1 to 255"},
      {"target:both;", "neither src_ip nor dest_ip"},
      {"msg;", "no value"},
  });
}

}  // namespace
}  // namespace millrace
