// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/revert_version.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/nat64/nat64_stage.hpp"

namespace millrace::nat64_test {
namespace {

/// Behind nat64.
struct Reverts final : Function {
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    for (const std::uint16_t packet : call.selected.packets) {
      had_other_version = has_other_version(call, packet);
      reverted = revert_version(call, packet);
      if (reverted != Reverted::kVersion) continue;
      EXPECT_FALSE(has_other_version(call, packet));
      EXPECT_EQ(revert_version(call, packet), Reverted::kNothing) << "twice does not harm";
    }
  }
  bool had_other_version = false;
  Reverted reverted = Reverted::kNothing;
};

class RevertVersion : public Nat64Test {
 protected:
  RevertVersion() { behind_ = &reverts_; }
  Reverts reverts_;
};

TEST_F(RevertVersion, GivesThePacketAsItHasComeBothWays) {
  use();
  for (const auto& [port, name] : {std::pair{kLan, "UDP to the server"},
                                   {kWan, "UDP to the host"},
                                   {kLan, "longer ones have DF and no identification"}}) {
    const Frame sent = named(name).before;
    EXPECT_EQ(without_identification(send(port, sent).frame), without_identification(sent)) << name;
    EXPECT_EQ(reverts_.reverted, Reverted::kVersion);
    EXPECT_TRUE(reverts_.had_other_version);
  }
}

TEST_F(RevertVersion, GivesBackAPacketThatWasToBeCut) {
  use();
  send(kLan, named("UDP to the server").before);
  const Frame sent = named("1233 bytes of UDP without DF leave in fragments").before;
  EXPECT_EQ(send(kWan, sent).frame, sent);
  EXPECT_EQ(reverts_.reverted, Reverted::kVersion);
}

TEST_F(RevertVersion, LeavesAPacketAloneThatIsNotTranslated) {
  use();
  Frame elsewhere = named("UDP to the server").before;
  wire_bytes::put8(elsewhere, 14 + 24, 0x20);
  EXPECT_EQ(send(kLan, elsewhere).frame, elsewhere);
  EXPECT_EQ(reverts_.reverted, Reverted::kNothing);
  EXPECT_FALSE(reverts_.had_other_version);
}

TEST_F(RevertVersion, AnErrorIsToldOfByNone) {
  use();
  send(kLan, named("UDP to the server").before);
  send(kWan, named("port unreachable").before);
  EXPECT_EQ(reverts_.reverted, Reverted::kFailed);
}

}  // namespace
}  // namespace millrace::nat64_test
