// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/group_reports.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace::group_reports_test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Of Scapy: queries of both versions by fe80::5, for all groups and for that of 2001:db8::1.
const std::string kFront =
    "33330000000102000000000586dd6000000000240001fe800000000000000000000000000005"
    "ff0200000000000000000000000000013a00050200000100";
const std::string kQuery = kFront + "8200590f271000000000000000000000000000000000000000000000";
const std::string kQueryOfGroup =
    kFront + "82005b0927100000ff0200000000000000000001ff00000100000000";
const std::string kOldQuery =
    "33330000000102000000000586dd6000000000200001fe800000000000000000000000000005"
    "ff0200000000000000000000000000013a000502000001008200591327100000"
    "00000000000000000000000000000000";
// Reports of lan: all routers, the groups of its link-local address, of 2001:db8::1 and of the
// anycast address.
const std::string kReport =
    "33330000001602000000000a86dd6000000000600001fe80000000000000000000fffe00000a"
    "ff0200000000000000000000000000163a000502000001008f0072a600000004"
    "02000000ff020000000000000000000000000002"
    "02000000ff0200000000000000000001ff00000a"
    "02000000ff0200000000000000000001ff000001"
    "02000000ff0200000000000000000001ff000000";
const std::string kOldReport =
    "3333ff00000a02000000000a86dd6000000000200001fe80000000000000000000fffe00000a"
    "ff0200000000000000000001ff00000a3a000502000001008300830400000000"
    "ff0200000000000000000001ff00000a";

struct Reporting : RouterParts {
  explicit Reporting(const std::vector<PlanPort>& plan = two_ports()) : RouterParts(plan) {}
  bool answer(const std::string& hex) {
    take(bytes_of_hex(hex));
    return reports.answer(call(), 0);
  }
  std::size_t tick(std::uint64_t since_ns, std::uint64_t time_ns) {
    take(RouteFrame(60));
    EXPECT_TRUE(reports.tick(call(), 0, {.time_ns = time_ns, .since_ns = since_ns}));
    return records().size();
  }
  GroupReports reports{ports};
};

TEST(GroupReports, AQueryIsAnsweredWithAllGroups) {
  Reporting parts;
  ASSERT_TRUE(parts.answer(kQuery));
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
  ASSERT_TRUE(parts.has_record(0, SideKind::kSend, 0, Reason::kAnnounce));
  EXPECT_EQ(parts.records().size(), 1u);
  EXPECT_EQ(parts.side_hex(), kReport);
}

TEST(GroupReports, AQueryOfOneGroupIsAnsweredWithThatIfItIsOurs) {
  Reporting parts;
  ASSERT_TRUE(parts.answer(kQueryOfGroup));
  ASSERT_EQ(parts.records().size(), 1u);
  EXPECT_EQ(parts.side_hex().substr(140), "02000000ff0200000000000000000001ff000001");
  std::string other = kQueryOfGroup;
  other.replace(other.size() - 10, 2, "09");
  other.replace(128, 4, "5b01");
  ASSERT_TRUE(parts.answer(other));
  EXPECT_TRUE(parts.records().empty());
}

TEST(GroupReports, AQueryOfTheFirstVersionIsAnsweredByIt) {
  Reporting parts;
  ASSERT_TRUE(parts.answer(kOldQuery));
  ASSERT_EQ(parts.records().size(), 4u) << "a report a group";
  EXPECT_EQ(parts.side_hex(1), kOldReport);
}

TEST(GroupReports, WhatIsNoQueryOfALinkIsNone) {
  const auto with = [](std::size_t at, const char* hex) {
    std::string frame = kQuery;
    return frame.replace(at, 2, hex);
  };
  // Hop limit, source, router alert, type, checksum, a length between the versions'.
  for (const std::string& frame : {with(42, "02"), with(44, "20"), with(112, "04"), with(124, "83"),
                                   with(130, "10"), with(38, "22"), kQuery.substr(0, 150)}) {
    Reporting parts;
    EXPECT_FALSE(parts.answer(frame)) << frame;
    EXPECT_TRUE(parts.batch().goes_on(0));
  }
}

TEST(GroupReports, APortWithoutAddressesOrWithAHostBehindSaysNothing) {
  Reporting without, hosted(hosted_ports());
  without.facts.port_in = 1;
  EXPECT_FALSE(without.answer(kQuery));
  EXPECT_FALSE(hosted.answer(kQuery));
}

TEST(GroupReports, TicksTellOfThemTwiceAfterTheStart) {
  Reporting parts;
  EXPECT_EQ(parts.tick(0, kSecond), 0u);
  ASSERT_EQ(parts.tick(kSecond, 2 * kSecond), 1u);
  std::string changed = kReport;
  for (const std::size_t at : {140u, 180u, 220u, 260u}) changed.replace(at, 2, "04");
  changed.replace(128, 4, "6aa6");
  EXPECT_EQ(parts.side_hex(), changed);
  EXPECT_EQ(parts.tick(2 * kSecond, 3 * kSecond), 0u);
  EXPECT_EQ(parts.tick(3 * kSecond, 4 * kSecond), 1u);
  EXPECT_EQ(parts.tick(4 * kSecond, 100 * kSecond), 0u);
}

TEST(GroupReports, WithoutRoomTheTickHearsOfIt) {
  Reporting parts;
  parts.take(RouteFrame(60));
  parts.fill_side_list();
  EXPECT_FALSE(parts.reports.tick(parts.call(), 0, {.time_ns = 2 * kSecond, .since_ns = kSecond}));
}

}  // namespace
}  // namespace millrace::group_reports_test
