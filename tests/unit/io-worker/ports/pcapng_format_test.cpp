// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/pcapng_format.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/libpcap_oracle.hpp"

namespace millrace {
namespace {

using test::frame_of;
using test::TestFolder;
using test::word16;
using test::word32;

std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

std::string block(std::uint32_t type, const std::string& body, bool big = false) {
  const auto total = static_cast<std::uint32_t>(body.size() + 12);
  return word32(type, big) + word32(total, big) + body + word32(total, big);
}

std::string section(bool big = false) {
  return block(kPcapngSectionHeader,
               word32(0x1a2b3c4d, big) + word16(1, big) + word16(0, big) + std::string(8, '\xff'),
               big);
}

std::string interface(std::uint32_t link_type = 1, const std::string& options = "",
                      bool big = false, std::uint32_t snap = 0) {
  return block(1, word16(link_type, big) + word16(0, big) + word32(snap, big) + options, big);
}

std::string enhanced(const std::string& bytes, std::uint32_t number = 0, std::uint64_t ticks = 0,
                     bool big = false) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  return block(6,
               word32(number, big) + word32(static_cast<std::uint32_t>(ticks >> 32), big) +
                   word32(static_cast<std::uint32_t>(ticks), big) + word32(length, big) +
                   word32(length + 100, big) + padded(bytes),
               big);
}

std::string option(std::uint32_t code, const std::string& value, bool big = false) {
  return word16(code, big) + word16(static_cast<std::uint32_t>(value.size()), big) + padded(value);
}

struct Reading {
  bool opened = false;
  CaptureStatus end = CaptureStatus::kRecord;
  std::vector<test::PcapPacket> packets;
};

Reading read(const std::string& file) {
  const TestFolder folder;
  FileWindow window(open_file(folder.write("a", file), O_RDONLY), kCaptureLengthMax + 131072);
  PcapngReader reader;
  Reading reading;
  reading.opened = reader.open(window);
  if (!reading.opened) return reading;
  CaptureRecord record;
  while ((reading.end = reader.next(window, record)) == CaptureStatus::kRecord) {
    reading.packets.push_back(
        {{reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size()},
         record.wire_length,
         record.time_ns});
  }
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
  EXPECT_EQ(end_after(interface(113) + enhanced(frame_of(2, 60), 1)), CaptureStatus::kCorrupt);
  const std::string packet = enhanced(frame_of(2, 60));
  std::string bad_end = packet;
  bad_end.back() = 1;
  EXPECT_EQ(end_after(bad_end), CaptureStatus::kCorrupt);
  for (std::size_t cut = 1; cut < packet.size(); ++cut) {
    EXPECT_EQ(end_after(packet.substr(0, cut)), CaptureStatus::kTruncated) << cut;
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
