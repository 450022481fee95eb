// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/capture_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "io-worker/ports/capture_record.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/corpus.hpp"
#include "tests/unit/io-worker/ports/libpcap_oracle.hpp"
#include "tests/unit/io-worker/ports/pcapng_files.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::frame_of;
using test::pcap_header;
using test::pcap_record;
using test::PcapPacket;
using test::TestFolder;

struct Reading {
  std::vector<PcapPacket> packets;
  CaptureStatus end = CaptureStatus::kRecord;
};

Reading read(const std::string& path) {
  CaptureReader reader(path);
  Reading reading;
  CaptureRecord record;
  while ((reading.end = reader.next(record)) == CaptureStatus::kRecord) {
    reading.packets.push_back(
        {{reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size()},
         record.wire_length,
         record.time_ns});
  }
  return reading;
}

TEST(CaptureReader, NamesTheLinkTypeThatItRefuses) {
  const TestFolder folder;
  const std::string path = folder.write("sll.pcap", pcap_header({.link_type = 113}));
  EXPECT_EQ(error_of([&] { CaptureReader{path}; }),
            path +
                ": link type 113 (www.tcpdump.org/linktypes.html); only Ethernet, link type 1, "
                "can be read");
}

TEST(CaptureReader, RefusesWhatIsNoCapture) {
  const TestFolder folder;
  const auto refusal = [&](const std::string& bytes) {
    return error_of([&] { CaptureReader{folder.write("a", bytes)}; });
  };
  EXPECT_EQ(refusal(""), folder.path("a") + ": shorter than the header of a capture");
  EXPECT_EQ(refusal(pcap_header().substr(0, 23)),
            folder.path("a") + ": shorter than the header of a capture");
  EXPECT_EQ(refusal("GET / HTTP/1.1"), folder.path("a") + ": neither a pcap nor a pcapng capture");
  EXPECT_EQ(refusal("\x1f\x8b\x08\x01"),
            folder.path("a") + ": it is compressed; unpack it first, with gunzip");
  EXPECT_EQ(refusal(test::word32(0x0a0d0d0a) + "nothing more"),
            folder.path("a") + ": a pcapng capture that describes no interface");
}

TEST(CaptureReader, OpensWhatHasAnEthernetPacketSomewhere) {
  const TestFolder folder;
  const std::string other = test::section() + test::interface(113) + test::enhanced("cooked");
  const std::string ethernet = test::interface() + test::enhanced(frame_of(1, 60), 1);
  const auto packets = [&](const std::string& bytes) {
    return read(folder.write("a", bytes)).packets.size();
  };
  EXPECT_EQ(packets(test::section() + test::interface(113) + ethernet), 1u);
  EXPECT_EQ(packets(other + ethernet), 1u);
  EXPECT_EQ(packets(other + test::section() + test::interface(113) + ethernet), 1u);
  EXPECT_EQ(packets(test::section() + test::interface(113) + test::interface()), 0u);
  const auto refusal = [&](const std::string& bytes) {
    return error_of([&] { CaptureReader{folder.write("a", bytes)}; });
  };
  for (const std::string& only :
       {other, test::section() + test::interface(113), other + test::interface()}) {
    EXPECT_NE(refusal(only).find("a: link type 113"), std::string::npos);
  }
}

TEST(CaptureReader, SaysWhatItDidNotReadAndWhy) {
  const TestFolder folder;
  const auto trouble = [&](const std::string& bytes) {
    CaptureReader reader(folder.write("a", bytes));
    for (CaptureRecord record; reader.next(record) == CaptureStatus::kRecord;) {
    }
    EXPECT_EQ(reader.errors() == 0, reader.trouble().empty());
    return reader.trouble().text();
  };
  const std::string whole = test::pcap_of(3);
  EXPECT_EQ(trouble(whole), "");
  EXPECT_EQ(trouble(whole + "half"), "ends in a record that is incomplete, behind 3 packets");
  EXPECT_EQ(trouble(whole + std::string(16, '\x7f')),
            "is corrupt behind 3 packets; what follows is not read");
  const std::string mixed = test::section() + test::interface() + test::interface(113) +
                            test::enhanced("cooked", 1) + test::enhanced(frame_of(1, 60)) +
                            test::enhanced("cooked", 1);
  const std::string skipped =
      "has packets that are not Ethernet (link type 1): 2 were skipped, the first of link type 113";
  EXPECT_EQ(trouble(mixed), skipped);
  EXPECT_EQ(trouble(mixed + "half"),
            "ends in a record that is incomplete, behind 3 packets; " + skipped);
}

