// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/packet_maker.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/places.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/corpus.hpp"

namespace millrace {
namespace {

using test::pcap_header;
using test::pcap_record;
using test::TestFolder;

constexpr MacAddress kMac = {2, 0, 0, 0, 0, 1};

GenerateSettings settings_of(std::vector<std::uint64_t> sizes, std::uint64_t flows,
                             bool numbered = false) {
  GenerateSettings settings;
  settings.sizes = std::move(sizes);
  settings.flows = flows;
  settings.sources = kGenerateSourceCountMax;
  settings.seed = 1;
  settings.numbered = numbered;
  settings.destinations = {{0x0a000000, 0x00ffffff}};
  return settings;
}

std::string make(PacketMaker& maker, std::uint64_t time_ns = 0) {
  std::string bytes(9000, 'x');
  bytes.resize(maker.make(reinterpret_cast<std::byte*>(bytes.data()), time_ns));
  return bytes;
}

std::uint64_t big_endian(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

// Addresses and ports as one number string: the flow.
std::string flow_of(const std::string& frame) { return frame.substr(26, 12); }

TEST(PacketMaker, NumbersPacketsOfTheStreamAndOfEachFlow) {
  PacketMaker maker(settings_of({100}, 3, true), kMac, 5);
  maker.seek(7);
  for (std::uint64_t n = 7; n < 50; ++n) {
    const std::string frame = make(maker, 1000 + n);
    const std::string payload = frame.substr(kNumberedOffset);
    EXPECT_EQ(payload.substr(0, 8), "MILLRACE");
    EXPECT_EQ(big_endian(payload, 8, 4), 5u);
    EXPECT_EQ(big_endian(payload, 12, 4), n % 3);
    EXPECT_EQ(big_endian(payload, 16, 8), n);
    EXPECT_EQ(big_endian(payload, 24, 8), n / 3);
    EXPECT_EQ(big_endian(payload, 32, 8), 1000 + n);
  }
}

TEST(PacketMaker, HasAsManyFlowsAsAsked) {
  for (const std::uint64_t flows : {1ull, 7ull, 1000ull, 300'000ull}) {
    PacketMaker maker(settings_of({60}, flows), kMac, 0);
    std::set<std::string> seen;
    for (std::uint64_t i = 0; i < 2 * flows; ++i) seen.insert(flow_of(make(maker)));
    EXPECT_EQ(seen.size(), flows);
  }
}

TEST(PacketMaker, TakesItsFlowsFromAsManySourcesAsAsked) {
  for (const std::uint64_t sources : {1ull, 3ull, 1000ull, 131'072ull}) {
    GenerateSettings settings = settings_of({60}, 1000);
    settings.sources = sources;
    PacketMaker maker(settings, kMac, 0);
    PacketMaker late(settings, kMac, 0);
    std::set<std::string> flows;
    std::set<std::uint64_t> addresses;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const std::string frame = make(maker);
      flows.insert(flow_of(frame));
      addresses.insert(big_endian(frame, 26, 4));
      late.seek(i);
      EXPECT_EQ(make(late), frame) << i;
    }
    EXPECT_EQ(flows.size(), 1000u);
    EXPECT_EQ(addresses.size(), std::min<std::uint64_t>(sources, 1000));
    EXPECT_EQ(*addresses.begin(), 0xc6120000u);
  }
}

GenerateSettings syns(std::uint64_t sources) {
  GenerateSettings settings = settings_of({60}, 1024);
  settings.syn = true;
  settings.sources = sources;
  return settings;
}

TEST(PacketMaker, MakesSynsOfRandomPortsAndNumbers) {
  PacketMaker maker(syns(1), kMac, 0);
  PacketMaker late(syns(1), kMac, 0);
  std::set<std::string> flows;
  std::set<std::uint64_t> from_ports, to_ports, numbers;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::string frame = make(maker);
    ASSERT_EQ(big_endian(frame, 23, 1), 6u);
    ASSERT_EQ(big_endian(frame, 46, 2), 0x5002u) << "SYN and nothing else";
    ASSERT_EQ(big_endian(frame, 26, 4), 0xc6120000u) << "the only source";
    ASSERT_GE(big_endian(frame, 34, 2), 1024u);
    ASSERT_NE(big_endian(frame, 36, 2), 0u);
    flows.insert(flow_of(frame));
    from_ports.insert(big_endian(frame, 34, 2));
    to_ports.insert(big_endian(frame, 36, 2));
    numbers.insert(big_endian(frame, 38, 4));
    late.seek(i);
    ASSERT_EQ(make(late), frame) << i;
  }
  EXPECT_EQ(flows.size(), 20'000u);
  // Of 20,000 random numbers in 65,536 about 17,200 differ.
  EXPECT_NEAR(static_cast<double>(from_ports.size()), 17'150, 400);
  EXPECT_NEAR(static_cast<double>(to_ports.size()), 17'240, 400);
  EXPECT_GT(numbers.size(), 19'990u);
}

TEST(PacketMaker, MakesSynsOfManySources) {
  PacketMaker maker(syns(100), kMac, 0);
  std::map<std::uint64_t, int> by_source;
  for (int i = 0; i < 20'000; ++i) ++by_source[big_endian(make(maker), 26, 4)];
  EXPECT_EQ(by_source.size(), 100u);
  for (const auto& [source, count] : by_source) EXPECT_NEAR(count, 200, 90) << source;
}

TEST(PacketMaker, SpreadsDestinationsOverItsPrefixes) {
  GenerateSettings settings = settings_of({60}, 100'000);
  settings.destinations = {{0x0a000000, 0x00ffffff}, {0xc0000200, 0xff}, {0xcb007107, 0}};
  PacketMaker maker(settings, kMac, 0);
  std::map<std::uint64_t, int> by_prefix;
  std::set<std::uint64_t> in_first;
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t address = big_endian(make(maker), 30, 4);
    if (address >> 24 == 10) in_first.insert(address);
    const bool known = address >> 24 == 10 || address >> 8 == 0xc00002 || address == 0xcb007107;
    EXPECT_TRUE(known) << address;
    ++by_prefix[address >> 24];
  }
  for (const auto& [prefix, count] : by_prefix) EXPECT_NEAR(count, 10'000, 500) << prefix;
  EXPECT_EQ(by_prefix.size(), 3u);
  EXPECT_GT(in_first.size(), 9'900u);
}

// Scapy makes each header anew and compares: lengths, checksums, addresses.
int scapy_checks(const GenerateSettings& settings, const std::string& kind) {
  PacketMaker maker(settings, kMac, 3);
  maker.seek(0x1'0000'0001ull);
  std::string file = pcap_header();
  for (int i = 0; i < 2000; ++i) file += pcap_record(make(maker, 1'700'000'000'000'000'000ull + i));
  const TestFolder folder;
  return test::run_program({test::source_folder() / "build/venv/bin/python",
                            test::source_folder() / "tests/unit/io-worker/ports/check_generated.py",
                            folder.write("a", file), "2000", kind});
}

TEST(PacketMaker, MakesPacketsThatScapyFindsCorrect) {
  const std::string python = test::source_folder() / "build/venv/bin/python";
  if (!std::filesystem::exists(python)) GTEST_SKIP() << "no " << python << ": run 'make deps'";
  GenerateSettings settings = settings_of({82, 83, 590, 1514, 9000}, 40, true);
  settings.destinations = {{0, 0xffffffff}};
  EXPECT_EQ(scapy_checks(settings, "udp"), 0);
  settings = syns(kGenerateSourceCountMax);
  settings.sizes = {60, 61, 590, 1514, 9000};
  settings.destinations = {{0, 0xffffffff}};
  EXPECT_EQ(scapy_checks(settings, "syn"), 0);
}

}  // namespace
}  // namespace millrace
