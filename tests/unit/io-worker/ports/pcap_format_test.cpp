// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/pcap_format.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::frame_of;
using test::pcap_header;
using test::pcap_record;
using test::PcapKind;
using test::TestFolder;

const std::byte* bytes_of(const std::string& text) {
  return reinterpret_cast<const std::byte*>(text.data());
}

PcapFormat format_of(PcapKind kind) { return parse_pcap_header(bytes_of(pcap_header(kind))); }

// Reads one record of `file`, which is what follows a file header of `kind`.
CaptureStatus read_one(const std::string& file, PcapKind kind, CaptureRecord& record,
                       std::string* bytes = nullptr) {
  const TestFolder folder;
  FileWindow window(open_file(folder.write("a", file), O_RDONLY), kCaptureLengthMax + 16);
  const CaptureStatus status = next_pcap_record(window, format_of(kind), record);
  if (status == CaptureStatus::kRecord && bytes != nullptr) {
    bytes->assign(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
  }
  return status;
}

TEST(PcapFormat, KnowsFourMagicNumbers) {
  for (const bool big : {false, true}) {
    for (const bool nanoseconds : {false, true}) {
      const PcapKind kind{.big = big, .nanoseconds = nanoseconds};
      EXPECT_TRUE(is_pcap(bytes_of(pcap_header(kind))));
      EXPECT_EQ(format_of(kind).swapped, big);
      EXPECT_EQ(format_of(kind).nanoseconds, nanoseconds);
    }
  }
  EXPECT_FALSE(is_pcap(bytes_of(test::word32(0xa1b2cd34))));
  EXPECT_FALSE(is_pcap(bytes_of(test::word32(0x0a0d0d0a))));
}

TEST(PcapFormat, TakesTheLinkTypeWithoutTheFcsBits) {
  EXPECT_EQ(format_of({.link_type = 0x24000001}).link_type, 1u);
  EXPECT_EQ(format_of({.big = true, .link_type = 113}).link_type, 113u);
}

TEST(PcapFormat, RefusesOtherVersions) {
  EXPECT_EQ(error_of([] { format_of({.minor = 5}); }), "pcap version 2.5; known: 2.0 to 2.4");
}

TEST(PcapRecord, IsReadInBothByteOrdersAndUnits) {
  for (const bool big : {false, true}) {
    for (const bool nanoseconds : {false, true}) {
      const PcapKind kind{.big = big, .nanoseconds = nanoseconds};
      CaptureRecord record;
      std::string bytes;
      const std::string file = pcap_record(frame_of(3, 77), kind, 1500, 9, 8);
      ASSERT_EQ(read_one(file, kind, record, &bytes), CaptureStatus::kRecord);
      EXPECT_EQ(bytes, frame_of(3, 77));
      EXPECT_EQ(record.wire_length, 1500u);
      EXPECT_EQ(record.time_ns, 9'000'000'000u + (nanoseconds ? 8 : 8000));
    }
  }
}

TEST(PcapRecord, IsCutToTheSnapLength) {
  const PcapKind kind{.snap_length = 40};
  CaptureRecord record;
  std::string bytes;
  ASSERT_EQ(read_one(pcap_record(frame_of(3, 77), kind), kind, record, &bytes),
            CaptureStatus::kRecord);
  EXPECT_EQ(bytes, frame_of(3, 77).substr(0, 40));
}

TEST(PcapRecord, HasItsLengthsTheOtherWayRoundBeforeVersion23) {
  CaptureRecord record;
  const std::string file =
      test::word32(1) + test::word32(2) + test::word32(1500) + test::word32(60) + frame_of(0, 60);
  ASSERT_EQ(read_one(file, {.minor = 2}, record), CaptureStatus::kRecord);
  EXPECT_EQ(record.wire_length, 1500u);
  ASSERT_EQ(read_one(file, {.minor = 3}, record), CaptureStatus::kRecord);
  EXPECT_EQ(record.wire_length, 1500u);
  EXPECT_EQ(read_one(file, {.minor = 4}, record), CaptureStatus::kTruncated);
}

TEST(PcapRecord, TellsEndTruncationAndCorruptionApart) {
  CaptureRecord record;
  const std::string whole = pcap_record(frame_of(0, 60));
  EXPECT_EQ(read_one("", {}, record), CaptureStatus::kEnd);
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    EXPECT_EQ(read_one(whole.substr(0, cut), {}, record), CaptureStatus::kTruncated) << cut;
  }
  const std::string long_one =
      test::word32(1) + test::word32(2) + test::word32(kCaptureLengthMax + 1) + test::word32(60);
  EXPECT_EQ(read_one(long_one, {}, record), CaptureStatus::kCorrupt);
}

TEST(PcapRecord, MayBeEmptyAndMayBeTheLongest) {
  CaptureRecord record;
  std::string bytes;
  ASSERT_EQ(read_one(pcap_record(""), {}, record, &bytes), CaptureStatus::kRecord);
  EXPECT_EQ(bytes, "");
  const std::string longest = frame_of(1, kCaptureLengthMax);
  const PcapKind kind{.snap_length = kCaptureLengthMax};
  ASSERT_EQ(read_one(pcap_record(longest, kind), kind, record, &bytes), CaptureStatus::kRecord);
  EXPECT_EQ(bytes, longest);
}

TEST(PcapWriting, GivesWhatTheFormatSays) {
  std::string header(24, 0);
  put_pcap_header(reinterpret_cast<std::byte*>(header.data()));
  EXPECT_EQ(header, pcap_header({.nanoseconds = true, .snap_length = kCaptureLengthMax}));
  std::string record(16, 0);
  put_pcap_record_header(reinterpret_cast<std::byte*>(record.data()), 5'000'000'007, 60, 1500);
  EXPECT_EQ(record, test::word32(5) + test::word32(7) + test::word32(60) + test::word32(1500));
}

}  // namespace
}  // namespace millrace
