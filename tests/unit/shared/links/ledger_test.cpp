// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/ledger.hpp"

#include <gtest/gtest.h>

#include "shared/layout/status_layout.hpp"

namespace millrace {
namespace {

LaneRecord next(const LaneLedger& ledger, std::uint64_t sequence, std::uint16_t count,
                std::uint64_t received_total) {
  SlotHeader header{};
  header.sequence = sequence;
  header.count = count;
  header.received_total = received_total;
  header.received_bytes_total = received_total * 60;
  header.position = received_total + 5;
  return next_record(ledger, header);
}

TEST(Ledger, ARecordCarriesTheRunningCountsOfItsBatch) {
  LaneLedger ledger{};
  publish(ledger, next(ledger, 1, 3, 3));
  publish(ledger, next(ledger, 2, 4, 7));
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
  publish(ledger, next(ledger, 1, 3, 3));
  const LaneRecord* const first = &ledger.record[ledger.flips & 1];
  publish(ledger, next(ledger, 2, 3, 6));
  EXPECT_NE(&ledger.record[ledger.flips & 1], first);
  EXPECT_EQ(first->released_sequence, 1u) << "overwritten before the next one counts";
  publish(ledger, next(ledger, 3, 3, 9));
  EXPECT_EQ(first->released_sequence, 3u);
  EXPECT_EQ(ledger.flips, 3u);
}

TEST(Ledger, AWriterKilledBeforeTheFlipHasChangedNothing) {
  LaneLedger ledger{};
  publish(ledger, next(ledger, 1, 3, 3));
  const LaneRecord half = next(ledger, 2, 3, 6);
  ledger.record[(ledger.flips + 1) & 1] = half;  // as publish() does, without its flip
  EXPECT_EQ(read_record(ledger).released_sequence, 1u);
  publish(ledger, next(ledger, 2, 3, 6));
  EXPECT_EQ(read_record(ledger).received, 6u) << "counted once";
}

TEST(Ledger, WhatTheRunningCountMissesIsUnaccounted) {
  LaneLedger ledger{};
  publish(ledger, next(ledger, 1, 3, 3));
  publish(ledger, next(ledger, 2, 3, 8));  // two packets more than it holds
  EXPECT_EQ(read_record(ledger).unaccounted, 2u);
  publish(ledger, next(ledger, 3, 3, 11));
  EXPECT_EQ(read_record(ledger).unaccounted, 2u) << "counted once";
}

TEST(Ledger, CountsOfEarlierBatchesGoOn) {
  LaneLedger ledger{};
  LaneRecord record = next(ledger, 1, 3, 3);
  record.transmitted[2] += 3;
  record.dropped[4] += 1;
  publish(ledger, record);
  record = next(ledger, 2, 3, 6);
  EXPECT_EQ(record.transmitted[2], 3u);
  EXPECT_EQ(record.dropped[4], 1u);
}

}  // namespace
}  // namespace millrace
