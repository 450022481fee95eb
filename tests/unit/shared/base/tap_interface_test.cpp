// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/tap_interface.hpp"

#include <gtest/gtest.h>
#include <net/if.h>

namespace millrace {
namespace {

TEST(TapInterface, AnAliasSaysWhoseItIs) {
  EXPECT_EQ(tap_alias("mr-wan", "/run/millrace/edge"),
            "millrace: port mr-wan of the topology in /run/millrace/edge");
  EXPECT_EQ(run_dir_of_tap(tap_alias("mr-wan", "/run/of the topology in/x")),
            "/run/of the topology in/x");
  EXPECT_EQ(run_dir_of_tap("millrace: port of the topology in /run/x"), "/run/x") << "of before";
  for (const char* other :
       {"", "uplink", "millrace: taken by the topology in /run/x",
        "millrace: port a b of the topology in /run/x", "millrace: port mr-wan"})
    EXPECT_EQ(run_dir_of_tap(other), "") << other;
}

TEST(TapInterface, WithoutOneOfTheTopologyTheNameCounts) {
  EXPECT_EQ(tap_interface_index("lo", "/run/millrace/none"), ::if_nametoindex("lo"));
  EXPECT_EQ(tap_interface_index("lo", ""), ::if_nametoindex("lo"));
  EXPECT_EQ(tap_interface_index("no-such", "/run/millrace/none"), 0u);
}

}  // namespace
}  // namespace millrace
