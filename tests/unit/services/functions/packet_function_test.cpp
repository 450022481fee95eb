// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/packet_function.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/services/functions/batch_of_frames.hpp"
#include "tests/unit/services/functions/packet_call.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// These four stand in CONTRIBUTING.md, letter by letter (tests/tidy/test_new_function.py).

/// A wire: what comes from port 0 leaves by port 1, and the other way round.
struct Wire final : PacketFunction {
  void ethernet(Packet& packet) noexcept override { packet.send_to(packet.port_in() == 0 ? 1 : 0); }
};

/// IPv4 and IPv6 pass while they have hops left.
struct HopsLeft final : PacketFunction {
  enum class Why : std::uint8_t { kNoHops };
  static constexpr DeclaredReason kReasons[] = {{"no_hops", ReasonCause::kPolicy, "none is left"}};
  void ip(Packet& packet) noexcept override {
    const std::size_t at = packet.headers().ip_version == 4 ? 8 : 7;
    if (packet.network()[at] <= std::byte{1}) packet.drop(Why::kNoHops);
  }
};

/// Copies of questions to name servers leave by port 2.
struct NameMirror final : PacketFunction {
  void udp(Packet& packet) noexcept override {
    const std::span<const std::byte> udp = packet.transport();
    const bool asks = udp[2] == std::byte{0} && udp[3] == std::byte{53};
    if (asks && !packet.copy_to(2)) packet.drop(Reason::kSideFull);
  }
};

/// Counts connections that are opened: SYN without ACK.
struct Openings final : PacketFunction {
  void tcp(Packet& packet) noexcept override {
    const std::byte flags = packet.transport()[13] & std::byte{0x12};
    if (flags == std::byte{0x02}) packet.hit(0);
  }
};

TEST(PacketFunction, CallsTheEventOfTheInnermostHeader) {
  EXPECT_EQ(events_of(kUdpFrame), "u");
  EXPECT_EQ(events_of(kTcpWithOptionsFrame), "t");
  EXPECT_EQ(events_of(kIcmpFrame), "i");
  EXPECT_EQ(events_of(kArpFrame), "e");
  EXPECT_EQ(events_of(kUdpIpv6Frame), "u");
  EXPECT_EQ(events_of(kUdpBehindOptionsIpv6Frame), "u");
  EXPECT_EQ(events_of(kIcmpIpv6Frame), "i");
  EXPECT_EQ(events_of(""), "e");
}

TEST(PacketFunction, LooksBehindTwoVlanTags) {
  EXPECT_EQ(events_of(kVlanUdpFrame), "u");
  EXPECT_EQ(events_of(kTwoTagsTcpIpv6Frame), "t");
  EXPECT_EQ(events_of(kThreeTagsUdpFrame), "e");
}

TEST(PacketFunction, TakesAFirstFragmentByItsTransportAndALaterOneAsIp) {
  EXPECT_EQ(events_of(kFirstFragmentFrame), "u");
  EXPECT_EQ(events_of(kLaterFragmentFrame), "i");
  EXPECT_EQ(events_of(kTinyFragmentTcpFrame), "i");
  EXPECT_EQ(events_of(kFirstFragmentIpv6Frame), "u");
  EXPECT_EQ(events_of(kLaterFragmentIpv6Frame), "i");
}

TEST(PacketFunction, TakesAChainOfTooManyExtensionsAsIp) {
  EXPECT_EQ(events_of(kNineExtensionsUdpFrame), "i");
}

TEST(PacketFunction, TakesACutHeaderAsTheMoreGeneralEvent) {
  struct Row {
    std::string_view frame;
    std::size_t ip_end, transport_end;
    char event;
  };
  for (const Row& row : {Row{kUdpFrame, 34, 42, 'u'}, Row{kTcpWithOptionsFrame, 34, 58, 't'},
                         Row{kVlanUdpFrame, 38, 46, 'u'}, Row{kTwoTagsTcpIpv6Frame, 62, 82, 't'}}) {
    const Frame whole = frame_of_hex(row.frame);
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const std::vector<Frame> frames{Frame(whole.begin(), whole.begin() + std::ptrdiff_t(size))};
      const char expected = size < row.ip_end ? 'e' : size < row.transport_end ? 'i' : row.event;
      EXPECT_EQ(events_of(frames), std::string(1, expected)) << row.frame << " " << size;
    }
  }
}

