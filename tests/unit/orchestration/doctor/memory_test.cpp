// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/orchestration/doctor/fake_host.hpp"

namespace millrace::test {
namespace {

using testing::HasSubstr;

class Memory : public FakeHost {
 protected:
  Memory() {
    pages("64", "40");
    put("/proc/mounts", "none /dev/hugepages hugetlbfs rw,pagesize=2M 0 0\n");
    put("/proc/self/limits", "Max locked memory         65536    65536    bytes\n");
    folder("/dev/hugepages");
    folder("/dev/shm");
  }
  void pages(const std::string& total, const std::string& free) const {
    const std::string at = "/sys/kernel/mm/hugepages/hugepages-2048kB/";
    put(at + "nr_hugepages", total + "\n");
    put(at + "free_hugepages", free + "\n");
  }
  std::vector<Finding> look(std::uint64_t huge_pages = 40, bool af_xdp = false) const {
    std::vector<Finding> findings;
    examine_memory(host(), {.huge_pages = huge_pages, .af_xdp = af_xdp}, findings);
    return findings;
  }
  std::vector<Finding> look_for_dpdk() const {
    std::vector<Finding> findings;
    examine_memory(host(), {.dpdk = true}, findings);
    return findings;
  }
};

TEST_F(Memory, ThatIsEnoughIsAllRight) {
  for (const Finding& finding : look()) EXPECT_EQ(finding.health, Health::kGood) << finding.check;
}

TEST_F(Memory, TooFewHugePagesAreCountedWithWhatIsTaken) {
  const Finding finding = of(look(100), "huge pages");
  EXPECT_EQ(finding.health, Health::kProblem);
  EXPECT_EQ(finding.found, "64 of 2 MB, 40 free, 100 needed");
  EXPECT_EQ(finding.mend, "sysctl -w vm.nr_hugepages=124");
  EXPECT_EQ(finding.remedy, Remedy::kHugePages);
  EXPECT_EQ(finding.amount, 124U);
}

/// Else a supervisor that is started again would be given as many again.
TEST_F(Memory, WhatTheTopologyHoldsAlreadyIsEnough) {
  pages("64", "10");
  const auto look_for = [&](const std::string& name) {
    std::vector<Finding> findings;
    examine_memory(host(), {.topology = name, .huge_pages = 12}, findings);
    return of(findings, "huge pages");
  };
  put("/proc/77/maps",
      "55550000-55560000 r--p 00000000 00:00 0 /bin/x\n"
      "200000000000-200000400000 rw-s 00000000 00:10 9 "
      "/memfd:millrace-edge.segment (deleted)\n");
  EXPECT_EQ(look_for("edge").health, Health::kGood);
  EXPECT_EQ(look_for("edge").found, "64 of 2 MB, 10 free, 2 held by this topology, 12 needed");
  EXPECT_EQ(look_for("core").health, Health::kProblem) << "those are another's";
}

TEST_F(Memory, AKernelWithoutHugePagesCannotBeMendedHere) {
  std::filesystem::remove_all(root_ + "/sys");
  const Finding finding = of(look(), "huge pages");
  EXPECT_EQ(finding.health, Health::kProblem);
  EXPECT_EQ(finding.remedy, Remedy::kNone);
  EXPECT_THAT(finding.mend, HasSubstr("hugepagesz=2M"));
}

TEST_F(Memory, ALimitOfAContainerIsNamedInsteadOfPagesThatWouldNotHelp) {
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/hugetlb.2MB.max", std::to_string(4 << 20));
  const Finding finding = of(look(), "huge pages");
  EXPECT_EQ(finding.health, Health::kProblem);
  EXPECT_EQ(finding.found, "64 of 2 MB, 40 free, 40 needed; a limit allows 2 more");
  EXPECT_THAT(finding.mend, HasSubstr("raise /sys/fs/cgroup/hugetlb.2MB.max"));
  EXPECT_EQ(finding.remedy, Remedy::kNone);
}

TEST_F(Memory, OnlyDriversOfDpdkWantAMount) {
  put("/proc/mounts", "none / ext4 rw 0 0\n");
  EXPECT_EQ(of(look(), "hugetlbfs").check, "no finding: hugetlbfs");
  const Finding finding = of(look_for_dpdk(), "hugetlbfs");
  EXPECT_EQ(finding.remedy, Remedy::kMountHugetlbfs);
  EXPECT_THAT(finding.mend, HasSubstr("mount -t hugetlbfs -o pagesize=2M none /dev/hugepages"));
  EXPECT_EQ(finding.paths, std::vector<std::string>{"/dev/hugepages"});
}

/// A mount over it would hide the pages of another size from all that come later.
TEST_F(Memory, AMountOfAnotherSizeStaysOnTop) {
  put("/proc/mounts", "none /dev/hugepages hugetlbfs rw,pagesize=1024M 0 0\n");
  const Finding finding = of(look_for_dpdk(), "hugetlbfs");
  EXPECT_EQ(finding.paths, std::vector<std::string>{"/dev/hugepages-2M"});
  EXPECT_THAT(finding.mend, HasSubstr(" none /dev/hugepages-2M"));
}

TEST_F(Memory, AFolderThatIsNotThereCannotBeWritten) {
  std::filesystem::remove(root_ + "/dev/hugepages");
  const Finding finding = of(look_for_dpdk(), "hugetlbfs");
  EXPECT_EQ(finding.health, Health::kProblem);
  EXPECT_THAT(finding.mend, HasSubstr("chmod 1777 /dev/hugepages"));
}

TEST_F(Memory, LocksMatterToAfXdpOnly) {
  EXPECT_EQ(of(look(40, false), "locked memory").health, Health::kGood);
  const Finding finding = of(look(40, true), "locked memory");
  EXPECT_EQ(finding.health, Health::kWarning);
  EXPECT_THAT(finding.found, HasSubstr("AF_XDP pins 83886080"));
  put("/proc/self/limits", "Max locked memory         unlimited    unlimited    bytes\n");
  EXPECT_EQ(of(look(40, true), "locked memory").health, Health::kGood);
}

TEST_F(Memory, AHostWithoutSharedMemoryIsTold) {
  std::filesystem::remove(root_ + "/dev/shm");
  EXPECT_EQ(of(look(), "/dev/shm").health, Health::kProblem);
}

}  // namespace
}  // namespace millrace::test
