// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/fetch_ahead.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::SmallWorld;

TEST(FetchAhead, WhatIsReadEndsBehindTheLastColumnThatAnIngressWrites) {
  SmallWorld world;
  ActorContext context = world.context("front.0");
  const ColumnOffsets& at = world.segment.layout().columns;
  Plan plan = world.plan;
  context.plan = &plan;
  plan.classes.clear();
  EXPECT_EQ(bytes_read(context), at.classes);
  EXPECT_GT(at.classes, at.output);
  plan.classes = {"one"};
  EXPECT_EQ(bytes_read(context), at.reason);
  EXPECT_GT(at.reason, at.classes);
}

TEST(FetchAhead, FetchingChangesNothing) {
  SmallWorld world;
  const std::uint32_t slot = world.make({.owner = "front.0", .state = {SlotKind::kHeld, 0}});
  const ActorContext context = world.context("front.0");
  const Batch batch = world.segment.batch(slot);
  const auto* const first = reinterpret_cast<const std::byte*>(batch.header);
  const std::vector<std::byte> before(first, first + bytes_read(context));
  fetch_slot(context, slot, bytes_read(context));
  fetch_packets(context, slot, 0);
  fetch_packets(context, slot, 1);
  fetch_packets(context, slot, batch.count);
  SlotFetcher fetcher(context);
  fetcher.next(slot);
  fetcher.taken(slot);
  fetcher.taken(slot);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), first));
}

}  // namespace
}  // namespace millrace
