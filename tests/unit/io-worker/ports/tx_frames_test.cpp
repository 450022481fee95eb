// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/tx_frames.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/io-worker/ports/super_frames.hpp"

namespace millrace {
namespace {

class TxFramesTest : public ::testing::Test {
 protected:
  void gather(bool merges, const std::vector<std::string>& packets) {
    if (!frames_ || merges != merges_) frames_ = std::make_unique<TxFrames>(merges_ = merges);
    std::vector<TxPacket> list;
    list.reserve(packets.size());
    for (const std::string& bytes : packets) {
      list.push_back({.bytes = std::as_bytes(std::span(bytes))});
    }
    frames_->gather(list);
  }
  /// As the kernel reads it.
  std::string text(std::size_t frame) {
    std::string all;
    for (const iovec& piece : frames_->pieces(frame)) {
      all.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
    }
    return all;
  }
  static std::string text_of(const Offload& offload) {
    return {reinterpret_cast<const char*>(&offload), sizeof offload};
  }

  std::unique_ptr<TxFrames> frames_;
  bool merges_ = false;
  const test::SuperFrameText of_{.payload = 5000};
  const std::string other_ = std::string(60, 'a');
};

TEST_F(TxFramesTest, WithoutMergingEachPacketIsAFrame) {
  std::vector<std::string> packets = of_.packets();
  gather(false, packets);
  ASSERT_EQ(frames_->count(), packets.size());
  for (std::size_t i = 0; i < packets.size(); ++i) EXPECT_EQ(text(i), packets[i]);
  EXPECT_EQ(frames_->packets_in(packets.size()), packets.size());
  gather(false, {});
  EXPECT_EQ(frames_->count(), 0u);
}

TEST_F(TxFramesTest, SegmentsAreOneFrameWithWhatTheKernelHasToKnow) {
  std::vector<std::string> packets = of_.packets();
  packets.insert(packets.begin(), other_);
  packets.push_back(other_);
  gather(true, packets);
  ASSERT_EQ(frames_->count(), 3u);
  EXPECT_EQ(text(0), text_of({}) + other_);
  EXPECT_EQ(text(1), text_of(of_.offload()) + of_.text());
  EXPECT_EQ(text(2), text_of({}) + other_);
  EXPECT_EQ(frames_->packets_of(1), 5u);
  EXPECT_EQ(frames_->packets_in(0), 0u);
  EXPECT_EQ(frames_->packets_in(2), 6u);
}

TEST_F(TxFramesTest, APauseMergesNone) {
  const std::vector<std::string> packets = of_.packets();
  gather(true, packets);
  EXPECT_EQ(frames_->count(), 1u);
  frames_->pause_merging();
  gather(true, packets);
  EXPECT_EQ(frames_->count(), packets.size());
  EXPECT_EQ(text(0), text_of({}) + packets[0]);
}

TEST_F(TxFramesTest, MoreThanABatchIsLeftOut) {
  for (const bool merges : {false, true}) {
    gather(merges, std::vector<std::string>(kBatchCapacityMax + 1, other_));
    EXPECT_EQ(frames_->count(), kBatchCapacityMax);
  }
}

}  // namespace
}  // namespace millrace
