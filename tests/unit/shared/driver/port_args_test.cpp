// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/driver/port_args.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(PortArgs, DefaultsStandWhereNothingIsSaid) {
  const PortArgs args =
      port_args({.name = "wan", .device = "dpdk", .settings = {{"devargs", "0000:3b:00.1"}}});
  EXPECT_EQ(args.name, "0000:3b:00.1");
  EXPECT_FALSE(args.virtual_device);
  EXPECT_TRUE(args.promiscuous);
  EXPECT_EQ(args.rx_descriptors, 512u);
  EXPECT_EQ(args.tx_descriptors, 512u);
}

TEST(PortArgs, AVirtualDeviceIsNamedBeforeItsArguments) {
  const PortArgs args = port_args({.name = "wan",
                                   .device = "dpdk",
                                   .settings = {{"devargs", "net_memif3,role=client,id=1"},
                                                {"promiscuous", "false"},
                                                {"queues", "2"},
                                                {"rx_descriptors", "128"},
                                                {"tx_descriptors", "256"}}});
  EXPECT_EQ(args.name, "net_memif3");
  EXPECT_EQ(args.devargs, "net_memif3,role=client,id=1");
  EXPECT_TRUE(args.virtual_device);
  EXPECT_FALSE(args.promiscuous);
  EXPECT_EQ(args.queues, 2u);
  EXPECT_EQ(args.rx_descriptors, 128u);
  EXPECT_EQ(args.tx_descriptors, 256u);
}

}  // namespace
}  // namespace millrace
