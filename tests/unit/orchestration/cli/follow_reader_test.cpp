// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/follow_reader.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

class FollowReaderTest : public testing::Test {
 protected:
  static FlowTuple tuple() {
    const Frame frame = segment(false, kAck, 0, 0);
    return *flow_tuple_of(frame, parse_headers(frame));
  }
  void client(std::uint32_t at, std::string_view data, std::uint8_t flags = kAck) {
    reader_.take(segment(false, flags, at, 500, data));
  }
  void server(std::uint32_t at, std::string_view data, std::uint32_t has,
              std::uint8_t flags = kAck) {
    reader_.take(segment(true, flags, at, has, data));
  }

  std::string said_;  ///< ">" and "<" in front of pieces
  FollowReader reader_{tuple(), [this](const FollowedPiece& piece) {
                         said_ += piece.direction == 0 ? '>' : '<';
                         if (piece.missing != 0) said_ += "[" + std::to_string(piece.missing) + "]";
                         said_.append(reinterpret_cast<const char*>(piece.bytes.data()),
                                      piece.bytes.size());
                       }};
};

TEST_F(FollowReaderTest, PutsSegmentsInOrder) {
  client(100, "a");
  client(103, "de");
  client(101, "bcD");
  server(500, "x", 105);
  client(100, "again");
  EXPECT_EQ(said_, ">a>bcD>e<x");
}

TEST_F(FollowReaderTest, WhatItsReceiverHasWithoutUsIsMissing) {
  client(100, "a");
  client(105, "fg");
  EXPECT_EQ(said_, ">a");
  server(500, "", 107);
  EXPECT_EQ(said_, ">a>[4]fg");
}

TEST_F(FollowReaderTest, TheRestIsToldAtTheEnd) {
  client(UINT32_MAX, "a");
  client(3, "d");
  reader_.finish();
  EXPECT_EQ(said_, ">a>[3]d");
}

TEST_F(FollowReaderTest, EndsWithBothSides) {
  client(100, "a", kFin | kAck);
  EXPECT_FALSE(reader_.has_ended());
  server(500, "b", 102, kFin | kAck);
  EXPECT_TRUE(reader_.has_ended());
}

TEST_F(FollowReaderTest, EndsWithAReset) {
  server(500, "no text", 0, kRst);
  EXPECT_TRUE(reader_.has_ended());
  EXPECT_EQ(said_, "");
}

TEST_F(FollowReaderTest, OthersAreNotTaken) {
  reader_.take(segment(false, kAck, 0, 0, "other", 40'001));
  EXPECT_EQ(said_, "");
}

}  // namespace
}  // namespace millrace
