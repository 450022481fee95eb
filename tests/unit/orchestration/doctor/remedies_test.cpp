// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/error.hpp"
#include "tests/unit/orchestration/doctor/fake_host.hpp"

namespace millrace::test {
namespace {

class Remedies : public FakeHost {
 protected:
  std::string state() const { return root_ + "/state"; }
};

TEST_F(Remedies, RemoveWhatKilledRunsLeft) {
  put("/dev/millrace-gone.segment", "x");
  put("/run/gone/logs/hub.log", "x");
  const Finding finding{.check = "files",
                        .remedy = Remedy::kRemoveLeftovers,
                        .paths = {root_ + "/dev/millrace-gone.segment", root_ + "/run/gone"}};
  EXPECT_EQ(mend(finding, state()), "removed 2 of 2 files of killed runs");
  EXPECT_FALSE(host().exists("/dev/millrace-gone.segment"));
  EXPECT_FALSE(host().exists("/run/gone"));
}

TEST_F(Remedies, NothingIsDoneThatNobodyOffered) {
  EXPECT_THROW(mend({.check = "GPU"}, state()), Error);
}

}  // namespace
}  // namespace millrace::test
