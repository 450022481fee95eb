// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/kept_bytes.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "services/functions/stream/stream_reader.hpp"
#include "tests/unit/services/functions/stream/stream_memory.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kKeptStart = 0xffff'f000;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Nothing: not all of it is there.
std::optional<std::string> kept_from(const StreamTable& table, const FlowTuple& tuple,
                                     std::uint64_t from) {
  KeptBytes kept(table, *table.find(tuple), 0, from);
  if (!kept.is_whole()) return std::nullopt;
  std::string all;
  for (auto piece = kept.next(); !piece.empty(); piece = kept.next()) all += text_of(piece);
  return all;
}

/// Segments in any order; the bytes that are read, kept, and shown are those that were sent.
TEST(KeptBytes, AreThoseThatHaveBeenRead) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::uint32_t history = 1 + random() % 5000;
    StreamMemory memory({.streams = 1, .blocks = 64});
    StreamReader reader({.window = 8000, .depth = 0, .carry = 7, .history = history});
    const FlowTuple tuple = tuple_number(1);
    std::string sent;
    for (int i = 0; i < 40'000; ++i) sent += static_cast<char>(random());
    std::size_t read = 0;
    for (int step = 0; step < 400 && read < sent.size(); ++step) {
      memory.begin_batch();
      StreamTable table = memory.table();
      const std::size_t at = random() % 2 == 0 ? read : read + random() % 3000;
      const std::string data = sent.substr(std::min(at, sent.size() - 1), 1 + random() % 1400);
      const StreamSegment segment{
          .tuple = tuple,
          .direction = 0,
          .sequence = kKeptStart + static_cast<std::uint32_t>(at),
          .acknowledged = {kKeptStart + static_cast<std::uint32_t>(read), std::nullopt},
          .is_picked_up = false,
          .data = std::as_bytes(std::span(data))};
      StreamReader::Offer offer = reader.offer(table, segment);
      if (at >= sent.size() || offer.fate != StreamReader::Fate::kPasses) continue;
      if (!offer.text.empty()) {
        ASSERT_EQ(offer.position, read);
        ASSERT_EQ(offer.carry, std::min<std::size_t>(read, 7));
        const StreamReader::Offer whole = reader.whole(table);
        ASSERT_EQ(whole.carry,
                  std::max<std::size_t>(std::min<std::size_t>(read, history), offer.carry));
        ASSERT_EQ(text_of(whole.text), sent.substr(read - whole.carry, whole.text.size()));
        ASSERT_EQ(whole.text.size() - whole.carry, offer.text.size() - offer.carry);
        read += offer.text.size() - offer.carry;
      }
      ASSERT_TRUE(reader.commit(table, segment));
      ASSERT_EQ(table.find(tuple)->position(0), read);
      const std::uint64_t begin = KeptBytes::begin(table, *table.find(tuple), 0);
      ASSERT_LE(begin, read - std::min<std::size_t>(read, history));
      for (const std::uint64_t from : {begin, (begin + read) / 2, std::uint64_t{read}}) {
        ASSERT_EQ(kept_from(table, tuple, from), sent.substr(from, read - from));
      }
      ASSERT_TRUE(begin == 0 || !kept_from(table, tuple, begin - 1));
      ASSERT_EQ(kept_from(table, tuple, read + 1), std::nullopt);
    }
    EXPECT_GT(read, 20'000u);
  }
}

TEST(KeptBytes, PlacesGoOnBehindFourGigabytes) {
  StreamMemory memory({.streams = 1, .blocks = 8});
  StreamReader reader({.window = 4000, .depth = 0, .carry = 2, .history = 4});
  const FlowTuple tuple = tuple_number(1);
  StreamTable table = memory.table();
  Stream& stream = *table.begin(tuple);
  StreamSide& side = table.change_side(stream, 0);
  side.is_known = 1;
  side.start = 77;
  side.next = 77 - 3;  // all but three bytes of a round have been read
  side.read = UINT32_MAX;
  const std::string data = "abcdef";
  const StreamSegment segment{.tuple = tuple,
                              .direction = 0,
                              .sequence = 77 - 3,
                              .acknowledged = {77 - 3, std::nullopt},
                              .is_picked_up = false,
                              .data = std::as_bytes(std::span(data))};
  EXPECT_EQ(reader.offer(table, segment).position, (std::uint64_t{1} << 32) - 3);
  ASSERT_TRUE(reader.commit(table, segment));
  EXPECT_EQ(stream.position(0), (std::uint64_t{1} << 32) + 3);
  EXPECT_EQ(kept_from(table, tuple, (std::uint64_t{1} << 32) - 1), "cdef");
}

/// A reader that lets pass what does not fit goes on where the receiver is.
TEST(KeptBytes, WhatHasNotComeByIsGivenUp) {
  StreamMemory memory({.streams = 1, .blocks = 8});
  StreamReader reader({.window = 4000, .depth = 0, .carry = 2, .history = 4, .skips = true});
  const FlowTuple tuple = tuple_number(1);
  StreamTable table = memory.table();
  const auto send = [&](std::uint32_t at, std::uint32_t acknowledged, const std::string& data) {
    const StreamSegment segment{.tuple = tuple,
                                .direction = 0,
                                .sequence = at,
                                .acknowledged = {acknowledged, std::nullopt},
                                .is_picked_up = false,
                                .data = std::as_bytes(std::span(data))};
    const StreamReader::Offer offer = reader.offer(table, segment);
    EXPECT_TRUE(reader.commit(table, segment));
    return text_of(offer.text);
  };
  EXPECT_EQ(send(10, 10, "ab"), "ab");
  EXPECT_EQ(send(20, 10, "kl"), "");
  EXPECT_EQ(send(24, 20, "op"), "kl");
  EXPECT_EQ(send(22, 22, "mn"), "klmnop");
  EXPECT_EQ(table.find(tuple)->position(0), 16u);
}

}  // namespace
}  // namespace millrace
