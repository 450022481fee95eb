// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/ports/dpdk.hpp"

#include <gtest/gtest.h>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

std::string refusal(const std::string& devargs) {
  return test::error_of([&] { check_port(test::make_port("dpdk", {{"devargs", devargs}})); });
}

TEST(DpdkPort, TakesNicsAndVirtualDevices) {
  for (const char* right :
       {"0000:3b:00.0", "3b:00.1", "0000:3B:1f.7,devarg=1", "net_null0", "net_tap12,iface=x",
        "net_memif0,role=client,id=0,socket=/run/vpp/memif.sock",
        "net_virtio_user0,path=/dev/vhost-net", "net_vhost0,iface=/tmp/v"}) {
    EXPECT_EQ(refusal(right), "") << right;
  }
}

TEST(DpdkPort, RefusesWhatIsNeither) {
  const std::string allowed =
      "'; allowed: a PCI address ('0000:3b:00.0') or a virtual device ('net_memif0,role=client'), "
      "each with arguments behind commas: key=value";
  for (const char* wrong :
       {"0000:3b:00.8", "000:3b:00.0", "3b:0.0", "0000:3b:00", "a b", "3b:00.0x"}) {
    const std::string name = std::string(wrong).substr(0, std::string(wrong).find(','));
    EXPECT_EQ(refusal(wrong), "port 'lan' (dpdk): devargs is '" + name + allowed) << wrong;
  }
}

TEST(DpdkPort, RefusesDriversThatAreNotThereOrDoNotWork) {
  EXPECT_EQ(refusal("net_memiff0"),
            "port 'lan' (dpdk): devargs name driver 'net_memiff', which is not there, did you mean "
            "'net_memif'?; allowed: net_memif, net_null, net_tap, net_vhost, net_virtio_user");
  EXPECT_EQ(refusal("net_af_xdp0,iface=eth0"),
            "port 'lan' (dpdk): devargs name driver 'net_af_xdp': it does not work in a process "
            "beside its primary; use device afxdp");
  EXPECT_EQ(refusal("net_null"),
            "port 'lan' (dpdk): devargs is 'net_null'; allowed: a driver and a number of your own, "
            "as in 'net_null0'");
}

TEST(DpdkPort, RefusesArgumentsThatAreNone) {
  for (const char* wrong :
       {"net_null0,size", "net_null0,=3", "net_null0,size=", "net_null0,,a=b", "net_null0,"}) {
    EXPECT_NE(refusal(wrong).find("allowed: key=value behind each comma"), std::string::npos)
        << wrong << ": " << refusal(wrong);
  }
}

TEST(DpdkPort, HasAsManyQueuesAsItIsTold) {
  const PlanPort port = test::make_port("dpdk", {{"devargs", "net_null0"}, {"queues", "3"}});
  EXPECT_EQ(port_queues(port).receive, 3u);
  EXPECT_EQ(port_queues(port).send, kPortQueueCountMax);
}

}  // namespace
}  // namespace millrace
