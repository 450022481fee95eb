// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/afxdp.hpp"

#include <gtest/gtest.h>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::make_port;

TEST(AfxdpPort, ReadsItsSettings) {
  const PlanPort port =
      make_port("afxdp", {{"interface", "eth0"}, {"queues", "3"}, {"ring", "100"}});
  EXPECT_EQ(afxdp_settings(port).interface, "eth0");
  EXPECT_EQ(afxdp_settings(port).ring, 100u);
  EXPECT_EQ(afxdp_queues(port).receive, 3u);
  EXPECT_EQ(afxdp_queues(port).send, kPortQueueCountMax);
  EXPECT_EQ(afxdp_interface(port).rx_queues, 3u) << "no other queue gets packets";
  EXPECT_FALSE(afxdp_interface(port).host);
  EXPECT_NO_THROW(check_port(port)) << "no interface is looked at";
}

TEST(AfxdpPort, RefusesBadSettings) {
  const auto refusal = [](Settings settings) {
    return error_of([&] { check_port(make_port("afxdp", std::move(settings))); });
  };
  EXPECT_EQ(refusal({}), "port 'lan' (afxdp): needs 'interface', the one to take");
  EXPECT_EQ(refusal({{"interface", "a"}, {"ring", "63"}}),
            "port 'lan' (afxdp): ring is '63'; allowed: 64..16384");
  EXPECT_EQ(refusal({{"interface", "a"}, {"host", "true"}}),
            "port 'lan' (afxdp): unknown setting 'host' allowed: follow, interface, queues, ring");
}

}  // namespace
}  // namespace millrace
