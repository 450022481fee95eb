// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/hub/dpdk_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "shared/base/error.hpp"
#include "tests/unit/support/dpdk_world.hpp"

namespace millrace {
namespace {

using ::testing::HasSubstr;

PlanPort port_with(const std::string& devargs, std::uint32_t mtu = 1500) {
  return {.name = "a", .device = "dpdk", .settings = {{"devargs", devargs}}, .mtu = mtu};
}

template <typename Work>
std::string refusal_of(Work&& work) {
  test::start_test_eal();
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string configure(const PlanPort& port, std::uint32_t receive, std::uint32_t transmit) {
  return refusal_of([&] {
    const PortArgs args = port_args(port);
    const std::uint16_t device = find_device(args);
    configure_device(device, port, args, receive, transmit);
  });
}

TEST(DpdkDevice, MoreQueuesThanItHasAreRefusedWithBothFigures) {
  EXPECT_THAT(configure(port_with("net_null800"), 5000, 1),
              HasSubstr("5000 receive queues are wanted, the device has "));
  EXPECT_THAT(configure(port_with("net_null801"), 1, 5000),
              HasSubstr("5000 transmit queues are wanted, the device has "));
  EXPECT_EQ(configure(port_with("net_null802"), 2, 3), "");
}

TEST(DpdkDevice, AnMtuBeyondItsRangeIsRefused) {
  EXPECT_THAT(configure(port_with("net_null803", 20), 1, 1), HasSubstr("mtu 20 is not within "));
}

TEST(DpdkDevice, ANicThatIsNotThereIsToldWithTheCommandThatBindsIt) {
  EXPECT_THAT(refusal_of([] { find_device(port_args(port_with("0000:ff:1f.7"))); }),
              HasSubstr("no device 0000:ff:1f.7 for DPDK; bind it to vfio-pci: modprobe vfio-pci "
                        "&& dpdk-devbind.py -b vfio-pci 0000:ff:1f.7"));
}

TEST(DpdkDevice, AMemifClientCallsItsPeerAndNobodyElseDoes) {
  const auto calls = [](const std::string& devargs) {
    return calls_its_peer(port_args(port_with(devargs)));
  };
  EXPECT_TRUE(calls("net_memif0,role=client,id=3"));
  EXPECT_TRUE(calls("net_memif0"));
  EXPECT_FALSE(calls("net_memif0,role=server"));
  EXPECT_FALSE(calls("net_memif0,role=master"));
  EXPECT_FALSE(calls("net_null0"));
}

TEST(DpdkDevice, MemifWantsBothDirections) {
  EXPECT_THAT(configure(port_with("net_memif805,role=server,socket=millrace-test-" +
                                  std::to_string(getpid())),
                        0, 1),
              HasSubstr("name the port in `from` of a path too"));
}

}  // namespace
}  // namespace millrace