TEST(PacketFunction, TakesAHeaderThatContradictsItselfAsTheMoreGeneralEvent) {
  const auto changed = [](std::string_view hex, std::size_t at, unsigned value) {
    Frame frame = frame_of_hex(hex);
    frame[at] = std::byte(value);
    return events_of(std::vector<Frame>{frame});
  };
  EXPECT_EQ(changed(kUdpFrame, 14, 0x44), "e") << "header length 16";
  EXPECT_EQ(changed(kUdpFrame, 14, 0x55), "e") << "version 5";
  EXPECT_EQ(changed(kUdpFrame, 14, 0x4f), "e") << "options behind the end";
  EXPECT_EQ(changed(kUdpFrame, 17, 19), "e") << "total length below the header's";
  EXPECT_EQ(changed(kUdpFrame, 17, 27), "i") << "total length ends within UDP";
  EXPECT_EQ(changed(kTcpWithOptionsFrame, 46, 0x40), "i") << "data offset 16";
  EXPECT_EQ(changed(kTcpWithOptionsFrame, 46, 0x70), "i") << "options behind the end";
}

TEST(PacketFunction, CallsOneEventForEachSelectedPacketInOrder) {
  PacketCall call({frame_of_hex(kUdpFrame),
                   frame_of_hex(kArpFrame),
                   frame_of_hex(kTcpWithOptionsFrame),
                   {},
                   frame_of_hex(kIcmpFrame)});
  call.selected = {0, 2, 3, 4};
  PacketWitness witness;
  call.run(witness);
  EXPECT_EQ(witness.events, "utei");
  EXPECT_THAT(witness.numbers, ElementsAre(0, 2, 3, 4));
}

/// Counts 0: ethernet, 1: ip.
struct Layers final : PacketFunction {
  void ethernet(Packet& packet) noexcept override { packet.hit(0); }
  void ip(Packet& packet) noexcept override {
    packet.hit(1);
    PacketFunction::ip(packet);
  }
};

TEST(PacketFunction, AnEventThatIsNotOverriddenCallsTheNextMoreGeneralOne) {
  PacketCall call({frame_of_hex(kUdpFrame), frame_of_hex(kTcpWithOptionsFrame),
                   frame_of_hex(kIcmpFrame), frame_of_hex(kArpFrame)});
  call.run<Layers>();
  EXPECT_THAT(call.hits, ElementsAre(4, 3));
}

TEST(PacketFunction, WithoutAnyEventEveryPacketPassesUnchanged) {
  struct Nothing final : PacketFunction {};
  PacketCall call({frame_of_hex(kUdpFrame), frame_of_hex(kArpFrame), {}});
  std::ranges::fill(call.batch.results(0), 99u);
  const std::vector<std::byte> before = snapshot(call.batch);
  call.run<Nothing>();
  EXPECT_EQ(snapshot(call.batch), before);
  EXPECT_THAT(words(call.batch), ElementsAre(0, 0, 0));
}

class Hidden : public PacketFunction {
  void udp(Packet&) noexcept override {}
};
struct OfAnother final : Hidden {};
struct OfALayer : PacketFunction {
  void ip(Packet&) noexcept override {}
};
struct OnTop final : OfALayer {
  void ethernet(Packet&) noexcept override {}
};
static_assert(WantsFramesAlone<Wire>);
static_assert(!WantsFramesAlone<HopsLeft> && !WantsFramesAlone<NameMirror>);
static_assert(!WantsFramesAlone<Openings> && !WantsFramesAlone<Layers>);
static_assert(!WantsFramesAlone<Hidden> && !WantsFramesAlone<OfAnother>);
static_assert(!WantsFramesAlone<OnTop>);

TEST(PacketFunction, AFunctionOfFramesAloneSeesAllAndMayStillAskForHeaders) {
  struct Udp final : PacketFunction {
    void ethernet(Packet& packet) noexcept override {
      packet.hit(0);
      if (packet.headers().protocol == 17) packet.hit(1);
    }
  };
  PacketCall call({frame_of_hex(kUdpFrame), frame_of_hex(kTcpWithOptionsFrame), {}});
  call.run<Udp>();
  EXPECT_THAT(call.hits, ElementsAre(3, 1));
}

TEST(PacketFunction, IsMadeOfTheContextWhenItTakesOne) {
  struct Classes final : PacketFunction {
    explicit Classes(const FunctionContext& context) : mask(context.function.class_mask) {}
    void ethernet(Packet& packet) noexcept override { packet.set_classes(mask); }
    std::uint32_t mask;
  };
  PlanFunction plan;
  plan.class_mask = 6;
  PacketCall call({Frame(60)});
  call.batch.classes[0] = 8;
  call.run(*make_packet_function<Classes>({.function = plan, .ports = {}}));
  EXPECT_EQ(call.batch.classes[0], 14u);
  EXPECT_EQ(call.tally.classed[1] + call.tally.classed[2], 2u);
}

