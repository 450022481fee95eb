// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/watching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "orchestration/planner/plan_printer.hpp"
#include "shared/base/error.hpp"
#include "shared/watch/watch_point.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::string> names_of(const std::vector<WatchPlace>& places) {
  std::vector<std::string> names;
  for (const WatchPlace& place : places) names.push_back(place.name);
  return names;
}

TEST(WatchPlaces, WithoutAnyNameAreAllPortsBothWays) {
  const Plan plan = plan_of_text(kTwoPaths);
  EXPECT_THAT(names_of(watch_places(plan, {}, {}, false)),
              ElementsAre("a in", "a out", "b in", "b out"));
  EXPECT_THAT(names_of(watch_places(plan, {}, {}, true)), ElementsAre("dropped"));
}

TEST(WatchPlaces, AreNamedAsThePlanNamesThem) {
  const Plan plan = plan_of_text(kTwoPaths);
  const std::string link = link_name(plan, plan.links[3]);
  EXPECT_THAT(names_of(watch_places(plan, {"b", "a:out"}, {link}, false)),
              ElementsAre("b in", "b out", "a out", link));
}

TEST(WatchPlaces, UnknownOnesAreRefusedWithThoseThatThereAre) {
  const Plan plan = plan_of_text(kTwoPaths);
  const auto of = [&](const std::string& port, const std::string& link) {
    return [&plan, port, link] {
      watch_places(plan, port.empty() ? std::vector<std::string>{} : std::vector{port},
                   link.empty() ? std::vector<std::string>{} : std::vector{link}, false);
    };
  };
  EXPECT_THAT(of("c", ""), ThrowsMessage<Error>(HasSubstr("no port 'c'; there are: a, b")));
  EXPECT_THAT(of("a:up", ""), ThrowsMessage<Error>(HasSubstr("PORT:in or PORT:out")));
  EXPECT_THAT(of("", "front.0_egress"), ThrowsMessage<Error>(HasSubstr("no link")));
}

TEST(WatchPlaces, OnlyThoseWhoCanShowAPlaceAreAsked) {
  const Plan plan = plan_of_text(kTwoPaths);
  const auto asked = [&](const std::vector<WatchPlace>& places) {
    std::vector<std::string> names;
    const WatchWish wish = wish_of(plan, places);
    for (std::size_t i = 0; i < wish.actors.size(); ++i) {
      if (wish.actors[i]) names.push_back(plan.actors[i].name);
    }
    return names;
  };
  EXPECT_THAT(asked(watch_places(plan, {"b:in"}, {}, false)), ElementsAre("ingress.b.0"));
  EXPECT_THAT(asked(watch_places(plan, {"b:out"}, {}, false)), ElementsAre("egress.0"));
  EXPECT_THAT(asked(watch_places(plan, {}, {"ingress.a.0_front.1"}, false)),
              ElementsAre("ingress.a.0"));
  EXPECT_THAT(asked(watch_places(plan, {}, {"front.1_gpu.0.a"}, false)), ElementsAre("front.1"));
  EXPECT_THAT(asked(watch_places(plan, {}, {"gpu.0.a_deep.1"}, false)), ElementsAre("deep.1"));
}

TEST(FilterOfOption, SaysWhatIsWrong) {
  EXPECT_TRUE(filter_of_option("").empty());
  EXPECT_FALSE(filter_of_option("tcp port 80").empty());
  EXPECT_THAT([] { filter_of_option("tcp prot 80"); }, ThrowsMessage<Error>(HasSubstr("--filter")));
}

/// A watcher of two actors, and their side of it.
class WatchingTest : public testing::Test {
 protected:
  WatchingTest() {
    observed_.plan = world_.plan;
    observed_.plan.name = name_;
    observed_.status = world_.status;
    world_.start_all();
  }
  ~WatchingTest() override { remove_watches(name_, true); }
  void attach(WatchPoint& point, std::string_view actor) {
    point.serve(name_, static_cast<std::uint32_t>(world_.plan.actors.size()), world_.actor(actor),
                1);
    point.look();
    point.turn();
    point.look();
  }
  void show(const WatchPoint& point, std::string_view actor, std::uint32_t port,
            std::uint64_t time) const {
    const std::vector<std::byte> bytes(static_cast<std::size_t>(time % 50) + 1);
    point.port_in(world_.actor(actor), port, {.bytes = bytes, .wire_length = 60, .time_tsc = time});
  }

  std::string name_ = "watching-test-" + std::to_string(::getpid());
  SmallWorld world_;
  Observed observed_;
};

TEST_F(WatchingTest, WhatTwoActorsShowComesInTheOrderOfTime) {
  const auto places = watch_places(world_.plan, {"a:in", "b:in"}, {}, false);
  Watching watching(observed_, ".", wish_of(world_.plan, places));
  WatchPoint a, b;
  attach(a, "ingress.a.0");
  EXPECT_THAT(watching.await_attached(std::chrono::milliseconds(0)), ElementsAre("ingress.b.0"));
  const std::vector<std::string> missing{"ingress.b.0"};
  EXPECT_EQ(watching.still_silent(missing), missing);
  attach(b, "ingress.b.0");
  EXPECT_TRUE(watching.still_silent(missing).empty());
  EXPECT_TRUE(watching.await_attached(std::chrono::milliseconds(0)).empty());
  const std::uint64_t now = tsc_now();
  for (const std::uint64_t at : {1, 4, 5}) show(a, "ingress.a.0", 0, now + at);
  for (const std::uint64_t at : {2, 3, 6}) show(b, "ingress.b.0", 1, now + at);
  Watching::Shown shown;
  EXPECT_FALSE(watching.next(shown, false)) << "somebody may show an earlier one yet";
  std::vector<std::uint64_t> times;
  std::vector<std::uint32_t> points;
  while (watching.next(shown, true)) {
    times.push_back(shown.record->time_tsc - now);
    points.push_back(shown.record->point);
    EXPECT_EQ(shown.bytes.size(), shown.record->time_tsc % 50 + 1);
  }
  EXPECT_THAT(times, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(points, ElementsAre(0, 1, 1, 0, 0, 1));
  EXPECT_EQ(watching.missed(0), 0U);
}

}  // namespace
}  // namespace millrace::test
