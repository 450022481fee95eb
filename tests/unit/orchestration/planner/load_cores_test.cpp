// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

constexpr const char* kRule = "allowed: core numbers like 3, '8-15' or [1, 4-7], each once";

TEST(LoadCores, AreReadForPortsAndEgress) {
  const Topology topology = parse(
      "millrace: 1\nports: {a: {device: null, cores: '1,4-5'}}\negress: {cores: [7, 2]}\n"
      "paths: {p: {from: a}}\n");
  EXPECT_EQ(topology.ports[0].cores.value, (std::vector<int>{1, 4, 5}));
  EXPECT_EQ(topology.egress_cores.value, (std::vector<int>{7, 2}));
}

TEST(LoadCores, ThatAreNoneAreRefusedWhereTheyStand) {
  EXPECT_EQ(wrong("millrace: 1\nports: {a: {device: null, cores: 4-}}\npaths: {p: {from: a}}\n"),
            std::string("2:34: found '4-' as 'cores'; ") + kRule);
  EXPECT_EQ(wrong("millrace: 1\nports: {a: {device: null, cores: [1, 0-1]}}\n"
                  "paths: {p: {from: a}}\n"),
            std::string("2:38: found '0-1' as 'cores'; ") + kRule);
  EXPECT_EQ(wrong("millrace: 1\nports: {a: {device: null}}\negress: {cores: 1024}\n"
                  "paths: {p: {from: a}}\n"),
            std::string("3:17: found '1024' as 'cores'; ") + kRule);
}

}  // namespace
}  // namespace millrace
