// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/settings.hpp"

#include <gtest/gtest.h>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::make_port;

TEST(PortSettings, GivesDefaultsForWhatIsAbsent) {
  const PlanPort port = make_port("generate", {});
  const PortSettings settings(port, {"size", "loop", "rate"});
  EXPECT_EQ(settings.number("size", 64, 60, 9000), 64u);
  EXPECT_TRUE(settings.flag("loop", true));
  EXPECT_EQ(settings.decimal("rate", 0.5, 0, 1), 0.5);
  EXPECT_EQ(settings.text("file", "none"), "none");
  EXPECT_TRUE(settings.list("size").empty());
}

TEST(PortSettings, ReadsEveryKindOfValue) {
  const PlanPort port = make_port(
      "x", {{"a", "18446744073709551615"}, {"b", "1.25"}, {"c", "false"}, {"d", "1"}, {"d", "2"}});
  const PortSettings settings(port, {"a", "b", "c", "d"});
  EXPECT_EQ(settings.number("a", 0, 0, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(settings.decimal("b", 0, 0, 2), 1.25);
  EXPECT_FALSE(settings.flag("c", true));
  EXPECT_EQ(settings.numbers("d", 9, 0, 5), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(settings.list("d"), (std::vector<std::string>{"1", "2"}));
}

TEST(PortSettings, NamesTheNearestKeyForAnUnknownOne) {
  const PlanPort port = make_port("generate", {{"sise", "64"}});
  EXPECT_EQ(error_of([&] {
              PortSettings(port, {"size", "flows"});
            }),
            "port 'lan' (generate): unknown setting 'sise', did you mean 'size'? allowed: size, "
            "flows");
}

TEST(PortSettings, SaysWhatWasFoundAndWhatIsAllowed) {
  const auto refused = [](const std::string& value, auto read) {
    const PlanPort port = make_port("generate", {{"size", value}});
    const PortSettings settings(port, {"size"});
    return error_of([&] { read(settings); });
  };
  const auto number = [](const PortSettings& s) { s.number("size", 64, 60, 9000); };
  EXPECT_EQ(refused("59", number), "port 'lan' (generate): size is '59'; allowed: 60..9000");
  EXPECT_EQ(refused("9001", number), "port 'lan' (generate): size is '9001'; allowed: 60..9000");
  for (const char* bad : {"", "-1", "6x", "0x50", " 64", "64 ", "99999999999999999999999"}) {
    EXPECT_NE(refused(bad, number), "") << bad;
  }
  const auto numbers = [](const PortSettings& s) { s.numbers("size", 64, 60, 9000); };
  EXPECT_EQ(refused("59", numbers), "port 'lan' (generate): size is '59'; allowed: 60..9000");
  const auto decimal = [](const PortSettings& s) { s.decimal("size", 0, 0, 1000); };
  EXPECT_EQ(refused("nan", decimal), "port 'lan' (generate): size is 'nan'; allowed: 0..1000");
  for (const char* bad : {"inf", "1e9", "-0.1", "", "1,5"}) EXPECT_NE(refused(bad, decimal), "");
  const auto flag = [](const PortSettings& s) { s.flag("size", false); };
  EXPECT_EQ(refused("yes", flag), "port 'lan' (generate): size is 'yes'; allowed: true, false");
}

TEST(PortSettings, RefusesTwoValuesWhereOneIsMeant) {
  const PlanPort port = make_port("pcap", {{"in", "a"}, {"in", "b"}});
  const PortSettings settings(port, {"in"});
  EXPECT_EQ(error_of([&] { settings.text("in", ""); }),
            "port 'lan' (pcap): in is 'b'; allowed: one value");
}

}  // namespace
}  // namespace millrace
