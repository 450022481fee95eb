// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/event_writer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "services/functions/flow/flow_tuple.hpp"
#include "shared/layout/event_text.hpp"
#include "shared/packet/wire_bytes.hpp"
#include "tests/unit/services/functions/event_ring.hpp"
#include "tests/unit/services/functions/packet_call.hpp"

namespace millrace {
namespace {

/// The one that was told.
EventRecord only(EventRingOfTest& ring) {
  const std::vector<EventRecord> told = ring.told();
  EXPECT_EQ(told.size(), 1u);
  return told.empty() ? EventRecord{} : told[0];
}

std::string address(const std::array<std::uint8_t, 16>& bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += std::to_string(bytes[i]) + ".";
  return text;
}

TEST(EventWriter, SaysWhichPacketItIs) {
  PacketCall call({frame_of_hex(kTcpWithOptionsFrame), frame_of_hex(kUdpFrame)});
  call.batch.header->sequence = 71;
  call.batch.header->lane = 5;
  call.batch.header->stream = 2;
  call.batch.header->time_first_tsc = 12345;
  EventRingOfTest ring;
  const EventWriter writer(&ring.log, call.batch, 9);
  ASSERT_TRUE(writer.on());
  ASSERT_NE(writer.emit(EventKind::kAlert, 1), nullptr);
  const EventRecord record = only(ring);
  EXPECT_EQ(record.time_tsc, 12345u);
  EXPECT_EQ(record.sequence, 71u);
  EXPECT_EQ(record.lane, 5u);
  EXPECT_EQ(record.stream, 2u);
  EXPECT_EQ(record.packet, 1u);
  EXPECT_EQ(record.function, 9u);
  EXPECT_EQ(record.kind, EventKind::kAlert);
  EXPECT_EQ(record.ip_version, 4u);
  EXPECT_EQ(record.protocol, 17u);
  EXPECT_EQ(address(record.source, 4), "10.1.0.5.");
  EXPECT_EQ(address(record.destination, 4), "192.0.2.9.");
  EXPECT_EQ(record.source_port, 5000u);
  EXPECT_EQ(record.destination_port, 53u);
}

TEST(EventWriter, TellsOfAPacketWhatItsHeadersTell) {
  struct Case {
    std::string_view frame;
    unsigned version, protocol, source_port, destination_port;
  };
  const Case cases[] = {{kTcpWithOptionsFrame, 4, 6, 40000, 80},
                        {kVlanUdpFrame, 4, 17, 5000, 53},
                        {kTwoTagsTcpIpv6Frame, 6, 6, 40000, 80},
                        {kUdpBehindOptionsIpv6Frame, 6, 17, 5000, 53},
                        {kIcmpFrame, 4, 1, 0, 8},
                        {kIcmpIpv6Frame, 6, 58, 0, 128},
                        {kFirstFragmentFrame, 4, 17, 5000, 53},
                        {kLaterFragmentFrame, 4, 17, 0, 0},
                        {kArpFrame, 0, 0, 0, 0}};
  for (const Case& one : cases) {
    PacketCall call({frame_of_hex(one.frame)});
    EventRingOfTest ring;
    ASSERT_NE(EventWriter(&ring.log, call.batch, 0).emit(EventKind::kAnomaly, 0), nullptr);
    const EventRecord record = only(ring);
    EXPECT_EQ(record.ip_version, one.version) << one.frame;
    EXPECT_EQ(record.protocol, one.protocol) << one.frame;
    EXPECT_EQ(record.source_port, one.source_port) << one.frame;
    EXPECT_EQ(record.destination_port, one.destination_port) << one.frame;
  }
}

TEST(EventWriter, ReadsNothingBehindAFrameThatIsCut) {
  for (std::size_t bytes = 0; bytes < kUdpIpv6Frame.size() / 2; ++bytes) {
    Frame frame = frame_of_hex(kUdpIpv6Frame);
    frame.resize(bytes);
    PacketCall call({frame});
    EventRingOfTest ring;
    ASSERT_NE(EventWriter(&ring.log, call.batch, 0).emit(EventKind::kAlert, 0), nullptr);
    const EventRecord record = only(ring);
    EXPECT_EQ(record.ip_version, bytes < 54 ? 0u : 6u) << bytes;
    EXPECT_EQ(record.destination_port, bytes < 58 ? 0u : 53u) << bytes;
  }
}

TEST(EventWriter, OfIcmpTellsTypeCodeAndIdentifier) {
  const auto told = [](const std::string& icmp) {
    PacketCall call(
        {frame_of_hex("020000000001020000000002080045000024000000004001"
                      "0000c0000201c0000202" +
                      icmp)});
    EventRingOfTest ring;
    EventWriter(&ring.log, call.batch, 0).alert(0, 1, "x", EventAction::kAllowed);
    const EventRecord record = only(ring);
    return std::pair<unsigned, unsigned>(record.source_port, record.destination_port);
  };
  EXPECT_EQ(told("08000000123400010000000000000000"), (std::pair<unsigned, unsigned>(0x1234, 8)));
  EXPECT_EQ(told("00000000123400010000000000000000"), (std::pair<unsigned, unsigned>(0x1234, 0)));
  EXPECT_EQ(told("03010000123400010000000000000000"), (std::pair<unsigned, unsigned>(0, 0x103)))
      << "an error has no identifier";
}

TEST(EventWriter, TellsOfSignatures) {
  PacketCall call({frame_of_hex(kUdpFrame)});
  EventRingOfTest ring;
  SignatureEvent what{};
  what.sid = 7;
  EventWriter::put_name("http", what.app);
  EventWriter(&ring.log, call.batch, 3).signature(0, what);
  const EventRecord record = only(ring);
  EXPECT_EQ(record.kind, EventKind::kSignature);
  EXPECT_EQ(record.function, 3u);
  EXPECT_EQ(record.signature.sid, 7u);
  EXPECT_STREQ(record.signature.app, "http");
  EXPECT_EQ(record.ip_version, 4u);
  EventWriter().signature(0, what);  // no reader
}

TEST(EventWriter, TellsOfAPacketInAnother) {
  PacketCall call({frame_of_hex(kArpFrame)});
  EventRingOfTest ring;
  SignatureEvent what{};
  what.sid = 7;
  const Frame inner = frame_of_hex(kUdpFrame);
  const PacketHeaders headers = parse_headers(inner);
  EventWriter(&ring.log, call.batch, 3).signature(0, what, inner, headers);
  const EventRecord record = only(ring);
  EXPECT_EQ(record.kind, EventKind::kSignature);
  EXPECT_EQ(record.signature.sid, 7u);
  EXPECT_EQ(record.protocol, 17u);
  EXPECT_EQ(record.source_port, wire_bytes::u16(inner, headers.transport_offset));
  EXPECT_EQ(record.source[0], std::to_integer<std::uint8_t>(inner[headers.network_offset + 12u]));
  EventWriter().signature(0, what, inner, headers);  // no reader
}

TEST(EventWriter, ClearsWhatAnEarlierRecordLeft) {
  PacketCall call({frame_of_hex(kUdpFrame), frame_of_hex(kArpFrame)});
  EventRingOfTest ring;
  for (std::uint32_t i = 0; i < kEventRingRecords; ++i) {
    EventWriter(&ring.log, call.batch, 3)
        .alert(0, 7, "a long name of a rule", EventAction::kBlocked);
    EXPECT_EQ(only(ring).alert.rule, 7u);
  }
  EventWriter(&ring.log, call.batch, 3).alert(1, 8, "b", EventAction::kAllowed);
  const EventRecord record = only(ring);
  EXPECT_STREQ(record.alert.name, "b");
  EXPECT_EQ(std::string(record.alert.name, kEventNameBytes).find_first_not_of('\0', 1),
            std::string::npos);
  EXPECT_EQ(record.alert.action, EventAction::kAllowed);
  EXPECT_EQ(record.ip_version, 0u);
  EXPECT_EQ(record.source_port, 0u);
}

TEST(EventWriter, TellsNobodyWhereNobodyListens) {
  PacketCall call({frame_of_hex(kUdpFrame)});
  const EventWriter off(nullptr, call.batch, 0);
  EXPECT_FALSE(off.on());
  EXPECT_EQ(off.emit(EventKind::kAlert, 0), nullptr);
  off.alert(0, 1, "x", EventAction::kAllowed);
  EXPECT_EQ(EventWriter().emit(EventKind::kAlert, 0), nullptr);
}

TEST(EventWriter, TellsOfFlowsAndTranslationsByTheirTuples) {
  PacketCall call({frame_of_hex(kUdpFrame)});
  call.batch.header->lane = 5;
  call.batch.header->time_first_tsc = 12345;
  EventRingOfTest ring;
  const EventWriter writer(&ring.log, call.batch, 9);
  const FlowTuple inside{{10, 1, 0, 5}, {192, 0, 2, 9}, 5000, 53, 17, 4, 0};
  FlowEvent what{};
  what.packets[1] = EventCount(UINT64_MAX - 1);
  what.reason = FlowEndReason::kForced;
  writer.flow_ended(inside, what);
  EventRecord record = only(ring);
  EXPECT_EQ(record.kind, EventKind::kFlow);
  EXPECT_EQ(record.time_tsc, 12345u);
  EXPECT_EQ(record.lane, 5u);
  EXPECT_EQ(record.function, 9u);
  EXPECT_EQ(address(record.source, 4), "10.1.0.5.");
  EXPECT_EQ(address(record.destination, 4), "192.0.2.9.");
  EXPECT_EQ(record.source_port, 5000u);
  EXPECT_EQ(record.destination_port, 53u);
  EXPECT_EQ(record.ip_version, 4u);
  EXPECT_EQ(record.protocol, 17u);
  EXPECT_EQ(record.flow.packets[1].number(), UINT64_MAX - 1);
  EXPECT_EQ(record.flow.reason, FlowEndReason::kForced);

  FlowTuple outside = inside;
  outside.source = {203, 0, 113, 1};
  outside.source_port = 1024;
  writer.translation(inside, outside, TranslationAction::kRemoved, TranslationScope::kMapping);
  record = only(ring);
  EXPECT_EQ(record.kind, EventKind::kTranslation);
  EXPECT_EQ(address(record.source, 4), "10.1.0.5.");
  EXPECT_EQ(address(record.translation.source, 4), "203.0.113.1.");
  EXPECT_EQ(address(record.translation.destination, 4), "192.0.2.9.");
  EXPECT_EQ(record.translation.source_port, 1024u);
  EXPECT_EQ(record.translation.destination_port, 53u);
  EXPECT_EQ(record.translation.ip_version, 4u);
  EXPECT_EQ(record.translation.action, TranslationAction::kRemoved);
  EXPECT_EQ(record.translation.scope, TranslationScope::kMapping);

  const EventWriter off(nullptr, call.batch, 0);
  off.flow_ended(inside, what);
  off.translation(inside, outside, TranslationAction::kCreated, TranslationScope::kSession);
}

TEST(EventWriter, TextStandsBehindItsRecord) {
  PacketCall call({frame_of_hex(kUdpFrame)});
  EventRingOfTest ring;
  const EventWriter writer(&ring.log, call.batch, 3);
  EventTextWriter text;
  text.put(EventField::kHttpUrl, std::string(200, 'u'), 200);
  writer.app(0, {.source_port = 9, .protocol = 6, .version = 4}, {.app = EventApp::kTls},
             text.bytes());
  writer.signature(0, {.sid = 5}, text.bytes());
  writer.drop(0, {.bytes = 77});
  const std::vector<EventRecord> told = ring.told();
  ASSERT_EQ(told.size(), 7u);
  EXPECT_EQ(told[0].kind, EventKind::kApp);
  EXPECT_EQ(told[0].source_port, 9u);
  EXPECT_EQ(told[0].app.app, EventApp::kTls);
  EXPECT_EQ(told[0].app.texts, 2u);
  EXPECT_EQ(told[2].kind, EventKind::kText);
  EXPECT_EQ(told[3].signature.sid, 5u);
  EXPECT_EQ(told[3].signature.texts, 2u);
  EXPECT_EQ(told[3].destination_port, 53u);
  EXPECT_EQ(told[6].kind, EventKind::kDrop);
  EXPECT_EQ(told[6].drop.bytes, 77u);
  ring.log.publish();
  EXPECT_EQ(ring.rings.ring(0).lines, 3u);
}

TEST(EventWriter, CountsWhatTheRingHasNoRoomFor) {
  PacketCall call({frame_of_hex(kUdpFrame)});
  EventRingOfTest ring;
  const EventWriter writer(&ring.log, call.batch, 0);
  for (std::uint32_t i = 0; i < kEventRingRecords; ++i) {
    ASSERT_NE(writer.emit(EventKind::kAlert, 0), nullptr);
  }
  EXPECT_EQ(writer.emit(EventKind::kAlert, 0), nullptr);
  ring.log.publish();
  EXPECT_EQ(ring.rings.ring(0).lost, 1u);
}

TEST(EventWriter, KeepsTheEndOfANameThatIsTooLong) {
  const auto name_of = [](const std::string& name) {
    std::array<char, kEventNameBytes> to{};
    EventWriter::put_name(name, to);
    return std::string(to.data(), to.size());
  };
  EXPECT_EQ(name_of(std::string(63, 'x')), std::string(63, 'x'));
  EXPECT_EQ(name_of("/etc/millrace/" + std::string(60, 'r') + "/a.rules:12"),
            "..." + std::string(49, 'r') + "/a.rules:12");
  EXPECT_EQ(name_of("short"), "short" + std::string(58, '\0'));
}

TEST(EventWriter, IsThereForFunctionsOfPackets) {
  struct Alarm final : PacketFunction {
    void udp(Packet& packet) noexcept override { packet.alert(4, "dns", EventAction::kAllowed); }
  };
  PacketCall call({frame_of_hex(kTcpWithOptionsFrame), frame_of_hex(kUdpFrame)});
  EventRingOfTest ring;
  const PlanFunction plan;
  const auto function = make_packet_function<Alarm>({.function = plan, .ports = {}});
  FinishContext context = call.context();
  function->compute(context.batch, context.selected, call.batch.results(0));
  function->finish({context.batch, context.selected, context.results, context.counters,
                    context.state, context.facts, EventWriter(&ring.log, call.batch, 6)});
  const EventRecord record = only(ring);
  EXPECT_EQ(record.packet, 1u);
  EXPECT_EQ(record.function, 6u);
  EXPECT_EQ(record.alert.rule, 4u);
  EXPECT_STREQ(record.alert.name, "dns");
  EXPECT_EQ(call.tally.alerts, 1u);
}

}  // namespace
}  // namespace millrace
