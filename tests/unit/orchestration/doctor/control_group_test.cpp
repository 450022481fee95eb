// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/orchestration/doctor/fake_host.hpp"

namespace millrace::test {
namespace {

using testing::HasSubstr;

class ControlGroup : public FakeHost {
 protected:
  std::vector<Finding> look(std::uint32_t actors = 3) const {
    std::vector<Finding> findings;
    examine_control_group(host(), {.actors = actors}, findings);
    return findings;
  }
};

TEST_F(ControlGroup, WithoutLimitsIsAllRight) {
  put("/proc/self/cgroup", "0::/a/b\n");
  put("/sys/fs/cgroup/a/b/memory.max", "max\n");
  put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  for (const Finding& finding : look()) EXPECT_EQ(finding.health, Health::kGood) << finding.check;
}

TEST_F(ControlGroup, NamesTheLimitOfAGroupAboveThatBites) {
  put("/proc/self/cgroup", "0::/a/b\n");
  put("/sys/fs/cgroup/a/b/memory.max", "1073741824\n");
  put("/sys/fs/cgroup/a/memory.max", "209715200\n");
  put("/sys/fs/cgroup/a/memory.current", "104857600\n");
  const Finding memory = of(look(), "memory of the cgroup");
  EXPECT_EQ(memory.health, Health::kProblem);
  EXPECT_EQ(memory.found, "/sys/fs/cgroup/a/memory.max leaves 100 MB, 144 needed");
  EXPECT_THAT(memory.mend, HasSubstr("by 44 MB"));
}

TEST_F(ControlGroup, OfVersion1IsLookedAtByController) {
  put("/proc/self/cgroup", "4:memory:/c\n3:pids:/\n2:cpu,cpuacct:/c\n");
  put("/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/pids/pids.max", "20\n");
  put("/sys/fs/cgroup/pids/pids.current", "5\n");
  put("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "150000\n");
  put("/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(of(look(), "memory of the cgroup").health, Health::kGood);
  const Finding tasks = of(look(), "processes of the cgroup");
  EXPECT_EQ(tasks.health, Health::kProblem);
  EXPECT_EQ(tasks.found, "/sys/fs/cgroup/pids/pids.max leaves 15 threads, 27 needed");
  const Finding time = of(look(), "processor time of the cgroup");
  EXPECT_EQ(time.health, Health::kNote);
  EXPECT_THAT(time.found,
              HasSubstr("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us allows 150 % of a core"));
  EXPECT_THAT(time.mend, HasSubstr("--cpus=4"));
}

TEST_F(ControlGroup, CacheThatIsGivenBackIsNotUsed) {
  put("/proc/self/cgroup", "0::/a\n");
  put("/sys/fs/cgroup/a/memory.max", "209715200\n");
  put("/sys/fs/cgroup/a/memory.current", "199229440\n");
  put("/sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 94371840\nactive_file 2\n");
  EXPECT_THAT(of(look(), "memory of the cgroup").found, HasSubstr("leaves 100 MB, 144 needed"));
  put("/sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 299229440\n");
  EXPECT_EQ(of(look(), "memory of the cgroup").health, Health::kGood);
}

TEST_F(ControlGroup, CacheOfVersion1IsThatOfAllGroupsBelow) {
  put("/proc/self/cgroup", "4:memory:/c\n");
  put("/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "209715200\n");
  put("/sys/fs/cgroup/memory/c/memory.usage_in_bytes", "199229440\n");
  put("/sys/fs/cgroup/memory/c/memory.stat", "inactive_file 7\ntotal_inactive_file 94371840\n");
  EXPECT_THAT(of(look(), "memory of the cgroup").found, HasSubstr("leaves 100 MB, 144 needed"));
}

TEST_F(ControlGroup, AQuotaOfMinusOneIsNone) {
  put("/proc/self/cgroup", "2:cpu:/c\n");
  put("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(of(look(), "processor time of the cgroup").found, "not limited");
}

}  // namespace
}  // namespace millrace::test
