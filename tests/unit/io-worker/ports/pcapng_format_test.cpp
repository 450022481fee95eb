// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/pcapng_format.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/libpcap_oracle.hpp"
#include "tests/unit/io-worker/ports/pcapng_files.hpp"

namespace millrace {
namespace {

using test::block;
using test::enhanced;
using test::frame_of;
using test::interface;
using test::option;
using test::padded;
using test::section;
using test::TestFolder;
using test::word16;
using test::word32;

struct Reading {
  bool opened = false;
  CaptureStatus end = CaptureStatus::kRecord;
  std::vector<test::PcapPacket> packets;
  std::uint64_t skipped = 0;
  std::uint32_t other_link_type = 0;
};

Reading read(const std::string& file) {
  const TestFolder folder;
  FileWindow window(open_file(folder.write("a", file), O_RDONLY), kCaptureLengthMax + 131072);
  PcapngReader reader;
  Reading reading;
  reading.end = reader.open(window);
  reading.opened = reading.end == CaptureStatus::kRecord;
  if (!reading.opened) return reading;
  CaptureRecord record;
  while ((reading.end = reader.next(window, record)) == CaptureStatus::kRecord) {
    reading.packets.push_back(
        {{reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size()},
         record.wire_length,
         record.time_ns});
  }
  reading.skipped = reader.skipped();
  reading.other_link_type = reader.other_link_type();
  return reading;
}

// Ours and libpcap's reading of the same bytes.
void expect_as_libpcap(const std::string& file, std::size_t packets) {
  const TestFolder folder;
  const test::PcapReading oracle = test::read_with_libpcap(folder.write("a", file));
  ASSERT_TRUE(oracle.opened) << oracle.error;
  const Reading ours = read(file);
  EXPECT_EQ(ours.packets.size(), packets);
  EXPECT_EQ(ours.packets, oracle.packets);
  EXPECT_EQ(ours.end == CaptureStatus::kEnd, oracle.ended_well) << oracle.error;
}

TEST(Pcapng, ReadsEnhancedPacketsInBothByteOrders) {
  for (const bool big : {false, true}) {
    expect_as_libpcap(section(big) + interface(1, "", big) + enhanced(frame_of(1, 61), 0, 5, big) +
                          enhanced(frame_of(2, 64), 0, 1ull << 40, big),
                      2);
  }
}

TEST(Pcapng, ReadsSimplePacketsCutToTheSnapLength) {
  const std::string simple = block(3, word32(100) + padded(frame_of(4, 60)));
  expect_as_libpcap(section() + interface(1, "", false, 60) + simple, 1);
}

TEST(Pcapng, ReadsObsoletePacketBlocks) {
  const std::string old = block(2, word16(0) + word16(3) + word32(0) + word32(77) + word32(60) +
                                       word32(90) + frame_of(1, 60));
  expect_as_libpcap(section() + interface() + old, 1);
}

TEST(Pcapng, ReadsTimeInTheResolutionOfItsInterface) {
  for (const char resolution : {'\x03', '\x06', '\x09', '\x0c', '\x8a', '\x9e'}) {
    const std::string options =
        option(9, std::string(1, resolution)) + option(14, word32(100) + word32(0)) + option(0, "");
    expect_as_libpcap(
        section() + interface(1, options) + enhanced(frame_of(1, 60), 0, 0x5'1234'5678ull), 1);
  }
}

TEST(Pcapng, StepsOverBlocksThatItDoesNotKnow) {
  expect_as_libpcap(section() + block(5, std::string(40, 'x')) + interface() +
                        block(0x0bad, std::string(400'000, 'y')) + enhanced(frame_of(1, 60)),
                    1);
}

TEST(Pcapng, BeginsAnewWithEverySection) {
  expect_as_libpcap(section() + interface() + interface() + enhanced(frame_of(1, 60), 1) +
                        section() + interface() + enhanced(frame_of(2, 60), 0),
                    2);
  // The second section has one interface only.
  expect_as_libpcap(section() + interface() + interface() + enhanced(frame_of(1, 60), 1) +
                        section() + interface() + enhanced(frame_of(2, 60), 1),
                    1);
}

TEST(Pcapng, StopsAtWhatCannotBeAPacket) {
  const std::string start = section() + interface() + enhanced(frame_of(1, 60));
  const auto end_after = [&](const std::string& rest) {
    const Reading reading = read(start + rest);
    EXPECT_EQ(reading.packets.size(), 1u);
    return reading.end;
  };
  EXPECT_EQ(end_after(""), CaptureStatus::kEnd);
  EXPECT_EQ(end_after(enhanced(frame_of(2, 60), 1)), CaptureStatus::kCorrupt);
  EXPECT_EQ(end_after(word32(6) + word32(13) + std::string(5, 0)), CaptureStatus::kCorrupt);
  EXPECT_EQ(end_after(word32(6) + word32(8)), CaptureStatus::kCorrupt);
  EXPECT_EQ(end_after(word32(6) + word32(kPcapngBlockBytesMax + 4)), CaptureStatus::kCorrupt);
  EXPECT_EQ(end_after(block(6, std::string(16, 0))), CaptureStatus::kCorrupt);
  EXPECT_EQ(end_after(block(3, "")), CaptureStatus::kCorrupt);
  EXPECT_EQ(end_after(block(1, "")), CaptureStatus::kCorrupt);
  EXPECT_EQ(end_after(enhanced(frame_of(2, 60), kPcapngInterfaceCountMax)),
            CaptureStatus::kCorrupt);
  std::string long_packet = enhanced(frame_of(2, 60));
  long_packet.replace(20, 4, word32(61 + 3));  // captured: more than the block has
  EXPECT_EQ(end_after(long_packet), CaptureStatus::kCorrupt);
  EXPECT_EQ(end_after(word32(kPcapngSectionHeader) + word32(28) + word32(0x01020304)),
            CaptureStatus::kCorrupt);
  const std::string packet = enhanced(frame_of(2, 60));
  std::string bad_end = packet;
  bad_end.back() = 1;
  EXPECT_EQ(end_after(bad_end), CaptureStatus::kCorrupt);
  for (std::size_t cut = 1; cut < packet.size(); ++cut) {
    EXPECT_EQ(end_after(packet.substr(0, cut)), CaptureStatus::kTruncated) << cut;
  }
}

TEST(Pcapng, ASectionThatIsCutOffIsNoCorruptOne) {
  const std::string start = section() + interface() + enhanced(frame_of(1, 60));
  for (std::size_t cut = 1; cut < section().size(); ++cut) {
    EXPECT_EQ(read(start + section().substr(0, cut)).end, CaptureStatus::kTruncated) << cut;
  }
}

TEST(Pcapng, StepsOverPacketsOfOtherLinkTypesAndCountsThem) {
  for (const bool big : {false, true}) {
    const std::string simple = block(3, word32(60, big) + frame_of(9, 60), big);
    const std::string old =
        block(2,
              word16(1, big) + word16(0, big) + word32(0, big) + word32(0, big) + word32(60, big) +
                  word32(60, big) + frame_of(8, 60),
              big);
    const Reading reading =
        read(section(big) + interface(113, "", big) + interface(101, "", big) +
             interface(1, "", big) + enhanced(frame_of(1, 60), 2, 0, big) + old + simple +
             enhanced(frame_of(2, 61), 2, 0, big) + enhanced("raw", 1, 0, big));
    ASSERT_EQ(reading.packets.size(), 2u);
    EXPECT_EQ(reading.packets[1].bytes, frame_of(2, 61));
    EXPECT_EQ(reading.end, CaptureStatus::kEnd);
    EXPECT_EQ(reading.skipped, 3u);
    EXPECT_EQ(reading.other_link_type, 101u);
  }
}

TEST(Pcapng, KnowsManyInterfaces) {
  std::string file = section();
  for (std::uint32_t i = 0; i < kPcapngInterfaceCountMax; ++i) file += interface();
  const std::string last = enhanced(frame_of(1, 60), kPcapngInterfaceCountMax - 1);
  const Reading reading = read(file + last);
  EXPECT_EQ(reading.packets.size(), 1u);
  EXPECT_EQ(reading.end, CaptureStatus::kEnd);
  // One too many, and the section is still read.
  EXPECT_EQ(read(file + interface() + last).packets.size(), 1u);
}

TEST(Pcapng, AnOptionThatRunsOverItsBlockIsNotLookedAt) {
  for (const std::string& options :
       {word16(9) + word16(1), word16(9) + word16(0xffff) + word32(3), word16(14) + word16(8),
        option(9, "") + option(14, "four"), std::string(3, 'x')}) {
    const Reading reading =
        read(section() + interface(1, padded(options)) + enhanced(frame_of(1, 60), 0, 77));
    ASSERT_EQ(reading.packets.size(), 1u);
    EXPECT_EQ(reading.packets[0].time_ns, 77'000u) << "microseconds, as without options";
    EXPECT_EQ(reading.end, CaptureStatus::kEnd);
  }
}

TEST(Pcapng, IsNotOpenedWithoutAnInterface) {
  EXPECT_FALSE(read("").opened);
  EXPECT_FALSE(read(section()).opened);
  EXPECT_FALSE(read(section() + enhanced(frame_of(1, 60))).opened);
  EXPECT_FALSE(read(block(kPcapngSectionHeader, std::string(16, 0)) + interface()).opened);
}

}  // namespace
}  // namespace millrace
