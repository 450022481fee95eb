// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "io-worker/ports/interface.hpp"
#include "io-worker/ports/rtnetlink.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"
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

/// Else the next start finds them taken, and it is not known how they were.
TEST_F(VethTest, InterfacesOfAKilledRunAreGivenBackBeforeItIsForgotten) {
  const std::string run_dir = "/tmp/millrace-remedies-" + std::to_string(::getpid());
  std::filesystem::create_directories(run_dir);
  const PlanPort port = make_port("afpacket", {});
  take_interface(port, {.interface = "here"}, run_dir, [](const std::string&) { return false; });
  ASSERT_NE(find_link("here")->alias, "");
  mend({.remedy = Remedy::kRemoveLeftovers, .paths = {run_dir}}, run_dir + ".state");
  EXPECT_FALSE(std::filesystem::exists(run_dir));
  EXPECT_EQ(find_link("here")->alias, "");
}

TEST_F(Remedies, NothingIsDoneThatNobodyOffered) {
  EXPECT_THROW(mend({.check = "GPU"}, state()), Error);
}

}  // namespace
}  // namespace millrace::test
