// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tests/golden/golden_table.hpp"

namespace millrace {
namespace {

TEST(AclGolden, EveryKindOfPacketEndsAsTheTableSays) {
  GoldenRun(read_golden("acl.golden"), "acl").expect_all();
}

TEST(AclGolden, TheBitVectorsSayTheSame) {
  GoldenTable table = read_golden("acl.golden");
  table.settings.emplace_back("method", "bits");
  GoldenRun(table, "acl").expect_all();
}

TEST(AclGolden, ConditionsHoldByEveryMethod) {
  for (const char* const method : {"auto", "tries", "bits"}) {
    GoldenTable table = read_golden("acl_conditions.golden");
    table.settings.emplace_back("method", method);
    GoldenRun(table, "acl").expect_all();
  }
}

TEST(AclGolden, SendersOfRejectedPacketsAreTold) {
  GoldenRun(read_golden("acl_reject.golden"), "acl").expect_all();
}

}  // namespace
}  // namespace millrace
