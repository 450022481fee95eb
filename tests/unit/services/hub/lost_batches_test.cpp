// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/lost_batches.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "shared/base/error.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/libpcap_oracle.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

class LostBatchesTest : public testing::Test {
 protected:
  Batch batch_of(std::uint64_t sequence, std::uint32_t lane = 0) {
    return world_.segment.batch(world_.make({.lane = lane, .sequence = sequence}));
  }
  std::size_t packets_in(const char* name) const {
    const test::PcapReading reading = test::read_with_libpcap(folder_.path(name));
    EXPECT_TRUE(reading.ended_well) << reading.error;
    return reading.packets.size();
  }

  test::TestFolder folder_;
  test::SmallWorld world_;
};

TEST_F(LostBatchesTest, KeepsThePacketsThatWereNotDropped) {
  const Batch batch = batch_of(1);
  batch.drop(1, Reason::kNoPath);
  LostBatches lost(folder_.path(""));
  EXPECT_EQ(lost.keep(batch, "front.0 died in ids"), 2U);
  EXPECT_EQ(lost.keep(batch_of(2), "front.0 died"), 3U);
  EXPECT_EQ(packets_in("lost.pcapng"), 5U);
  struct stat info {};
  ASSERT_EQ(::stat(folder_.path("lost.pcapng").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(LostBatchesTest, TwoFilesAreTheMostThatIsKept) {
  constexpr std::uint64_t kBytesMax = 1000;
  LostBatches lost(folder_.path(""), kBytesMax);
  const Batch batch = batch_of(1);
  for (int i = 0; i < 20; ++i) {
    lost.keep(batch, "x");
    EXPECT_LE(fs::file_size(folder_.path("lost.pcapng")), kBytesMax);
  }
  EXPECT_GT(packets_in("lost.pcapng"), 0U);
  EXPECT_GT(packets_in("lost.1.pcapng"), 0U);
  EXPECT_LE(fs::file_size(folder_.path("lost.1.pcapng")), kBytesMax);
}

TEST_F(LostBatchesTest, ABatchWithoutPacketsMakesNoFile) {
  const Batch batch = batch_of(1);
  for (std::uint32_t i = 0; i < batch.count; ++i) batch.drop(i, Reason::kOverload);
  EXPECT_EQ(LostBatches(folder_.path("")).keep(batch, "x"), 0U);
  EXPECT_FALSE(fs::exists(folder_.path("lost.pcapng")));
}

TEST_F(LostBatchesTest, AFolderThatIsGoneIsAnError) {
  EXPECT_THROW(LostBatches("/nowhere/at/all").keep(batch_of(1), "x"), Error);
}

}  // namespace
}  // namespace millrace
