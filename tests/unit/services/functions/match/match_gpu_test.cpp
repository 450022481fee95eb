// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/match_gpu.hpp"

#include <gtest/gtest.h>

#include "services/functions/function.hpp"
#include "services/functions/match/image.hpp"
#include "tests/unit/services/functions/device_memory_fake.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"

namespace millrace {
namespace {

template <typename T>
void expect_same(const T* there, const T* here, std::size_t count) {
  if (count == 0) return;
  EXPECT_NE(there, here) << "not copied";
  EXPECT_EQ(std::memcmp(there, here, count * sizeof(T)), 0);
}

void expect_uploaded(const std::string& rules) {
  const MatchFolder folder;
  const PlanFunction function = folder.plan(rules);
  build(function);
  FakeDeviceMemory memory;
  const DeviceTable table = upload_match(function, memory);
  EXPECT_EQ(table.kind, DeviceKind::kMatch);
  EXPECT_EQ(table.frame_bytes, kWholePacket);
  const LiteralIndex there = view_in<MatchGpuTable>(table).index;
  const MatchImage image(function.image);
  const LiteralIndex& here = image.index();
  ASSERT_EQ(there.counts.entries, here.counts.entries);
  ASSERT_EQ(there.counts.short_entries, here.counts.short_entries);
  expect_same(there.filter, here.filter, kFilterWords);
  expect_same(there.buckets, here.buckets, (std::size_t{1} << here.counts.bucket_bits) + 1);
  expect_same(there.entries, here.entries, here.counts.entries);
  expect_same(there.short_entries, here.short_entries, here.counts.short_entries);
  expect_same(there.pool, here.pool, here.counts.pool_words);
  EXPECT_EQ(there.pairs == nullptr, here.counts.short_entries == 0);
}

TEST(MatchGpu, TheWholeIndexIsCopied) {
  expect_uploaded("drop \"a literal\"\nalert \"another\" nocase\n");
  expect_uploaded("drop \"a literal\"\nalert \"x\"\nalert \"yz\" nocase\n");
  expect_uploaded("alert \"x\"\n");
}

TEST(MatchGpu, NoTwoTablesHaveTheSameSerial) {
  const MatchFolder folder;
  const PlanFunction function = folder.plan("drop \"a literal\"\n");
  build(function);
  FakeDeviceMemory memory;
  const auto one = view_in<MatchGpuTable>(upload_match(function, memory));
  const auto other = view_in<MatchGpuTable>(upload_match(function, memory));
  EXPECT_NE(one.serial, 0u);
  EXPECT_NE(one.serial, other.serial);
}

}  // namespace
}  // namespace millrace
