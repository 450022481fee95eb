// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/proxied_flows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "tests/unit/services/functions/firewall/firewall_stage.hpp"

namespace millrace {
namespace {

constexpr ProxiedFlows::Secret kProxiedSecret = {3, 4};

FlowTuple proxied_tuple(unsigned port) {
  return {.source_port = static_cast<std::uint16_t>(port), .protocol = 6, .version = 4};
}

ProxiedFlow proxied(unsigned port, std::uint32_t cookie) {
  ProxiedFlow flow{};
  flow.tuple = proxied_tuple(port);
  flow.cookie = cookie;
  return flow;
}

TEST(ProxiedFlows, AreAsAModelHasThem) {
  constexpr std::uint32_t kFlows = 200;
  const StageState memory({.state_bytes = ProxiedFlows::bytes_for(kFlows) + 4096});
  const auto flows = ProxiedFlows::of_lane(memory.state(), kFlows, kProxiedSecret);
  ASSERT_TRUE(flows);
  std::map<unsigned, std::uint32_t> model;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const unsigned port = random() % 300;
    if (random() % 2 == 0 && model.size() < kFlows) {
      const std::uint32_t cookie = random();
      ASSERT_TRUE(flows->put(proxied(port, cookie)));
      model[port] = cookie;
    } else {
      flows->remove(proxied_tuple(port));
      model.erase(port);
    }
    const unsigned asked = random() % 300;
    const ProxiedFlow* const found = flows->find(proxied_tuple(asked));
    ASSERT_EQ(found != nullptr, model.contains(asked));
    if (found == nullptr) continue;
    EXPECT_EQ(found->cookie, model[asked]);
  }
}

TEST(ProxiedFlows, KeepTheirSecretForWhoeverHasTheLane) {
  const StageState memory({.state_bytes = ProxiedFlows::bytes_for(10)});
  EXPECT_FALSE(ProxiedFlows::laid_out(memory.state()));
  EXPECT_FALSE(ProxiedFlows::of_lane(memory.state(), 1000, kProxiedSecret)) << "too short";
  const auto first = ProxiedFlows::of_lane(memory.state(), 10, kProxiedSecret);
  const auto second = ProxiedFlows::of_lane(memory.state(), 10, {5, 6});
  ASSERT_TRUE(first && second && ProxiedFlows::laid_out(memory.state()));
  EXPECT_EQ(first->cookie_secret(), second->cookie_secret());
  EXPECT_NE(first->cookie_secret(), kProxiedSecret);
}

TEST(ProxiedFlows, ADeathTakesBackWhatItsBatchChanged) {
  const StageState memory({.state_bytes = ProxiedFlows::bytes_for(10), .undo_lines = 20});
  const LaneState state = memory.state();
  state.undo.begin(0, 1);
  const auto flows = ProxiedFlows::of_lane(state, 10, kProxiedSecret);
  ASSERT_TRUE(flows->put(proxied(1, 11)));
  const std::vector<std::byte> before(state.bytes.begin(), state.bytes.end());
  state.undo.begin(0, 2);
  flows->change(*flows->find(proxied_tuple(1))).cookie = 12;
  ASSERT_TRUE(flows->put(proxied(2, 22)));
  flows->remove(proxied_tuple(1));
  ASSERT_EQ(state.undo.undo(0, 2), LaneUndoLog::Undone::kAll);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), state.bytes.begin()));
}

}  // namespace
}  // namespace millrace
