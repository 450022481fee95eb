// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/ledger.hpp"

#include <gtest/gtest.h>

#include "shared/layout/status_layout.hpp"

namespace millrace {
namespace {

LaneRecord& begin(LaneLedger& ledger, std::uint64_t sequence, std::uint16_t count,
                  std::uint64_t received_total) {
  SlotHeader header{};
  header.sequence = sequence;
  header.count = count;
  header.received_total = received_total;
  header.received_bytes_total = received_total * 60;
  header.position = received_total + 5;
  return begin_record(ledger, header);
}

void release(LaneLedger& ledger, std::uint64_t sequence, std::uint16_t count,
             std::uint64_t received_total) {
  begin(ledger, sequence, count, received_total);
  publish(ledger);
}

TEST(Ledger, ARecordCarriesTheRunningCountsOfItsBatch) {
  LaneLedger ledger{};
  release(ledger, 1, 3, 3);
  release(ledger, 2, 4, 7);
  const LaneRecord record = read_record(ledger);
  EXPECT_EQ(record.released_sequence, 2u);
  EXPECT_EQ(record.received, 7u);
  EXPECT_EQ(record.received_bytes, 420u);
  EXPECT_EQ(record.position, 12u);
  EXPECT_EQ(record.batches, 2u);
  EXPECT_EQ(record.unaccounted, 0u);
  EXPECT_EQ(ledger.released, 2u);
}

TEST(Ledger, RecordsAlternateAndTheLastCompleteOneStaysWhole) {
  LaneLedger ledger{};
  release(ledger, 1, 3, 3);
  const LaneRecord* const first = &ledger.record[ledger.flips & 1];
  release(ledger, 2, 3, 6);
  EXPECT_NE(&ledger.record[ledger.flips & 1], first);
  EXPECT_EQ(first->released_sequence, 1u) << "overwritten before the next one counts";
  release(ledger, 3, 3, 9);
  EXPECT_EQ(first->released_sequence, 3u);
  EXPECT_EQ(ledger.flips, 3u);
}

TEST(Ledger, AWriterKilledBeforeTheFlipHasChangedNothing) {
  LaneLedger ledger{};
  release(ledger, 1, 3, 3);
  begin(ledger, 2, 3, 6).transmitted[2] += 1;
  EXPECT_EQ(read_record(ledger).released_sequence, 1u);
  release(ledger, 2, 3, 6);
  EXPECT_EQ(read_record(ledger).received, 6u) << "counted once";
  EXPECT_EQ(read_record(ledger).transmitted[2], 0u) << "what was begun is forgotten";
}

TEST(Ledger, WhatTheRunningCountMissesIsUnaccounted) {
  LaneLedger ledger{};
  release(ledger, 1, 3, 3);
  release(ledger, 2, 3, 8);  // two packets more than it holds
  EXPECT_EQ(read_record(ledger).unaccounted, 2u);
  release(ledger, 3, 3, 11);
  EXPECT_EQ(read_record(ledger).unaccounted, 2u) << "counted once";
}

TEST(Ledger, CountsOfEarlierBatchesGoOn) {
  LaneLedger ledger{};
  LaneRecord& first = begin(ledger, 1, 3, 3);
  first.transmitted[2] += 3;
  count_end(first, first.dropped, 4);
  publish(ledger);
  const LaneRecord& record = begin(ledger, 2, 3, 6);
  EXPECT_EQ(record.transmitted[2], 3u);
  EXPECT_EQ(record.dropped[4], 1u);
}

}  // namespace
}  // namespace millrace
