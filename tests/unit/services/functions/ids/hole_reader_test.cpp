// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/hole_reader.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/ids_stage.hpp"

namespace millrace {
namespace {

using HoleReaderTest = IdsStage;

TEST_F(HoleReaderTest, ReadsWithTheAcknowledgment) {
  use("alert tcp-stream any any -> any any (content:\"forbidden\"; sid:1;)\n"
      "alert tcp-stream any any -> any any (content:\"word\"; sid:2;)\n",
      {{"mode", "ids"}});
  open();
  send(segment(false, kAck, first_ + 1, kServer + 1, "a forb"));
  send(segment(false, kAck, first_ + 11, kServer + 1, "idden word"));
  send(segment(false, kAck, first_ + 31, kServer + 1, "another word"));
  EXPECT_EQ(hits(1), 0u);
  send(segment(true, kAck, kServer + 1, first_ + 9));  // not all of the hole
  EXPECT_EQ(hits(1), 0u);
  send(segment(true, kAck, kServer + 1, first_ + 43));
  EXPECT_EQ(hits(1), 1u);
  send(segment(true, kAck, kServer + 1, first_ + 43));  // one hole with each packet
  EXPECT_EQ(hits(1), 2u);
  EXPECT_EQ(hits(0), 0u);
}

TEST_F(HoleReaderTest, APacketMayBringDataOfItsOwn) {
  use("alert tcp-stream any any -> any any (content:\"forbidden\"; sid:1;)\n"
      "alert tcp-stream any any -> any any (content:\"answer\"; sid:2;)\n",
      {{"mode", "ids"}});
  open();
  send(segment(false, kAck, first_ + 11, kServer + 1, "forbidden"));
  EXPECT_EQ(hits(0), 0u);
  send(segment(true, kAck, kServer + 1, first_ + 20, "an answer"));
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(hits(1), 1u);
  send(segment(false, kAck, first_ + 20, kServer + 10, "forbidden"));
  EXPECT_EQ(hits(0), 2u);
}

TEST_F(HoleReaderTest, AnIpsLetsNoHostDoThat) {
  use("alert tcp-stream any any -> any any (content:\"forbidden\"; sid:1;)\n");
  open();
  send(segment(false, kAck, first_ + 11, kServer + 1, "forbidden"));
  send(segment(true, kAck, kServer + 1, first_ + 20));
  EXPECT_EQ(hits(0), 0u);
}

}  // namespace
}  // namespace millrace
