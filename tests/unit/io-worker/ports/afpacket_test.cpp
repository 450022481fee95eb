// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/afpacket.hpp"

#include <gtest/gtest.h>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::make_port;

TEST(AfpacketPort, ReadsItsSettings) {
  const AfpacketSettings few = afpacket_settings(make_port("afpacket", {{"interface", "eth0"}}));
  EXPECT_EQ(few.interface, "eth0");
  EXPECT_EQ(few.queues, 1u);
  EXPECT_EQ(few.ring, 2048u);
  EXPECT_FALSE(few.host);
  EXPECT_FALSE(few.super_frames);
  const auto with_super_frames = [](Settings more) {
    more.emplace_back("interface", "eth0");
    more.emplace_back("super_frames", "true");
    return afpacket_settings(make_port("afpacket", std::move(more)));
  };
  EXPECT_TRUE(with_super_frames({}).super_frames);
  EXPECT_EQ(with_super_frames({}).ring, 512u) << "each of 64 KiB";
  EXPECT_EQ(with_super_frames({{"ring", "64"}}).ring, 64u);
  const PlanPort all = make_port(
      "afpacket", {{"interface", "eth0"}, {"queues", "3"}, {"ring", "64"}, {"host", "true"}});
  EXPECT_EQ(afpacket_settings(all).ring, 64u);
  EXPECT_EQ(afpacket_queues(all).receive, 3u);
  EXPECT_EQ(afpacket_queues(all).send, kPortQueueCountMax);
  EXPECT_TRUE(afpacket_interface(all).host);
  EXPECT_EQ(afpacket_interface(all).interface, "eth0");
  EXPECT_EQ(afpacket_interface(all).mtu, 1500u);
  EXPECT_NO_THROW(check_port(all)) << "no interface is looked at";
}

TEST(AfpacketPort, RefusesBadSettings) {
  const auto refusal = [](Settings settings) {
    return error_of([&] { check_port(make_port("afpacket", std::move(settings))); });
  };
  EXPECT_EQ(refusal({}), "port 'lan' (afpacket): needs 'interface', the one to take");
  EXPECT_EQ(refusal({{"interface", "sixteen-is-too-1"}}),
            "port 'lan' (afpacket): interface is 'sixteen-is-too-1'; allowed: a name of at most 15 "
            "bytes");
  EXPECT_EQ(refusal({{"interface", "a"}, {"ring", "63"}}),
            "port 'lan' (afpacket): ring is '63'; allowed: 64..65536");
  EXPECT_EQ(refusal({{"interface", "a"}, {"queues", "17"}}),
            "port 'lan' (afpacket): queues is '17'; allowed: 1..16");
}

}  // namespace
}  // namespace millrace
