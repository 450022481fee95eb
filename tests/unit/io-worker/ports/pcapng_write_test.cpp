// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/pcapng_write.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/libpcap_oracle.hpp"

namespace millrace {
namespace {

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(PcapngWrite, LibpcapReadsWhatWeWrite) {
  const test::TestFolder folder;
  std::vector<std::byte> file;
  put_pcapng_section(file, "a test");
  put_pcapng_interface(file, {"wan", "", 0});
  std::vector<std::string> frames;
  for (std::size_t length : {60, 61, 62, 63, 1514}) {
    frames.emplace_back(length, static_cast<char>('a' + frames.size()));
    const std::string comment = frames.size() % 2 == 0 ? "" : "front.0 died in ids";
    put_pcapng_packet(file, 0,
                      {std::as_bytes(std::span(frames.back())),
                       static_cast<std::uint32_t>(length + 4), 1'700'000'000'123'456'789 + length},
                      PcapngDirection::kUnknown, comment);
  }
  const auto seen = test::read_with_libpcap(folder.write("a.pcapng", text_of(file))).packets;
  ASSERT_EQ(seen.size(), frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(seen[i].bytes, frames[i]);
    EXPECT_EQ(seen[i].wire_length, frames[i].size() + 4);
    EXPECT_EQ(seen[i].time_ns, 1'700'000'000'123'456'789 + frames[i].size());
  }
}

TEST(PcapngWrite, ACommentStandsBesideItsPacketAndALongOneIsCut) {
  std::vector<std::byte> file;
  const std::string frame(60, 'x');
  const CaptureRecord record{std::as_bytes(std::span(frame)), 60, 0};
  put_pcapng_packet(file, 0, record, PcapngDirection::kUnknown, "who died");
  EXPECT_NE(text_of(file).find("who died"), std::string::npos);
  file.clear();
  put_pcapng_packet(file, 0, record, PcapngDirection::kUnknown, std::string(70'000, 'c'));
  EXPECT_LT(file.size(), 1'200U);
  EXPECT_EQ(file.size() % 4, 0U);
}

}  // namespace
}  // namespace millrace