TEST(Packet, GivesEachFateThatABatchHas) {
  PacketCall call(std::vector<Frame>(6, Frame(60)));
  const FinishContext context = call.context();
  Packet(context, 1).drop(Reason::kOverload);
  Packet(context, 2).consume(Reason::kControl);
  Packet(context, 3).send_to(4);
  Packet(context, 4).send_now(5);
  Packet(context, 5).answer(6, Reason::kReply);
  EXPECT_THAT(call.batch.verdict, ElementsAre(0, 1, 3, 0, 2, 2));
  EXPECT_THAT(call.batch.output, ElementsAre(255, 255, 255, 4, 5, 6));
  EXPECT_EQ(call.reason(1), Reason::kOverload);
  EXPECT_EQ(call.reason(2), Reason::kControl);
  EXPECT_EQ(call.reason(4), Reason::kNone);
  EXPECT_EQ(call.reason(5), Reason::kReply);
}

TEST(Packet, PassTakesBackWhatWasSaidBefore) {
  PacketCall call({Frame(60)});
  const FinishContext context = call.context();
  const Packet packet(context, 0);
  packet.send_to(4);
  packet.drop(Reason::kOverload);
  packet.pass();
  EXPECT_TRUE(call.batch.goes_on(0));
  EXPECT_EQ(call.batch.output[0], 4);
}

TEST(Packet, AsksForCopiesUntilTheSideListIsFull) {
  PacketCall call(std::vector<Frame>(2, Frame(60)));
  const FinishContext context = call.context();
  const Packet packet(context, 1);
  for (std::uint32_t i = 0; i < call.batch.capacity; ++i) ASSERT_TRUE(packet.copy_to(2));
  EXPECT_FALSE(packet.copy_to(2));
  ASSERT_THAT(call.batch.side.records(), SizeIs(call.batch.capacity));
  const SideRecord& record = call.batch.side.records().back();
  EXPECT_EQ(record.packet, 1);
  EXPECT_EQ(record.kind, static_cast<std::uint8_t>(SideKind::kCopy));
  EXPECT_EQ(record.port, 2);
  EXPECT_EQ(record.why, static_cast<std::uint8_t>(Reason::kCopy));
  EXPECT_TRUE(call.batch.goes_on(1));
}

TEST(Packet, TellsWhereItCameFromAndCounts) {
  PacketCall call({Frame(60)});
  const FinishContext context = call.context();
  const Packet packet(context, 0);
  EXPECT_EQ(packet.port_in(), 3);
  EXPECT_EQ(packet.now_ns(), 77u);
  EXPECT_EQ(&packet.call(), &context);
  packet.hit(1);
  packet.hit(2);
  packet.alert();
  EXPECT_THAT(call.hits, ElementsAre(0, 1));
  EXPECT_EQ(call.tally.alerts, 1u);
}

TEST(Packet, ShowsWhatBelongsToEachHeaderWithoutPadding) {
  Frame padded = frame_of_hex(kVlanUdpFrame);
  padded.resize(64);
  PacketCall call({padded, frame_of_hex(kLaterFragmentFrame), frame_of_hex(kArpFrame)});
  const FinishContext context = call.context();
  Packet udp(context, 0), fragment(context, 1), arp(context, 2);
  EXPECT_THAT(udp.bytes(), SizeIs(64));
  EXPECT_EQ(udp.headers().vlan_tags, 1);
  EXPECT_THAT(udp.network(), SizeIs(31));
  EXPECT_THAT(udp.transport(), SizeIs(11));
  EXPECT_EQ(characters_of(udp.payload()), "ask");
  EXPECT_THAT(fragment.network(), SizeIs(44));
  EXPECT_THAT(fragment.transport(), IsEmpty());
  EXPECT_EQ(characters_of(fragment.payload()), std::string(24, 'x'));
  EXPECT_THAT(arp.network(), IsEmpty());
  EXPECT_THAT(arp.payload(), IsEmpty());
}

TEST(Packet, LooksForHeadersAnewWhereItsEndsHaveMoved) {
  PacketCall call({frame_of_hex(kVlanUdpFrame)});
  const FinishContext context = call.context();
  Packet packet(context, 0);
  EXPECT_EQ(packet.headers().network_offset, 18);
  std::ranges::copy_backward(packet.bytes().first(12), packet.bytes().begin() + 16);
  ASSERT_TRUE(packet.grow_front(-4));  // the tag is gone
  EXPECT_EQ(packet.headers().network_offset, 14);
  EXPECT_EQ(characters_of(packet.payload()), "ask");
  ASSERT_TRUE(packet.grow_back(-1));
  EXPECT_EQ(characters_of(packet.payload()), "as");
  EXPECT_FALSE(packet.grow_front(static_cast<std::int32_t>(kBufferHeadroom) + 5));
  EXPECT_FALSE(packet.grow_back(-100));
}

