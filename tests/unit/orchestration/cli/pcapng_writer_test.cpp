// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/pcapng_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pcap/pcap.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "io-worker/ports/capture_reader.hpp"
#include "shared/base/error.hpp"

namespace millrace::test {
namespace {

class PcapngWriterTest : public testing::Test {
 protected:
  ~PcapngWriterTest() override { std::filesystem::remove(path_); }
  UniqueFd open() const {
    return UniqueFd(::open(path_.c_str(), O_CREAT | O_RDWR | O_TRUNC, 0600));
  }
  /// Three packets of odd lengths from two places.
  void write() const {
    PcapngWriter writer(open(), {{"wan in", "udp", 0}, {"wan out", "", 0}}, path_);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::vector<std::byte> bytes(61 + i, std::byte(i));
      writer.packet(
          i % 2, {bytes, static_cast<std::uint32_t>(1000 + i), 1'700'000'000'123'456'789 + i},
          i % 2 == 0 ? PcapngDirection::kIn : PcapngDirection::kOut, i == 2 ? "dropped: rule" : "");
    }
    writer.statistics(0, 1'700'000'001'000'000'000, 2, 5);
    EXPECT_TRUE(writer.flush());
  }
  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string path_ = testing::TempDir() + "writer-" + std::to_string(::getpid()) + ".pcapng";
};

TEST_F(PcapngWriterTest, OurReaderReadsWhatWasWritten) {
  write();
  CaptureReader reader(path_);
  CaptureRecord record;
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(reader.next(record), CaptureStatus::kRecord);
    EXPECT_EQ(record.bytes.size(), 61 + i);
    EXPECT_EQ(record.bytes.back(), std::byte(i));
    EXPECT_EQ(record.wire_length, 1000 + i);
    EXPECT_EQ(record.time_ns, 1'700'000'000'123'456'789 + i);
  }
  EXPECT_EQ(reader.next(record), CaptureStatus::kEnd);
}

TEST_F(PcapngWriterTest, LibpcapReadsIt) {
  write();
  char error[PCAP_ERRBUF_SIZE] = "";
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> pcap(
      pcap_open_offline_with_tstamp_precision(path_.c_str(), PCAP_TSTAMP_PRECISION_NANO, error),
      pcap_close);
  ASSERT_NE(pcap, nullptr) << error;
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  ASSERT_EQ(pcap_next_ex(pcap.get(), &header, &bytes), 1) << pcap_geterr(pcap.get());
  EXPECT_EQ(header->caplen, 61U);
  EXPECT_EQ(header->len, 1000U);
  EXPECT_EQ(header->ts.tv_sec, 1'700'000'000);
  EXPECT_EQ(header->ts.tv_usec, 123'456'789);
}

TEST_F(PcapngWriterTest, NamesFilterCommentAndLossesAreInIt) {
  write();
  const std::string text = content();
  for (const std::string part : {"wan in", "wan out", "dropped: rule", "millrace capture"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  EXPECT_NE(text.find(std::string("\x0b\0\x04\0\0udp", 8)), std::string::npos);
  // Interface statistics: received 7 (option 4), lost 5 (option 5).
  EXPECT_NE(text.find(std::string("\x04\0\x08\0\x07\0\0\0\0\0\0\0\x05\0\x08\0\x05", 17)),
            std::string::npos);
}

TEST_F(PcapngWriterTest, AReaderThatHasGoneIsNoError) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  PcapngWriter writer(UniqueFd(ends[1]), {{"a", "", 0}}, "out");
  EXPECT_FALSE(writer.flush());
}

/// A filter that takes nothing would hide for ever that there is no reader.
TEST_F(PcapngWriterTest, AReaderThatHasGoneIsSeenWithNothingToWrite) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  PcapngWriter writer(UniqueFd(ends[1]), {{"a", "", 0}}, "out");
  EXPECT_TRUE(writer.flush());
  EXPECT_TRUE(writer.flush());
  ::close(ends[0]);
  EXPECT_FALSE(writer.flush());
}

TEST_F(PcapngWriterTest, AFileThatCannotBeWrittenIsAnError) {
  UniqueFd full(::open("/dev/full", O_WRONLY));
  if (!full) GTEST_SKIP() << "no /dev/full";
  PcapngWriter writer(std::move(full), {{"a", "", 0}}, "out");
  EXPECT_THROW(writer.flush(), Error);
}

}  // namespace
}  // namespace millrace::test
