// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/orchestration/doctor/fake_host.hpp"

namespace millrace::test {
namespace {

using testing::ElementsAre;

class Leftovers : public FakeHost {
 protected:
  Leftovers() { put("/proc/mounts", "none /dev/hugepages hugetlbfs rw,pagesize=2M 0 0\n"); }
  Finding look() const {
    std::vector<Finding> findings;
    examine_leftovers(host(), findings);
    return of(findings, "files of killed runs");
  }
};

TEST_F(Leftovers, NoneIsAllRight) { EXPECT_EQ(look().found, "none"); }

TEST_F(Leftovers, AreFilesThatNobodyUses) {
  put("/dev/hugepages/millrace-dead.segment", "");
  put("/dev/hugepages/rtemap_0", "");  // another program's
  put("/dev/shm/millrace-dead.status", "");
  put("/run/millrace/dead/plan.bin", "");
  put("/run/millrace/dead.telemetry.json", "");
  put("/dev/hugepages/millrace-live.segment", "");
  put("/run/millrace/live/plan.bin", "");
  put("/run/millrace/live.telemetry.json", "");
  put("/proc/17/maps", "100000000-100200000 rw-s 0 00:0f 7 /dev/hugepages/millrace-live.segment\n");
  put("/proc/17/cmdline", std::string("millrace-hub\0--run-dir\0/run/millrace/live\0", 43));
  const Finding finding = look();
  EXPECT_EQ(finding.health, Health::kWarning);
  EXPECT_EQ(finding.remedy, Remedy::kRemoveLeftovers);
  EXPECT_THAT(finding.paths,
              ElementsAre("/dev/hugepages/millrace-dead.segment", "/dev/shm/millrace-dead.status",
                          "/run/millrace/dead", "/run/millrace/dead.telemetry.json"));
  EXPECT_EQ(finding.mend, "millrace doctor --fix") << "it gives interfaces back, `rm` does not";
}

/// A worker that was killed together with the supervisor finds its table again.
TEST_F(Leftovers, AreNotTablesOfATopologyThatRuns) {
  put("/dev/shm/millrace-live.filter.1.image", "");
  put("/dev/shm/millrace-livelier.filter.1.image", "");
  put("/proc/17/maps", "100000000-100200000 rw-s 0 00:0f 7 /dev/shm/millrace-live.status\n");
  put("/proc/17/cmdline", std::string("millrace-hub\0", 13));
  EXPECT_THAT(look().paths, ElementsAre("/dev/shm/millrace-livelier.filter.1.image"));
}

/// Files of another user's living run must not be taken for those of a dead one.
TEST_F(Leftovers, CannotBeToldWhereAProcessHidesWhatItHasMapped) {
  put("/proc/17/cmdline", std::string("millrace-hub\0", 13));
  EXPECT_EQ(look().found, "none");
  put("/dev/hugepages/millrace-live.segment", "");
  const Finding finding = look();
  EXPECT_EQ(finding.health, Health::kNote);
  EXPECT_THAT(finding.paths, ElementsAre());
  EXPECT_EQ(finding.mend, "run this as root");
}

TEST_F(Leftovers, AreNotTheRecordOfARunThatEndedByItself) {
  put("/run/millrace/edge/history/list", "1 0 - start\n");
  EXPECT_EQ(look().found, "none");
  put("/run/millrace/edge.7.before/history/list", "1 0 - start\n");
  put("/run/millrace/edge.7.before/plan.bin.plan", "");
  EXPECT_THAT(look().paths, ElementsAre("/run/millrace/edge.7.before")) << "a killed restart";
  put("/run/millrace/edge/plan.bin", "");
  EXPECT_EQ(look().paths.size(), 2U) << "that one was killed too";
}

/// Else the next `up` would find a bridge over its interfaces and not know of it.
TEST_F(Leftovers, AreNotWhatIsKnownOfABypass) {
  put("/run/millrace/edge.bypass", "is on\n");
  put("/run/millrace/edge.bypass.log", "");
  put("/run/millrace/edge.telemetry.json", "[]");
  EXPECT_EQ(look().found, "none");
}

}  // namespace
}  // namespace millrace::test
