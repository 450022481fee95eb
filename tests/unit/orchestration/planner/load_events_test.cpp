// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestration/planner/plan_diff.hpp"
#include "orchestration/planner/plan_printer.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kLeastEvents =
    "millrace: 1\nports: {a: {device: null}}\npaths: {p: {from: a}}\n";

std::string with_events(const std::string& events) {
  return std::string(kLeastEvents) + "events: " + events + "\n";
}

TEST(LoadEvents, AreOffUnlessSaid) {
  EXPECT_FALSE(parse(kLeastEvents).events);
  EXPECT_FALSE(plan_of(kLeastEvents).events);
  EXPECT_THAT(plan_text(plan_of(kLeastEvents)), Not(HasSubstr("events")));
}

TEST(LoadEvents, NeedNothing) {
  const Plan plan = plan_of(with_events("{}"));
  ASSERT_TRUE(plan.events);
  EXPECT_EQ(*plan.events, PlanEvents{});
  EXPECT_EQ(events_socket_path(plan, "/run/x"), "/run/x/events.sock");
  EXPECT_THAT(plan_text(plan), HasSubstr("\nevents: socket events.sock of the run directory\n"));
}

TEST(LoadEvents, FilesAreAbsoluteAndSizesHaveUnits) {
  const Plan plan =
      plan_of(with_events("{file: eve.json, rotate: 64KB, keep: 9, socket: ../e.sock}"));
  ASSERT_TRUE(plan.events);
  EXPECT_EQ(plan.events->file, "/etc/millrace/eve.json");
  EXPECT_EQ(plan.events->rotate_bytes, 64'000u);
  EXPECT_EQ(plan.events->keep, 9u);
  EXPECT_EQ(events_socket_path(plan, "/run/x"), "/etc/e.sock");
  EXPECT_THAT(plan_text(plan), HasSubstr("events: socket /etc/e.sock, file /etc/millrace/eve.json "
                                         "(renamed at 64000 bytes, 9 kept)\n"));
  EXPECT_THAT(plan_text(plan), HasSubstr("; events, telemetry\n"));
  EXPECT_THAT(plan_json(plan), HasSubstr("\"file\": \"/etc/millrace/eve.json\""));
  EXPECT_EQ(plan_of(with_events("{file: /e, rotate: 2GB}")).events->rotate_bytes, 2'000'000'000u);
  EXPECT_EQ(plan_of(with_events("{file: /e, rotate: 100MB}")).events->rotate_bytes, 100'000'000u);
}

TEST(LoadEvents, RefusesWhatIsNoSize) {
  for (const char* const size : {"0", "KB", "63KB", "1001GB", "100 MB", "1.5GB", "100mb", "-1MB",
                                 "99999999999999999999GB"}) {
    EXPECT_THAT(wrong(with_events("{file: e, rotate: " + std::string(size) + "}")),
                HasSubstr("as 'rotate'; allowed: a size from 64KB to 1000GB, like 100MB"))
        << size;
  }
}

TEST(LoadEvents, ACollectorIsAnAddressWithAPort) {
  const Plan plan = plan_of(with_events("{ipfix: {collector: '192.0.2.9:4739'}}"));
  ASSERT_TRUE(plan.events && plan.events->ipfix);
  EXPECT_EQ(plan.events->ipfix->collector, "192.0.2.9:4739");
  EXPECT_EQ(plan.events->ipfix->domain, 1u);
  EXPECT_THAT(plan_text(plan), HasSubstr(", IPFIX to 192.0.2.9:4739 (domain 1)\n"));
  const Plan other = plan_of(with_events("{ipfix: {collector: '[2001:db8::9]:1', domain: 77}}"));
  EXPECT_EQ(other.events->ipfix->domain, 77u);
  EXPECT_THAT(plan_json(other), HasSubstr("\"collector\": \"[2001:db8::9]:1\""));
  for (const char* const address : {"192.0.2.9", "'192.0.2.9:0'", "'host:4739'", "':4739'",
                                    "'192.0.2.9:65536'", "'2001:db8::9:4739'"}) {
    EXPECT_THAT(wrong(with_events("{ipfix: {collector: " + std::string(address) + "}}")),
                HasSubstr("as 'collector'; allowed: ADDRESS:PORT like '192.0.2.9:4739'"))
        << address;
  }
  EXPECT_THAT(wrong(with_events("{ipfix: {domain: 1}}")), HasSubstr("'collector'"));
  EXPECT_THAT(wrong(with_events("{ipfix: {collector: '192.0.2.9:1', domain: 4294967296}}")),
              HasSubstr("as 'domain'"));
  EXPECT_THAT(wrong(with_events("{ipfix: {collector: '192.0.2.9:1', x: 1}}")), HasSubstr("'x'"));
}

TEST(LoadEvents, SumsComeEachSoManySeconds) {
  EXPECT_EQ(plan_of(with_events("{}")).events->stats_s, 0u);
  const Plan plan = plan_of(with_events("{stats: 8s}"));
  EXPECT_EQ(plan.events->stats_s, 8u);
  EXPECT_THAT(plan_text(plan), HasSubstr(", stats each 8 s\n"));
  EXPECT_EQ(plan_of(with_events("{stats: 3600s}")).events->stats_s, 3600u);
  for (const char* const time : {"0s", "3601s", "8", "8ms", "-1s", "s", "99999999999s"}) {
    EXPECT_THAT(wrong(with_events("{stats: " + std::string(time) + "}")),
                HasSubstr("as 'stats'; allowed: a time from 1s to 3600s, like 8s"))
        << time;
  }
}

TEST(LoadEvents, AChangeOfThemTakesARestart) {
  const PlanDiff comes = diff_plans(plan_of(kLeastEvents), plan_of(with_events("{}")));
  EXPECT_THAT(comes.restart, ::testing::ElementsAre("events"));
  const PlanDiff same = diff_plans(plan_of(with_events("{}")), plan_of(with_events("{}")));
  EXPECT_TRUE(same.restart.empty());
}

}  // namespace
}  // namespace millrace