/// Holds each event to what the header promises for certain, and reads all that a view shows.
struct Promises final : PacketFunction {
  void ethernet(Packet& packet) noexcept override { sum(packet); }
  void ip(Packet& packet) noexcept override {
    const PacketHeaders& at = packet.headers();
    const std::span<const std::byte> ip = packet.network();
    ASSERT_GE(ip.size(), at.ip_version == 4 ? 20u : 40u);
    ASSERT_EQ(std::to_integer<unsigned>(ip[0]) >> 4, at.ip_version);
    if (at.ip_version == 4) {
      ASSERT_GE(ip.size(), std::to_integer<unsigned>(ip[0] & std::byte{15}) * 4);
    }
    sum(packet);
  }
  void udp(Packet& packet) noexcept override {
    ASSERT_GE(packet.transport().size(), 8u);
    ASSERT_EQ(packet.transport().size(), packet.payload().size() + 8);
    ip(packet);
  }
  void tcp(Packet& packet) noexcept override {
    const std::span<const std::byte> tcp = packet.transport();
    ASSERT_GE(tcp.size(), 20u);
    const std::size_t header_bytes = std::to_integer<std::size_t>(tcp[12] >> 4) * 4;
    ASSERT_GE(header_bytes, 20u);
    ASSERT_EQ(tcp.size(), packet.payload().size() + header_bytes);
    ip(packet);
  }
  void sum(Packet& packet) noexcept {
    for (const auto& part :
         {packet.bytes(), packet.network(), packet.transport(), packet.payload()}) {
      for (const std::byte byte : part) read += std::to_integer<std::uint64_t>(byte);
    }
    ++seen;
  }
  std::uint64_t read = 0, seen = 0;
};

TEST(PacketFunction, KeepsItsPromisesForRandomFrames) {
  std::mt19937 random(41);
  Promises promises;
  for (int round = 0; round < 200; ++round) {
    std::vector<Frame> frames(64);
    for (Frame& frame : frames) frame = random_frame(random);
    PacketCall call(frames);
    call.run(promises);
  }
  EXPECT_EQ(promises.seen, 200u * 64u);
  EXPECT_GT(promises.read, 0u);
}

TEST(PacketExamples, AWirePassesFromPortToPort) {
  PacketCall call({Frame(60), {}});
  call.facts.port_in = 0;
  call.run<Wire>();
  EXPECT_THAT(call.batch.output, ElementsAre(1, 1));
  call.facts.port_in = 1;
  call.run<Wire>();
  EXPECT_THAT(call.batch.output, ElementsAre(0, 0));
  EXPECT_THAT(call.batch.verdict, ElementsAre(0, 0));
}

TEST(PacketExamples, HopsLeftDropsBothVersionsWithoutHops) {
  Frame last = frame_of_hex(kUdpFrame), last_ipv6 = frame_of_hex(kUdpIpv6Frame);
  last[22] = std::byte{1};
  last_ipv6[21] = std::byte{0};
  PacketCall call({frame_of_hex(kUdpFrame), last, frame_of_hex(kUdpIpv6Frame), last_ipv6,
                   frame_of_hex(kArpFrame)});
  call.reason_numbers = {57};
  call.run<HopsLeft>();
  EXPECT_THAT(call.batch.verdict, ElementsAre(0, 1, 0, 1, 0));
  EXPECT_EQ(call.reason(1), Reason{57}) << "as the plan numbers it";
}

TEST(PacketExamples, NameMirrorCopiesQuestionsAlone) {
  Frame other = frame_of_hex(kUdpFrame);
  other[37] = std::byte{54};
  PacketCall call({other, frame_of_hex(kUdpIpv6Frame), frame_of_hex(kTcpWithOptionsFrame)});
  call.run<NameMirror>();
  ASSERT_THAT(call.batch.side.records(), SizeIs(1));
  EXPECT_EQ(call.batch.side.records()[0].packet, 1);
  EXPECT_EQ(call.batch.side.records()[0].port, 2);
  EXPECT_THAT(call.batch.verdict, ElementsAre(0, 0, 0));
}

TEST(PacketExamples, NameMirrorDropsWhatItCannotCopy) {
  PacketCall call({frame_of_hex(kUdpFrame)});
  const FinishContext context = call.context();
  while (Packet(context, 0).copy_to(1)) continue;
  call.run<NameMirror>();
  EXPECT_EQ(call.reason(0), Reason::kSideFull);
}

TEST(PacketExamples, OpeningsCountsTheFirstPacketOfAConnection) {
  Frame answer = frame_of_hex(kTcpWithOptionsFrame);
  answer[47] = std::byte{0x12};
  PacketCall call({frame_of_hex(kTcpWithOptionsFrame), answer, frame_of_hex(kTwoTagsTcpIpv6Frame),
                   frame_of_hex(kUdpFrame)});
  call.run<Openings>();
  EXPECT_EQ(call.hits[0], 2u);
  EXPECT_THAT(call.batch.verdict, ElementsAre(0, 0, 0, 0));
}

}  // namespace
}  // namespace millrace
