// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/routes/route_service.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

#include "shared/base/clock.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"
#include "tests/unit/services/functions/route/live/live_world.hpp"

namespace millrace {
namespace {

/// Ports "lan" and "wan" whose host interfaces are the two ends of a cable.
class RouteServiceTest : public test::VethTest {
 protected:
  void SetUp() override {
    VethTest::SetUp();
    if (IsSkipped()) return;
    shell("ip address add 10.1.0.1/24 dev here && ip address add 192.0.2.2/30 dev there");
    shell("ip route add 10.2.0.0/16 via 192.0.2.1");
    plan_.ports.assign(world_.ports().begin(), world_.ports().end());
    plan_.ports[2].settings = {{"interface", "here"}};
    plan_.ports[3].settings = {{"interface", "there"}};
    plan_.functions = {{.name = "way",
                        .type = "route",
                        .settings = {{"routes", "kernel"}},
                        .image = world_.path()},
                       {.name = "other", .type = "match", .image = "/absent"},
                       {.name = "gone", .type = "route", .gone = true}};
    service_ = std::make_unique<RouteService>(grace_, "", [this] { ++alive_; });
    service_->use(plan_);
    turns();
  }
  /// Until nothing is due, each some seconds later.
  void turns() {
    for (int i = 0; i < 5; ++i) {
      now_ns_ = std::max(now_ns_, monotonic_ns()) + 2'000'000'000;
      while (!service_->turn(now_ns_)) {
      }
    }
  }
  std::uint64_t dumps() const { return read_route_live(world_.path())->dump_count; }

  test::LiveWorld world_;
  Plan plan_;
  test::NoReader grace_;
  int alive_ = 0;
  std::uint64_t now_ns_ = 0;
  std::unique_ptr<RouteService> service_;
};

TEST_F(RouteServiceTest, WhatTheKernelHasAndGetsIsInTheTable) {
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 1);
  const std::uint64_t before = dumps();
  shell("ip route add 10.3.0.0/16 via 10.1.0.9 && ip route del 10.2.0.0/16");
  turns();
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 0);
  EXPECT_EQ(world_.gateway_to("10.3.3.4"), 9);
  EXPECT_EQ(dumps(), before) << "changes are followed one by one";
  EXPECT_EQ(service_->wait_ms(now_ns_), 100);
}

TEST_F(RouteServiceTest, WhatIsNotToldIsReadWhole) {
  const std::uint64_t before = dumps();
  shell("ip link set there down");  // the kernel tells of no route of IPv4 then
  turns();
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 0);
  EXPECT_GT(dumps(), before);
}

/// Of a prefix that changed twice, the kernel told of the first time only.
TEST_F(RouteServiceTest, WhatWasToldBeforeTheKernelLostAMessageIsNotBelieved) {
  constexpr int kRoomBytes = 512 << 10;  // of far more messages than one turn reads
  ASSERT_EQ(::setsockopt(service_->descriptor(), SOL_SOCKET, SO_RCVBUFFORCE, &kRoomBytes,
                         sizeof kRoomBytes),
            0);
  const auto flood = [](int count) {
    shell("for i in $(seq " + std::to_string(count) +
          "); do echo route replace 10.5.0.0/16 via 10.1.0.$((i % 2 + 3)); done | ip -batch -");
  };
  flood(600);
  shell("ip route replace 10.3.0.0/16 via 10.1.0.9");
  flood(8000);
  shell("ip route replace 10.3.0.0/16 via 10.1.0.8 && ip route add 10.4.0.0/16 via 10.1.0.7");
  turns();
  EXPECT_GT(service_->facts().front().overruns, 0u);
  EXPECT_EQ(world_.gateway_to("10.3.3.4"), 8);
  EXPECT_EQ(world_.gateway_to("10.4.3.4"), 7);
}

TEST_F(RouteServiceTest, ASuccessorGoesOn) {
  service_.reset();
  shell("ip route add 10.3.0.0/16 via 10.1.0.9 && ip route del 10.2.0.0/16");
  service_ = std::make_unique<RouteService>(grace_, "", [] {});
  service_->use(plan_);
  turns();
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 0);
  EXPECT_EQ(world_.gateway_to("10.3.3.4"), 9);
}

TEST_F(RouteServiceTest, ATableThatIsFullIsAskedForAnew) {
  EXPECT_EQ(read_route_live(world_.path())->wants_rebuild, 0u);
  shell(
      "for i in $(seq 250 5250); do echo route replace 10.4.0.0/16 via "
      "10.1.$((i / 250)).$((i % 250 + 1)) dev here onlink; done | ip -batch -");
  turns();
  EXPECT_EQ(read_route_live(world_.path())->wants_rebuild, 1u);
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 1) << "what was there holds";
}

/// A reader that hangs.
struct NoGrace final : ReaderGrace {
  std::uint64_t now() override { return 0; }
  bool passed(std::uint64_t) override { return false; }
};

TEST_F(RouteServiceTest, WithAReaderThatHangsATableFillsUpAndNothingWaitsForEver) {
  NoGrace grace;
  service_ = std::make_unique<RouteService>(grace, "", [] {});
  service_->use(plan_);
  turns();
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 1);
  shell("for i in $(seq 1 200); do echo route add 10.6.$i.7/32 via 192.0.2.1; done | ip -batch -");
  turns();
  EXPECT_EQ(read_route_live(world_.path())->wants_rebuild, 1u);
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 1);
}

TEST_F(RouteServiceTest, ATableThatHasGoneIsFollowedNoMore) {
  plan_.functions[0].image = "/dev/shm/millrace-absent";
  service_->use(plan_);
  shell("ip route add 10.3.0.0/16 via 10.1.0.9");
  turns();
  EXPECT_EQ(world_.gateway_to("10.3.3.4"), 0);
}

}  // namespace
}  // namespace millrace
