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

constexpr KnownSetting kRows[] = {
    {.name = "file"},
    {.name = "loop", .kind = SettingKind::kFlag, .otherwise = "true"},
    {.name = "most", .kind = SettingKind::kInteger, .high = 1e15},
    {.name = "name", .otherwise = "none"},
    {.name = "rate", .kind = SettingKind::kNumber, .high = 1000, .otherwise = "0.5"},
    {.name = "size",
     .kind = SettingKind::kInteger,
     .low = 60,
     .high = 9000,
     .list = true,
     .otherwise = "64"},
};

TEST(PortSettings, GivesDefaultsForWhatIsAbsent) {
  const PlanPort port = make_port("x", {});
  const PortSettings settings(port, kRows);
  EXPECT_EQ(settings.count("size"), 64u);
  EXPECT_EQ(settings.number("most"), 0u);
  EXPECT_TRUE(settings.flag("loop"));
  EXPECT_EQ(settings.decimal("rate"), 0.5);
  EXPECT_EQ(settings.text("name"), "none");
  EXPECT_EQ(settings.text("file"), "");
  EXPECT_EQ(settings.numbers("size", 0), (std::vector<std::uint64_t>{64}));
  EXPECT_TRUE(settings.list("file").empty());
  EXPECT_FALSE(settings.has("size"));
}

TEST(PortSettings, ReadsEveryKindOfValue) {
  const PlanPort port = make_port("x", {{"most", "1000000000000000"},
                                        {"rate", "1.25"},
                                        {"loop", "false"},
                                        {"size", "60"},
                                        {"size", "61"}});
  const PortSettings settings(port, kRows);
  EXPECT_EQ(settings.number("most"), 1'000'000'000'000'000u);
  EXPECT_EQ(settings.decimal("rate"), 1.25);
  EXPECT_FALSE(settings.flag("loop"));
  EXPECT_EQ(settings.numbers("size", 0), (std::vector<std::uint64_t>{60, 61}));
  EXPECT_EQ(settings.list("size"), (std::vector<std::string>{"60", "61"}));
  EXPECT_TRUE(settings.has("size"));
}

TEST(PortSettings, HasTheKeysOfThePortsDevice) {
  const PlanPort port = make_port("afxdp", {{"interface", "eth0"}});
  EXPECT_EQ(PortSettings(port).count("ring"), 1024u);
}

TEST(PortSettings, NamesTheNearestKeyForAnUnknownOne) {
  const PlanPort port = make_port("generate", {{"sise", "64"}});
  EXPECT_EQ(error_of([&] { PortSettings(port, kRows); }),
            "port 'lan' (generate): unknown setting 'sise', did you mean 'size'? allowed: file, "
            "loop, most, name, rate, size");
}

TEST(PortSettings, SaysWhatWasFoundAndWhatIsAllowed) {
  const auto refused = [](const char* key, const std::string& value, auto read) {
    const PlanPort port = make_port("generate", {{key, value}});
    const PortSettings settings(port, kRows);
    return error_of([&] { read(settings); });
  };
  const auto number = [](const PortSettings& s) { s.number("size"); };
  EXPECT_EQ(refused("size", "59", number),
            "port 'lan' (generate): size is '59'; allowed: 60..9000");
  EXPECT_EQ(refused("size", "9001", number),
            "port 'lan' (generate): size is '9001'; allowed: 60..9000");
  for (const char* bad : {"", "-1", "6x", "0x50", " 64", "64 ", "99999999999999999999999"}) {
    EXPECT_NE(refused("size", bad, number), "") << bad;
  }
  const auto numbers = [](const PortSettings& s) { s.numbers("size", 82); };
  EXPECT_EQ(refused("size", "81", numbers),
            "port 'lan' (generate): size is '81'; allowed: 82..9000");
  const auto decimal = [](const PortSettings& s) { s.decimal("rate"); };
  EXPECT_EQ(refused("rate", "nan", decimal),
            "port 'lan' (generate): rate is 'nan'; allowed: 0..1000");
  for (const char* bad : {"inf", "1e9", "-0.1", "", "1,5"}) {
    EXPECT_NE(refused("rate", bad, decimal), "");
  }
  const auto flag = [](const PortSettings& s) { s.flag("loop"); };
  EXPECT_EQ(refused("loop", "yes", flag),
            "port 'lan' (generate): loop is 'yes'; allowed: true, false");
}

TEST(PortSettings, RefusesTwoValuesWhereOneIsMeant) {
  const PlanPort port = make_port("pcap", {{"in", "a"}, {"in", "b"}});
  const PortSettings settings(port);
  EXPECT_EQ(error_of([&] { settings.text("in"); }),
            "port 'lan' (pcap): in is 'b'; allowed: one value");
}

}  // namespace
}  // namespace millrace
