// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/huge_pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mntent.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace millrace {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A host of a few files.
class HugePagesOf : public testing::Test {
 protected:
  HugePagesOf() { pages(64, 40); }
  ~HugePagesOf() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  void pages(int total, int free) const {
    put(folder_ + "nr_hugepages", std::to_string(total));
    put(folder_ + "free_hugepages", std::to_string(free));
  }
  HugePages look() const { return huge_pages(root_).value(); }

  std::string pattern_ = testing::TempDir() + "millrace-pages-XXXXXX";
  const fs::path root_ = mkdtemp(pattern_.data());
  const std::string folder_ = "sys/kernel/mm/hugepages/hugepages-2048kB/";
};

TEST_F(HugePagesOf, AHostWithoutLimits) {
  EXPECT_EQ(look().total, 64u);
  EXPECT_EQ(look().free, 40u);
  EXPECT_EQ(look().allowed, UINT64_MAX);
  EXPECT_EQ(look().limit, "");
}

TEST_F(HugePagesOf, AKernelThatHasNone) {
  fs::remove_all(root_ / "sys");
  EXPECT_FALSE(huge_pages(root_));
}

TEST_F(HugePagesOf, WhatIsReservedIsNotFreeAndWhatTheKernelWouldMakeIs) {
  put(folder_ + "resv_hugepages", "10");
  EXPECT_EQ(look().free, 30u);
  put(folder_ + "nr_overcommit_hugepages", "8");
  put(folder_ + "surplus_hugepages", "3");
  EXPECT_EQ(look().free, 35u);
}

TEST_F(HugePagesOf, TheTightestCgroupOfAllAboveLimits) {
  put("proc/self/cgroup", "0::/pods/mine");
  put("sys/fs/cgroup/pods/mine/hugetlb.2MB.max", "max");
  EXPECT_EQ(look().limit, "");
  put("sys/fs/cgroup/pods/hugetlb.2MB.max", std::to_string(20 << 21));
  put("sys/fs/cgroup/pods/hugetlb.2MB.current", std::to_string(5 << 21));
  EXPECT_EQ(look().allowed, 15u);
  EXPECT_EQ(look().limit, "/sys/fs/cgroup/pods/hugetlb.2MB.max");
  put("sys/fs/cgroup/pods/mine/hugetlb.2MB.max", std::to_string(4 << 21));
  EXPECT_EQ(look().allowed, 4u);
  EXPECT_EQ(look().limit, "/sys/fs/cgroup/pods/mine/hugetlb.2MB.max");
  put("sys/fs/cgroup/pods/hugetlb.2MB.rsvd.max", std::to_string(3 << 21));
  EXPECT_EQ(look().limit, "/sys/fs/cgroup/pods/hugetlb.2MB.rsvd.max") << "of reservations";
}

/// Of a cgroup namespace, as containers have it: its own folder is the root.
TEST_F(HugePagesOf, AContainerSeesItsLimitAtTheRoot) {
  put("proc/self/cgroup", "0::/");
  put("sys/fs/cgroup/hugetlb.2MB.max", "0");
  EXPECT_EQ(look().allowed, 0u);
}

TEST_F(HugePagesOf, VersionOneHasAFolderOfItsOwn) {
  put("proc/self/cgroup", "7:cpu,hugetlb:/docker/x\n1:name=systemd:/y");
  put("sys/fs/cgroup/hugetlb/docker/x/hugetlb.2MB.limit_in_bytes", std::to_string(6 << 21));
  put("sys/fs/cgroup/hugetlb/docker/x/hugetlb.2MB.usage_in_bytes", std::to_string(7 << 21));
  EXPECT_EQ(look().allowed, 0u);
}

TEST_F(HugePagesOf, WhatIsMissingIsToldWithWhatMendsIt) {
  EXPECT_EQ(too_few_huge_pages({.total = 64, .free = 40}, 100),
            "100 of 2 MB are needed, the host has 64, 40 of them free; mend: millrace doctor --fix "
            "FILE, which takes back those of killed runs too, or: sysctl -w vm.nr_hugepages=124");
  const std::string limited =
      too_few_huge_pages({.total = 64, .free = 40, .allowed = 2, .limit = "/sys/fs/cgroup/x"}, 20);
  EXPECT_THAT(limited, HasSubstr("a limit allows 2 more (/sys/fs/cgroup/x)"));
  EXPECT_THAT(limited, testing::Not(HasSubstr("nr_hugepages"))) << "more pages mend nothing";
}

TEST_F(HugePagesOf, TheFirstMountOfTwoMegabytePages) {
  EXPECT_FALSE(huge_mount(root_));
  put("proc/mounts", "none /huge1g hugetlbfs rw,pagesize=1024M 0 0\nnone / ext4 rw 0 0\nbroken");
  EXPECT_FALSE(huge_mount(root_));
  put("proc/mounts", "a / ext4 rw 0 0\nnone /mnt/huge hugetlbfs rw,pagesize=2M 0 0");
  EXPECT_EQ(huge_mount(root_).value().folder, "/mnt/huge");
}

// The oracle reads the mounts of this host with getmntent.
TEST(HugeMountOf, ThisHostIsTheOneOfGetmntent) {
  std::string folder;
  FILE* const mounts = setmntent("/proc/mounts", "r");
  ASSERT_NE(mounts, nullptr);
  while (const mntent* const mount = getmntent(mounts)) {
    const char* const option = hasmntopt(mount, "pagesize");
    const bool two_megabytes = option == nullptr || std::string(option).starts_with("pagesize=2M");
    if (std::string(mount->mnt_type) != "hugetlbfs" || !two_megabytes) continue;
    folder = mount->mnt_dir;
    break;
  }
  endmntent(mounts);
  EXPECT_EQ(huge_mount().value_or(HugeMount{}).folder, folder);
}

}  // namespace
}  // namespace millrace
