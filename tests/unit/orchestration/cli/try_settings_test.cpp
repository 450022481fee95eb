// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "orchestration/cli/try_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/functions/table.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using test::error_of;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const FunctionTraits& traits_of(const char* type) { return function_type(type).traits; }

TEST(TrySettings, APortHasNameMacAndAddresses) {
  const PlanPort port = parse_try_port("wan=02:00:00:00:00:0b,192.0.2.2/30,10.0.0.1/8");
  EXPECT_EQ(port.name, "wan");
  EXPECT_EQ(port.mac, "02:00:00:00:00:0b");
  EXPECT_THAT(port.addresses, ElementsAre("192.0.2.2/30", "10.0.0.1/8"));
  EXPECT_THAT(parse_try_port("lan=02:00:00:00:00:0a").addresses, IsEmpty());
  EXPECT_THAT(error_of([] { parse_try_port("wan"); }), HasSubstr("name=mac"));
  EXPECT_THAT(error_of([] { parse_try_port("=02:00:00:00:00:0b"); }), HasSubstr("name=mac"));
}

TEST(TrySettings, AKeyGoesToEveryFunctionThatHasItOrToTheOneNamed) {
  const std::vector<std::string> texts = {"table=a", "rules=b", "route.table=c=d"};
  EXPECT_THAT(try_settings(texts, traits_of("route")),
              ElementsAre(Pair("table", "a"), Pair("table", "c=d")));
  EXPECT_THAT(try_settings(texts, traits_of("match")), ElementsAre(Pair("rules", "b")));
}

TEST(TrySettings, WhatNoFunctionWantsIsRefusedWithTheKeysThatThereAre) {
  EXPECT_THAT(error_of([] { check_try_settings({"tabel=a"}, {"route"}); }),
              HasSubstr("route.table"));
  EXPECT_THAT(error_of([] { check_try_settings({"match.rules=a"}, {"route"}); }),
              HasSubstr("no function here"));
  EXPECT_THAT(error_of([] { check_try_settings({"table"}, {"route"}); }), HasSubstr("key=value"));
  EXPECT_NO_THROW(check_try_settings({"table=a"}, {"match", "route"}));
  EXPECT_THAT(error_of([] { check_try_settings({"a=b"}, {"rote"}); }), HasSubstr("'rote'"));
}

TEST(TrySettings, ClassesAreNumberedInTheOrderOfFirstMention) {
  std::vector<std::string> all;
  const Settings first = try_settings({"classes=red,blue"}, traits_of("match"));
  EXPECT_THAT(first, ElementsAre(Pair("classes", "red"), Pair("classes", "blue")));
  EXPECT_EQ(number_classes(first, all), 3u);
  EXPECT_EQ(number_classes({{"classes", "green"}, {"rules", "x"}, {"classes", "red"}}, all), 5u);
  EXPECT_THAT(all, ElementsAre("red", "blue", "green"));
  Settings many;
  for (int i = 0; i < 30; ++i) many.emplace_back("classes", "c" + std::to_string(i));
  EXPECT_THAT(error_of([&] { number_classes(many, all); }), HasSubstr("32"));
}

}  // namespace
}  // namespace millrace
