// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/revert_translation.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/nat/nat_stage.hpp"

namespace millrace::nat_test {
namespace {

/// Behind nat; twice does not harm.
struct Reverts final : Function {
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    for (const std::uint16_t packet : call.selected.packets) {
      const auto frame = call.batch.bytes(packet);
      translated.emplace_back(frame.begin(), frame.end());
      EXPECT_TRUE(revert_translation(call, packet));
      EXPECT_TRUE(revert_translation(call, packet));
    }
  }
  std::vector<Frame> translated;
};

class RevertTranslation : public NatTest {
 protected:
  RevertTranslation() { behind_ = &reverts_; }
  Reverts reverts_;
};

TEST_F(RevertTranslation, GivesThePacketAsItHasCome) {
  use();
  for (const std::uint8_t protocol : {6, 17, 1}) {
    const Frame sent = Sent{.destination_port = static_cast<std::uint16_t>(protocol == 1 ? 8 : 53),
                            .protocol = protocol}
                           .frame();
    EXPECT_EQ(send_frames(kLan, {sent}).front().frame, sent);
    EXPECT_NE(reverts_.translated.back(), sent);
  }
}

TEST_F(RevertTranslation, LeavesAPacketAloneThatIsNotTranslated) {
  use();
  const Frame sent = Sent{.destination = kOther}.frame();
  EXPECT_EQ(send_frames(kLan, {sent}).front().frame, sent);
  EXPECT_EQ(reverts_.translated.back(), sent);
}

}  // namespace
}  // namespace millrace::nat_test
