// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/orchestration/doctor/fake_host.hpp"

namespace millrace::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class Rights : public FakeHost {
 protected:
  Finding look(const std::string& mask, const std::vector<std::string>& needed,
               bool tap = false) const {
    put("/proc/self/status", "CapEff:\t" + mask + "\n");
    std::vector<Finding> findings;
    examine_rights(host(), {.capabilities = needed, .tap = tap}, findings);
    return of(findings, "capabilities");
  }
};

TEST_F(Rights, OfRootAreEnough) {
  const Finding finding = look("000001ffffffffff", {"net_raw", "net_admin", "bpf", "ipc_lock"});
  EXPECT_EQ(finding.health, Health::kGood);
  EXPECT_EQ(finding.found, "net_raw,net_admin,bpf,ipc_lock");
}

TEST_F(Rights, NoneAreEnoughForFiles) {
  EXPECT_EQ(look("0000000000000000", {}).health, Health::kGood);
}

TEST_F(Rights, ThatPortsLackAreNamedWithTheCommand) {
  const Finding finding = look("0000000000002000", {"net_raw", "net_admin"});  // net_raw alone
  EXPECT_EQ(finding.health, Health::kProblem);
  EXPECT_EQ(finding.found, "missing for the ports of this topology: net_admin");
  EXPECT_THAT(finding.mend, HasSubstr("setcap cap_net_admin+ep"));
}

TEST_F(Rights, ToMakeInterfacesAreTheHubs) {
  EXPECT_THAT(look("0", {"net_admin"}, true).mend, EndsWith("+ep <bin>/millrace-hub"));
  EXPECT_THAT(look("0", {"net_raw", "net_admin"}, true).mend,
              EndsWith("+ep <bin>/millrace-hub <bin>/millrace-io-worker"));
  EXPECT_THAT(look("0", {"net_admin"}).mend, EndsWith("+ep <bin>/millrace-io-worker"));
}

}  // namespace
}  // namespace millrace::test
