// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/nat64_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/error_of.hpp"

namespace millrace::nat64_settings_test {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

Settings with(Settings more) {
  Settings all = {{"inside", "lan"}, {"pool", "203.0.113.0/31"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Nat64Settings, HasDefaults) {
  const Nat64Settings settings = nat64_settings(with({}));
  EXPECT_TRUE(settings.prefix.is_well_known());
  EXPECT_FALSE(settings.has_private);
  EXPECT_THAT(settings.nat.pool, ElementsAre(0xcb007100, 0xcb007101));
}

TEST(Nat64Settings, AnotherPrefixStandsForPrivateAddresses) {
  EXPECT_TRUE(nat64_settings(with({{"prefix", "2001:db8:64::/96"}})).has_private);
  EXPECT_TRUE(nat64_settings(with({{"private", "true"}})).has_private);
  EXPECT_FALSE(nat64_settings(with({{"prefix", "64:ff9b::/96"}})).has_private);
}

TEST(Nat64Settings, KeysOfNatAreItsOwn) {
  const Nat64Settings settings =
      nat64_settings(with({{"block", "128"}, {"ports", "2000-3000"}, {"max", "7"}}));
  EXPECT_EQ(settings.nat.block, 128u);
  EXPECT_EQ(settings.nat.first_port, 2000);
  EXPECT_EQ(settings.nat.max, 7u);
  const PlanTranslation translation =
      nat64_translation(with({{"prefix", "64:ff9b::/96"}}), {{.name = "wan"}, {.name = "lan"}});
  EXPECT_THAT(translation.inside, ElementsAre(1u));
}

TEST(Nat64Settings, WhatIsWrongIsNamed) {
  const auto error = [](const char* key, const char* value) {
    return error_of([&] { nat64_settings(with({{key, value}})); });
  };
  EXPECT_THAT(error("prefix", "64:ff9b::/95"), HasSubstr("prefix: '64:ff9b::/95'"));
  EXPECT_THAT(error("publish", "tcp 203.0.113.0:80 -> 10.0.0.2:80"),
              HasSubstr("publish: nat64 has no such setting"));
  EXPECT_THAT(error("block", "3"), HasSubstr("block: '3'"));
}

}  // namespace
}  // namespace millrace::nat64_settings_test
