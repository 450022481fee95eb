// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/ipfix_message.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/unit/services/events/ipfix_reader.hpp"

namespace millrace {
namespace {

using test::flow_record;
using test::IpfixReader;
using test::IpfixRecord;
using test::number_of;

constexpr std::uint64_t kMessageMs = 1'795'608'000'123;
constexpr std::uint64_t kMessageNs = kMessageMs * 1'000'000 + 456'789;
constexpr std::uint32_t kReverse = 29305;

using Bytes = std::vector<std::uint8_t>;

/// The record, as a collector has it.
IpfixRecord read_back(const EventRecord& record) {
  IpfixMessage message;
  message.begin(1'795'608'000, 7, 9, true);
  EXPECT_TRUE(message.add(record, kMessageNs));
  const auto read = IpfixReader().read(message.finish());
  EXPECT_EQ(read.sequence, 7u);
  EXPECT_EQ(read.domain, 9u);
  EXPECT_EQ(read.time_s, 1'795'608'000u);
  EXPECT_EQ(read.templates, static_cast<unsigned>(IpfixTemplate::kCount));
  EXPECT_EQ(read.records.size(), 1u);
  return read.records.at(0);
}

TEST(IpfixMessage, AFlowHasBothDirections) {
  EventRecord record = flow_record(7);
  record.flow = {.packets = {EventCount(7), EventCount(5)},
                 .bytes = {EventCount(700), EventCount((1ull << 40) + 3)},
                 .lasted_ms = EventCount(61'500),
                 .idle_ms = EventCount(10'250),
                 .phase = FlowPhase::kClosed,
                 .reason = FlowEndReason::kClosed,
                 .tcp = FlowTcpState::kTimeWait,
                 .tcp_flags = {0x1b, 0x13},
                 .is_translated = 0,
                 .is_alerted = 0,
                 .padding = {}};
  const IpfixRecord read = read_back(record);
  EXPECT_EQ(read.size(), 15u);
  EXPECT_EQ(number_of(read, 152), kMessageMs - 10'250 - 61'500);  // flowStartMilliseconds
  EXPECT_EQ(number_of(read, 153), kMessageMs - 10'250);           // flowEndMilliseconds
  EXPECT_EQ(read.at({0, 8}), (Bytes{10, 1, 0, 5}));               // sourceIPv4Address
  EXPECT_EQ(read.at({0, 12}), (Bytes{192, 0, 2, 9}));             // destinationIPv4Address
  EXPECT_EQ(number_of(read, 7), 40000u);                          // sourceTransportPort
  EXPECT_EQ(number_of(read, 11), 443u);                           // destinationTransportPort
  EXPECT_EQ(number_of(read, 4), 6u);                              // protocolIdentifier
  EXPECT_EQ(number_of(read, 2), 7u);                              // packetDeltaCount
  EXPECT_EQ(number_of(read, 2, kReverse), 5u);
  EXPECT_EQ(number_of(read, 1), 700u);  // octetDeltaCount
  EXPECT_EQ(number_of(read, 1, kReverse), (1ull << 40) + 3);
  EXPECT_EQ(number_of(read, 6), 0x1bu);  // tcpControlBits
  EXPECT_EQ(number_of(read, 6, kReverse), 0x13u);
  EXPECT_EQ(number_of(read, 136), 3u);  // flowEndReason
  EXPECT_EQ(number_of(read, 239), 1u);  // biflowDirection
}

TEST(IpfixMessage, FlowsOfIpv6AndIcmp) {
  EventRecord record = flow_record(1);
  record.ip_version = 6;
  record.source = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5};
  record.destination = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6};
  IpfixRecord read = read_back(record);
  EXPECT_EQ(read.at({0, 27}), Bytes(record.source.begin(), record.source.end()));
  EXPECT_EQ(read.at({0, 28}), Bytes(record.destination.begin(), record.destination.end()));
  EXPECT_FALSE(read.contains({0, 8}));

  record.protocol = 58;
  record.destination_port = 128;
  read = read_back(record);
  EXPECT_EQ(number_of(read, 139), 128u << 8);  // icmpTypeCodeIPv6
  EXPECT_FALSE(read.contains({0, 7}));

  record = flow_record(1);
  record.protocol = 1;
  record.destination_port = 8;
  EXPECT_EQ(number_of(read_back(record), 32), 8u << 8);  // icmpTypeCodeIPv4
}

TEST(IpfixMessage, EachReasonHasItsNumber) {
  EventRecord record = flow_record(1);
  const auto number = [&](FlowEndReason reason) {
    record.flow.reason = reason;
    return number_of(read_back(record), 136);
  };
  EXPECT_EQ(number(FlowEndReason::kTimeout), 1u);
  EXPECT_EQ(number(FlowEndReason::kClosed), 3u);
  EXPECT_EQ(number(FlowEndReason::kForced), 4u);
  EXPECT_EQ(number(FlowEndReason::kShutdown), 4u);
  EXPECT_EQ(number(FlowEndReason::kEvicted), 5u);
}

TEST(IpfixMessage, TranslationsAreEventsOfNat) {
  EventRecord record = flow_record(0);
  record.kind = EventKind::kTranslation;
  record.translation = {.source = {203, 0, 113, 1},
                        .destination = {198, 51, 100, 2},
                        .source_port = 1024,
                        .destination_port = 8443,
                        .ip_version = 4,
                        .action = TranslationAction::kCreated,
                        .scope = TranslationScope::kSession,
                        .padding = {}};
  IpfixRecord read = read_back(record);
  EXPECT_EQ(number_of(read, 323), kMessageMs);  // observationTimeMilliseconds
  EXPECT_EQ(number_of(read, 230), 4u);          // natEvent: NAT44 session create
  EXPECT_EQ(read.at({0, 8}), (Bytes{10, 1, 0, 5}));
  EXPECT_EQ(read.at({0, 225}), (Bytes{203, 0, 113, 1}));   // postNATSourceIPv4Address
  EXPECT_EQ(read.at({0, 226}), (Bytes{198, 51, 100, 2}));  // postNATDestinationIPv4Address
  EXPECT_EQ(number_of(read, 7), 40000u);
  EXPECT_EQ(number_of(read, 227), 1024u);  // postNAPTSourceTransportPort
  EXPECT_EQ(number_of(read, 11), 443u);
  EXPECT_EQ(number_of(read, 228), 8443u);  // postNAPTDestinationTransportPort

  record.translation.scope = TranslationScope::kMapping;
  record.translation.action = TranslationAction::kRemoved;
  read = read_back(record);
  EXPECT_EQ(number_of(read, 230), 9u);
  EXPECT_FALSE(read.contains({0, 12}) || read.contains({0, 226}));
  record.ip_version = 6;
  EXPECT_EQ(number_of(read_back(record), 230), 11u);
  record.translation.scope = TranslationScope::kSession;
  read = read_back(record);
  EXPECT_EQ(number_of(read, 230), 7u);
  EXPECT_EQ(read.at({0, 27}), Bytes(record.source.begin(), record.source.end()));

  record.translation.scope = TranslationScope::kBlock;
  read = read_back(record);
  EXPECT_EQ(number_of(read, 230), 17u);
  EXPECT_EQ(number_of(read, 361), 1024u);  // portRangeStart
  EXPECT_EQ(number_of(read, 362), 8443u);  // portRangeEnd
  EXPECT_EQ(read.at({0, 225}), (Bytes{203, 0, 113, 1}));
  EXPECT_FALSE(read.contains({0, 7}) || read.contains({0, 227}) || read.contains({0, 4}));
}

TEST(IpfixMessage, OtherRecordsHaveNoTemplate) {
  EventRecord record{};
  for (const EventKind kind : {EventKind::kAlert, EventKind::kAnomaly, EventKind::kCount}) {
    record.kind = kind;
    record.ip_version = 4;
    EXPECT_FALSE(is_ipfix_record(record));
  }
  record.kind = EventKind::kFlow;
  record.ip_version = 0;
  EXPECT_FALSE(is_ipfix_record(record));
  record.kind = EventKind::kTranslation;
  record.ip_version = record.translation.ip_version = 6;
  EXPECT_FALSE(is_ipfix_record(record)) << "RFC 8158 has no event of IPv6 to IPv6";
}

/// Records of random bytes; what the reader finds are the same, in the same order.
TEST(IpfixMessage, IsFullBeforeItIsTooLong) {
  std::mt19937 random(21);
  IpfixReader reader;
  IpfixMessage message;
  for (int round = 0; round < 2'000; ++round) {
    message.begin(1, 2, 3, round % 3 == 0);
    std::vector<std::uint64_t> told;
    for (;;) {
      EventRecord record{};
      for (std::size_t at = 0; at < sizeof record; ++at) {
        reinterpret_cast<std::uint8_t*>(&record)[at] = static_cast<std::uint8_t>(random());
      }
      record.kind = random() % 2 == 0 ? EventKind::kFlow : EventKind::kTranslation;
      record.ip_version = random() % 2 == 0 ? 4 : 6;
      record.protocol = random() % 2 == 0 ? 17 : record.ip_version == 4 ? 1 : 58;
      record.translation.ip_version = random() % 8 == 0 ? 6 : 4;
      record.translation.scope = static_cast<TranslationScope>(random() % 3);
      if (!is_ipfix_record(record)) continue;
      if (!message.add(record, random())) break;
      told.push_back(record.kind == EventKind::kFlow ? record.flow.packets[0].number()
                                                     : record.translation.source_port);
    }
    const auto bytes = message.finish();
    ASSERT_LE(bytes.size(), IpfixMessage::kBytesMax);
    ASSERT_GT(bytes.size(), IpfixMessage::kBytesMax - 120);
    const auto read = reader.read(bytes);
    ASSERT_EQ(message.records(), told.size());
    ASSERT_EQ(read.records.size(), told.size());
    for (std::size_t i = 0; i < told.size(); ++i) {
      const IpfixRecord& one = read.records[i];
      const std::uint16_t element = one.contains({0, 2}) ? 2 : one.contains({0, 361}) ? 361 : 227;
      ASSERT_EQ(number_of(one, element), told[i]);
    }
  }
}

}  // namespace
}  // namespace millrace
