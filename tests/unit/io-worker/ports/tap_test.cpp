// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/tap.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::make_port;

TEST(TapPort, ReadsItsSettings) {
  const TapSettings few = tap_settings(make_port("tap", {{"interface", "mill-lan"}}));
  EXPECT_EQ(few.interface, "mill-lan");
  EXPECT_EQ(few.queues, 1u);
  EXPECT_EQ(few.ring, 1024u);
  EXPECT_FALSE(few.super_frames);
  EXPECT_EQ(few.host_mac, (MacAddress{6, 0, 0, 0, 0, 1})) << "not that of the port";
  EXPECT_TRUE(few.host_addresses.empty());
  const PlanPort all = make_port("tap", {{"interface", "mill-lan"},
                                         {"queues", "3"},
                                         {"ring", "64"},
                                         {"super_frames", "true"},
                                         {"host_mac", "02:00:00:00:0A:01"},
                                         {"host_addresses", "10.1.0.2/24"},
                                         {"host_addresses", "2001:db8::2/64"}});
  const TapSettings many = tap_settings(all);
  EXPECT_EQ(many.ring, 64u);
  EXPECT_TRUE(many.super_frames);
  EXPECT_EQ(many.host_mac, (MacAddress{2, 0, 0, 0, 10, 1}));
  ASSERT_EQ(many.host_addresses.size(), 2u);
  EXPECT_EQ(many.host_addresses[0].family, AF_INET);
  EXPECT_EQ(many.host_addresses[1].family, AF_INET6);
  EXPECT_EQ(tap_queues(all).receive, 3u);
  EXPECT_EQ(tap_queues(all).send, kPortQueueCountMax);
  EXPECT_NO_THROW(check_port(all)) << "nothing of the host is looked at";
}

TEST(TapPort, RefusesBadSettings) {
  const auto refusal = [](Settings settings) {
    return error_of([&] { check_port(make_port("tap", std::move(settings))); });
  };
  EXPECT_EQ(refusal({}), "port 'lan' (tap): needs 'interface', the one to make");
  for (const char* name : {"sixteen-is-too-1", "a/b", "a:1", "tap%d", "a b", "..", "."}) {
    EXPECT_EQ(refusal({{"interface", name}}),
              "port 'lan' (tap): interface is '" + std::string(name) +
                  "'; allowed: a name of at most 15 bytes without / : % and blanks");
  }
  EXPECT_EQ(refusal({{"interface", "a"}, {"ring", "63"}}),
            "port 'lan' (tap): ring is '63'; allowed: 64..65536");
  EXPECT_EQ(refusal({{"interface", "a"}, {"queues", "17"}}),
            "port 'lan' (tap): queues is '17'; allowed: 1..16");
  EXPECT_EQ(refusal({{"interface", "a"}, {"host_mac", "01:00:00:00:00:01"}}),
            "port 'lan' (tap): host_mac is '01:00:00:00:00:01'; allowed: a unicast MAC address "
            "like '06:00:00:00:00:01'");
  for (const char* address : {"10.1.0.2", "10.1.0.2/33", "10.1.0/24", "::1/129", "::1/", "x/1"}) {
    EXPECT_EQ(refusal({{"interface", "a"}, {"host_addresses", address}}),
              "port 'lan' (tap): host_addresses is '" + std::string(address) +
                  "'; allowed: addresses with their prefix like 10.1.0.2/24, 2001:db8::2/64");
  }
}

}  // namespace
}  // namespace millrace
