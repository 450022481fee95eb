// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/host.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "orchestration/planner/plan_printer.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

/// A host made of files: two nodes, a NIC on each, a bond, a virtio interface, a GPU.
class FakeSysfs : public testing::Test {
 public:
  ~FakeSysfs() override { fs::remove_all(root_); }

 protected:
  FakeSysfs() {
    char pattern[] = "/tmp/millrace-host-XXXXXX";
    root_ = mkdtemp(pattern);
    put("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-5,8-20\n");
    put("sys/devices/system/cpu/online", "0-11\n");
    put("sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
    put("sys/devices/system/node/node1/cpulist", "4-7\n");
    put("sys/devices/system/node/node2/cpulist", "\n");  // memory alone
    put("sys/devices/system/node/online", "0-2\n");
    nic("0000:3b:00.0", "1", "eth1");
    nic("0000:5e:00.0", "0", "eth2");
    nic("0000:5f:00.0", "-1", "eth3");
    put("sys/devices/pci/0000:90:00.0/numa_node", "1\n");
    link("sys/bus/pci/devices/0000:90:00.0", "sys/devices/pci/0000:90:00.0");
    fs::create_directories(root_ / "proc/driver/nvidia/gpus/0000:90:00.0");
    fs::create_directories(root_ / "sys/devices/pci/0000:5e:00.0/virtio0");
    fs::create_directories(root_ / "sys/class/net/vio0");
    link("sys/class/net/vio0/device", "sys/devices/pci/0000:5e:00.0/virtio0");
    fs::create_directories(root_ / "sys/class/net/bond0/lower_eth1");
    fs::create_directories(root_ / "sys/class/net/bond0.7/lower_bond0");
    fs::create_directories(root_ / "sys/class/net/lo");
  }

  void put(const fs::path& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void link(const fs::path& path, const fs::path& target) const {
    fs::create_directories((root_ / path).parent_path());
    fs::create_symlink(root_ / target, root_ / path);
  }
  void nic(const std::string& address, const std::string& node, const std::string& name) const {
    put("sys/devices/pci/" + address + "/numa_node", node + "\n");
    link("sys/bus/pci/devices/" + address, "sys/devices/pci/" + address);
    fs::create_directories(root_ / "sys/class/net" / name);
    link("sys/class/net/" + name + "/device", "sys/devices/pci/" + address);
  }

  fs::path root_;
};

TEST_F(FakeSysfs, CoresAreThoseAllowedAndOnline) {
  const Host host = this_host(root_);
  EXPECT_EQ(host.cores, (std::vector<int>{0, 1, 2, 3, 4, 5, 8, 9, 10, 11}));
}

TEST_F(FakeSysfs, NodesHaveTheCoresThatWeMayUse) {
  const Host host = this_host(root_);
  ASSERT_EQ(host.nodes.size(), 2u);
  EXPECT_EQ(host.nodes[0].cores, (std::vector<int>{0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_EQ(host.nodes[1].number, 1);
  EXPECT_EQ(host.nodes[1].cores, (std::vector<int>{4, 5}));
  EXPECT_EQ(host.node_of_core(9), 0);
  EXPECT_EQ(host.node_of_core(4), 1);
  EXPECT_EQ(host.node_of_core(6), -1);
}

TEST_F(FakeSysfs, DevicesLieWhereSysfsSays) {
  const Host host = this_host(root_);
  EXPECT_EQ(host.node_of_device("0000:3b:00.0"), 1);
  EXPECT_EQ(host.node_of_device("eth1"), 1);
  EXPECT_EQ(host.node_of_device("eth2"), 0);
  EXPECT_EQ(host.node_of_device("eth3"), -1);
  EXPECT_EQ(host.node_of_device("vio0"), 0);
  EXPECT_EQ(host.node_of_device("bond0"), 1);
  EXPECT_EQ(host.node_of_device("bond0.7"), 1);
  EXPECT_EQ(host.node_of_device("lo"), -1);
  EXPECT_EQ(host.node_of_gpu(0), 1);
  EXPECT_EQ(host.node_of_gpu(1), -1);
}

TEST_F(FakeSysfs, APlanFollowsIt) {
  const std::string text =
      "millrace: 1\nports: {a: {device: afpacket, interface: bond0}, b: {device: dpdk, devargs: "
      "'0000:5e:00.0'}}\npaths: {p: {from: [a, b]}}\n";
  const Plan plan = plan_of(text, this_host(root_));
  EXPECT_EQ(plan.actors[2].core, 4);  // ingress.a.0
  EXPECT_EQ(plan.actors[3].core, 1);  // ingress.b.0
  EXPECT_EQ(plan.actors[4].node, 0);  // egress.0: a tie goes to the first node
  EXPECT_FALSE(node_crossings(plan).empty());
}

TEST(ThisHost, HasTheCoresOfThisProcess) {
  const Host host = this_host();
  EXPECT_FALSE(host.cores.empty());
  EXPECT_TRUE(std::is_sorted(host.cores.begin(), host.cores.end()));
}

TEST(ThisHost, WithoutFilesNothingIsKnown) {
  const Host host = this_host("/nowhere");
  EXPECT_TRUE(host.cores.empty());
  EXPECT_TRUE(host.nodes.empty());
}

TEST(NumbersOfList, ReadsWhatTheKernelWrites) {
  EXPECT_EQ(numbers_of_list("0-2,7"), (std::vector<int>{0, 1, 2, 7}));
  EXPECT_EQ(numbers_of_list(" 3\n"), (std::vector<int>{3}));
  EXPECT_TRUE(numbers_of_list("").empty());
  EXPECT_TRUE(numbers_of_list("none").empty());
}

}  // namespace
}  // namespace millrace