TEST(CaptureReader, NamesTheErrorOfAFolder) {
  const TestFolder folder;
  EXPECT_EQ(error_of([&] { CaptureReader{folder.path("")}; }),
            folder.path("") + ": read: Is a directory");
}

TEST(CaptureReader, TellsWhereTheLastWholeRecordEnds) {
  const TestFolder folder;
  const std::string whole = pcap_header() + pcap_record(frame_of(0, 60));
  CaptureReader reader(folder.write("a", whole + pcap_record(frame_of(1, 60)).substr(0, 30)));
  CaptureRecord record;
  EXPECT_EQ(reader.next(record), CaptureStatus::kRecord);
  EXPECT_EQ(reader.next(record), CaptureStatus::kTruncated);
  EXPECT_EQ(reader.next(record), CaptureStatus::kTruncated);
  EXPECT_EQ(reader.offset(), whole.size());
}

TEST(CaptureReader, ReadsFilesLongerThanItsWindow) {
  const TestFolder folder;
  std::string file = pcap_header();
  for (std::uint32_t i = 0; i < 4000; ++i) file += pcap_record(frame_of(i, 60 + i % 1455));
  const std::string path = folder.write("a", file);
  const test::PcapReading oracle = test::read_with_libpcap(path);
  EXPECT_EQ(read(path).packets, oracle.packets);
  EXPECT_EQ(oracle.packets.size(), 4000u);
}

// Every Ethernet capture of the public set, record by record, as libpcap reads it.
TEST(CaptureReader, ReadsTheCorpusAsLibpcapDoes) {
  const test::Corpus corpus = test::Corpus::open();
  if (!corpus.there()) GTEST_SKIP() << corpus.why_not();
  std::size_t ethernet = 0, packets = 0, stopped_early = 0, interfaces_differ = 0;
  for (const std::string& path : corpus.captures()) {
    const test::PcapReading oracle = test::read_with_libpcap(path);
    if (!oracle.opened || oracle.link_type != DLT_EN10MB) continue;
    SCOPED_TRACE(path);
    ++ethernet;
    Reading ours;
    ASSERT_EQ(error_of([&] { ours = read(path); }), "");
    // libpcap gives up on a pcapng file whose interfaces differ, packets or not.
    if (oracle.error.find("different from the") != std::string::npos) {
      ASSERT_GE(ours.packets.size(), oracle.packets.size());
      ours.packets.resize(oracle.packets.size());
      ++interfaces_differ;
    } else {
      EXPECT_EQ(ours.end == CaptureStatus::kEnd, oracle.ended_well) << oracle.error;
    }
    ASSERT_EQ(ours.packets.size(), oracle.packets.size()) << oracle.error;
    for (std::size_t i = 0; i < ours.packets.size(); ++i) {
      if (oracle.packets[i].time_ns == test::kNoTime) ours.packets[i].time_ns = test::kNoTime;
      ASSERT_EQ(ours.packets[i], oracle.packets[i]) << "record " << i;
    }
    packets += oracle.packets.size();
    stopped_early += oracle.ended_well ? 0 : 1;
  }
  EXPECT_GE(ethernet, 864u);
  EXPECT_GT(packets, 40'000u);
  EXPECT_GT(stopped_early, interfaces_differ);
  EXPECT_LT(interfaces_differ, 10u);
  RecordProperty("captures", static_cast<int>(ethernet));
  RecordProperty("packets", static_cast<int>(packets));
}

TEST(CaptureReader, RefusesTheOtherLinkTypesOfTheCorpus) {
  const test::Corpus corpus = test::Corpus::open();
  if (!corpus.there()) GTEST_SKIP() << corpus.why_not();
  std::set<int> link_types;
  for (const std::string& path : corpus.captures()) {
    const test::PcapReading oracle = test::read_with_libpcap(path);
    if (!oracle.opened || oracle.link_type == DLT_EN10MB) continue;
    EXPECT_NE(error_of([&] { CaptureReader{path}; }).find("only Ethernet"), std::string::npos)
        << path;
    link_types.insert(oracle.link_type);
  }
  EXPECT_GT(link_types.size(), 10u);
}

}  // namespace
}  // namespace millrace
