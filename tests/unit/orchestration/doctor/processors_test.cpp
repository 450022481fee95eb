// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/orchestration/doctor/fake_host.hpp"

namespace millrace::test {
namespace {

using testing::HasSubstr;

class Processors : public FakeHost {
 protected:
  Processors() {
    put("/proc/cpuinfo", "flags\t\t: fpu constant_tsc nonstop_tsc avx2\n");
    put("/proc/self/status", "Cpus_allowed_list:\t0-3\n");
    put("/sys/devices/system/cpu/isolated", "2-3\n");
  }
  std::vector<Finding> look(std::uint32_t actors = 3) const {
    std::vector<Finding> findings;
    examine_processors(host(), {.actors = actors}, findings);
    return findings;
  }
};

TEST_F(Processors, OfAGoodHostAreAllRight) {
  for (const Finding& finding : look()) EXPECT_EQ(finding.health, Health::kGood) << finding.check;
  EXPECT_THAT(of(look(), "cores").found, HasSubstr("4 may be used (0-3)"));
}

TEST_F(Processors, FewerThanActorsAreShared) {
  put("/proc/self/status", "Cpus_allowed_list:\t1\n");
  const Finding cores = of(look(), "cores");
  EXPECT_EQ(cores.health, Health::kNote);
  EXPECT_THAT(cores.found, HasSubstr("3 actors move packets: they share"));
  EXPECT_THAT(cores.mend, HasSubstr("4 cores"));
}

TEST_F(Processors, WhoseTimeStampsCannotBeTrustedAreTold) {
  put("/proc/cpuinfo", "flags : fpu constant_tsc avx2\n");
  EXPECT_EQ(of(look(), "time stamp counter").health, Health::kWarning);
}

TEST_F(Processors, ThatSaveEnergyAreTold) {
  put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  const Finding governor = of(look(), "frequency governor");
  EXPECT_EQ(governor.health, Health::kWarning);
  EXPECT_THAT(governor.mend, HasSubstr("performance"));
}

TEST_F(Processors, OfTwoNodesNameTheirHugePages) {
  for (const char* node : {"node0", "node1"}) {
    put(std::string("/sys/devices/system/node/") + node +
            "/hugepages/hugepages-2048kB/free_hugepages",
        "7\n");
  }
  put("/sys/devices/system/node/online", "0-1\n");
  EXPECT_EQ(of(look(), "NUMA nodes").found, "2; huge pages: node0 7 free, node1 7 free");
}

}  // namespace
}  // namespace millrace::test
