// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "tests/unit/orchestration/doctor/fake_host.hpp"

namespace millrace::test {
namespace {

using testing::HasSubstr;

class Devices : public FakeHost {
 protected:
  Devices() {
    put("/proc/net/protocols", "protocol size\nXDP 1024\n");
    folder("/sys/kernel/iommu_groups/0");
    folder("/sys/bus/pci/drivers/vfio-pci");
    interface("eth0", "0x1003", "up");
  }
  void interface(const std::string& name, const std::string& flags,
                 const std::string& state) const {
    put("/sys/class/net/" + name + "/flags", flags + "\n");
    put("/sys/class/net/" + name + "/operstate", state + "\n");
    put("/sys/class/net/" + name + "/mtu", "1500\n");
  }
  std::vector<Finding> look(const Needs& needs) const {
    std::vector<Finding> findings;
    examine_devices(host(), needs, findings);
    return findings;
  }
};

TEST_F(Devices, AnInterfaceThatIsUpIsAllRight) {
  link("/sys/class/net/eth0/device/driver", "/sys/bus/pci/drivers/igc");
  const Finding finding = of(look({.interfaces = {"eth0"}}), "interface eth0");
  EXPECT_EQ(finding.health, Health::kGood);
  EXPECT_EQ(finding.found, "up, mtu 1500, driver igc");
}

TEST_F(Devices, AnMtuThatIsNotThePortsIsSaid) {
  Needs needs{.interfaces = {"eth0"}};
  needs.mtus["eth0"] = {"wan", 1500};
  EXPECT_EQ(of(look(needs), "interface eth0").health, Health::kGood);
  put("/sys/class/net/eth0/mtu", "9000\n");
  Finding finding = of(look(needs), "interface eth0");
  EXPECT_EQ(finding.health, Health::kWarning);
  EXPECT_THAT(finding.mend, HasSubstr("mtu: 9000 at port 'wan'"));
  needs.mtus["eth0"].bytes = 9000;
  put("/sys/class/net/eth0/mtu", "1500\n");
  finding = of(look(needs), "interface eth0");
  EXPECT_EQ(finding.health, Health::kProblem) << "`up` refuses it";
  EXPECT_THAT(finding.mend, HasSubstr("ip link set eth0 mtu 9000"));
}

TEST_F(Devices, OffloadsThatStayOnAreAWarning) {
  Needs needs{.interfaces = {"eth0", "eth1"}};
  needs.offloads["eth0"] = {.on = {"tx-tcp-segmentation", "rx-gro"}, .fixed = {}};
  const Finding off = of(look(needs), "offloads of eth0");
  EXPECT_EQ(off.health, Health::kGood);
  EXPECT_EQ(off.found, "tx-tcp-segmentation rx-gro: off while a topology has it, then on again");
  needs.offloads["eth0"].fixed = {"rx-lro"};
  const Finding fixed = of(look(needs), "offloads of eth0");
  EXPECT_EQ(fixed.health, Health::kWarning);
  EXPECT_THAT(fixed.found, HasSubstr("rx-lro cannot be switched off"));
  EXPECT_THAT(fixed.mend, HasSubstr("ethtool -K"));
  needs.offloads["eth0"] = {};
  EXPECT_EQ(of(look(needs), "offloads of eth0").found, "none on that changes frames");
}

TEST_F(Devices, AddressesThatThisHostWouldLoseAreAProblem) {
  Needs needs{.interfaces = {"eth0"}};
  needs.addresses["eth0"] = {"it has some", "flush them"};
  const Finding finding = of(look(needs), "addresses of eth0");
  EXPECT_EQ(finding.health, Health::kProblem);
  EXPECT_EQ(finding.found, "it has some");
  EXPECT_EQ(finding.mend, "flush them");
}

TEST(Offloads, OfTheLoopbackAreSwitches) {
  const Offloads offloads = offloads_of({.interface = "lo"});
  EXPECT_FALSE(offloads.on.empty() && offloads.fixed.empty()) << "it has always some";
}

TEST(Offloads, OfWhatIsSentAreWantedWithSuperFrames) {
  const auto names = [](bool super_frames) {
    const Offloads found = offloads_of({.interface = "lo", .super_frames = super_frames});
    std::set<std::string> all(found.on.begin(), found.on.end());
    all.insert(found.fixed.begin(), found.fixed.end());
    return all;
  };
  std::set<std::string> without = names(false);
  EXPECT_TRUE(without.contains("tx-tcp-segmentation")) << "of the loopback it is on";
  std::erase_if(without, [](const std::string& name) { return name.starts_with("tx-"); });
  EXPECT_EQ(names(true), without);
}

TEST_F(Devices, AMissingInterfaceNamesTheNearest) {
  const Finding finding = of(look({.interfaces = {"eht0"}}), "interface eht0");
  EXPECT_EQ(finding.health, Health::kProblem);
  EXPECT_EQ(finding.mend, "did you mean 'eth0'?");
}

TEST_F(Devices, AnInterfaceThatIsDownNamesTheCommand) {
  interface("wan0", "0x1002", "down");
  const Finding finding = of(look({.interfaces = {"wan0"}}), "interface wan0");
  EXPECT_EQ(finding.health, Health::kProblem);
  EXPECT_EQ(finding.mend, "ip link set wan0 up");
}

TEST_F(Devices, AnInterfaceWithoutCarrierIsAWarning) {
  interface("wan0", "0x1003", "lowerlayerdown");
  EXPECT_EQ(of(look({.interfaces = {"wan0"}}), "interface wan0").health, Health::kWarning);
}

TEST_F(Devices, AKernelWithoutAfXdpMattersWhenAPortNeedsIt) {
  EXPECT_EQ(of(look({.af_xdp = true}), "AF_XDP").health, Health::kGood);
  put("/proc/net/protocols", "protocol size\n");
  EXPECT_EQ(of(look({}), "AF_XDP").health, Health::kNote);
  EXPECT_EQ(of(look({.af_xdp = true}), "AF_XDP").health, Health::kProblem);
}

TEST_F(Devices, TapPortsNeedTheKernelsTun) {
  const Finding missing = of(look({.tap = true}), "tap interfaces");
  EXPECT_EQ(missing.health, Health::kProblem);
  EXPECT_THAT(missing.mend, HasSubstr("modprobe tun"));
  put("/dev/net/tun", "");
  EXPECT_EQ(of(look({.tap = true}), "tap interfaces").health, Health::kGood);
  for (const Finding& finding : look({})) EXPECT_NE(finding.check, "tap interfaces");
}

TEST_F(Devices, APciDeviceOfTheKernelNeedsBinding) {
  const std::string folder = "/sys/bus/pci/devices/0000:01:00.0";
  const Needs needs{.pci = {"0000:01:00.0"}};
  EXPECT_THAT(of(look(needs), "PCI device 0000:01:00.0").mend, HasSubstr("lspci"));
  link(folder + "/driver", "/sys/bus/pci/drivers/ixgbe");
  EXPECT_THAT(of(look(needs), "PCI device 0000:01:00.0").mend, HasSubstr("-b vfio-pci 0000:01"));
  std::filesystem::remove(root_ + folder + "/driver");
  link(folder + "/driver", "/sys/bus/pci/drivers/vfio-pci");
  EXPECT_EQ(of(look(needs), "PCI device 0000:01:00.0").health, Health::kGood);
}

TEST_F(Devices, TheGpuIsNamedOrItsAbsenceTold) {
  EXPECT_EQ(of(look({}), "GPU").health, Health::kNote);
  EXPECT_EQ(of(look({.cuda = true}), "GPU").health, Health::kProblem);
  put("/sys/bus/pci/devices/0000:41:00.0/vendor", "0x10de\n");
  put("/sys/bus/pci/devices/0000:41:00.0/class", "0x030200\n");
  EXPECT_THAT(of(look({}), "GPU").found, HasSubstr("without its driver"));
  put("/proc/driver/nvidia/gpus/0000:41:00.0/information", "Model: \t NVIDIA H200\n");
  EXPECT_EQ(of(look({.cuda = true}), "GPU").found, "NVIDIA H200");
}

TEST_F(Devices, AHostWithoutIommuIsANote) {
  std::filesystem::remove_all(root_ + "/sys/kernel");
  EXPECT_EQ(of(look({}), "IOMMU and VFIO").health, Health::kNote);
}

}  // namespace
}  // namespace millrace::test
