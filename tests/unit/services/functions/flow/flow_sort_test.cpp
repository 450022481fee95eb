// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_sort.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/shared/base/packet_frames.hpp"
#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace {
namespace {

using Kind = SortedPacket::Kind;

/// IPv4 of Scapy from 10.0.0.1 to 10.0.0.2 with that protocol, flags and offset; `behind` follows.
SortedPacket sorted(std::string_view protocol, std::string_view behind,
                    std::string_view fragment = "0000") {
  const std::size_t bytes = 20 + behind.size() / 2;
  const std::string hex =
      "0200000000010200000000020800"
      "450000" +
      hex_of_bytes(std::vector{std::byte(bytes)}) + "0001" + std::string(fragment) + "40" +
      std::string(protocol) + "0000" + "0a0000010a000002" + std::string(behind);
  return sort_packet(bytes_of_hex(hex));
}

TEST(SortPacket, TellsFlowsByTheirPorts) {
  const SortedPacket udp = sorted("11", "0035138800080000");
  EXPECT_EQ(udp.kind, Kind::kFlow);
  EXPECT_EQ(udp.tuple.source_port, 53);
  EXPECT_EQ(udp.tuple.destination_port, 5000);
  EXPECT_EQ(udp.ip_bytes, 28u);
  EXPECT_EQ(sorted("2f", "00000800").kind, Kind::kFlow) << "GRE, by addresses";
  EXPECT_EQ(sorted("11", "0035").kind, Kind::kInvalid) << "cut";
}

TEST(SortPacket, TellsQuestionsAnswersAndErrorsOfIcmp) {
  EXPECT_EQ(sorted("01", "0800000000070001").kind, Kind::kFlow);
  EXPECT_EQ(sorted("01", "0000000000070001").kind, Kind::kAnswer);
  EXPECT_EQ(sorted("01", "0900000000070001").kind, Kind::kInvalid) << "of no type with a flow";
  EXPECT_EQ(sorted("01", "08").kind, Kind::kInvalid);
  // "Port unreachable" about UDP from 10.0.0.2 to 10.0.0.9, and one that quotes another sender.
  const std::string quote =
      "0303000000000000"
      "4500001c000100004011000"
      "00a0000020a000009"
      "1388003500080000";
  const SortedPacket error = sorted("01", quote);
  EXPECT_EQ(error.kind, Kind::kError);
  EXPECT_EQ(error.tuple.destination_port, 5000) << "as what answers the quoted packet has it";
  const std::string others =
      "0303000000000000"
      "4500001c0001000040110000"
      "0a0000070a000009"
      "1388003500080000";
  EXPECT_EQ(sorted("01", others).kind, Kind::kInvalid);
  EXPECT_EQ(sorted("01", "0303000000000000").kind, Kind::kInvalid) << "without a quote";
}

TEST(SortPacket, LengthsOfUdpThatLieAreInvalid) {
  EXPECT_EQ(sorted("11", "0035138800070000").kind, Kind::kInvalid) << "below the header";
  EXPECT_EQ(sorted("11", "0035138800090000").kind, Kind::kInvalid) << "beyond the packet";
  EXPECT_EQ(sorted("11", "0035138800090000ff").kind, Kind::kFlow);
  EXPECT_EQ(sorted("11", "0035138800080000ff").kind, Kind::kFlow) << "a byte behind it";
  EXPECT_EQ(sorted("11", "00351388000800").kind, Kind::kInvalid) << "cut";
  EXPECT_EQ(sorted("11", "0035138801000000", "2000").kind, Kind::kFlow) << "of all fragments";
  EXPECT_EQ(sorted("88", "0035138800000000").kind, Kind::kFlow) << "UDP-Lite: all is covered";
  EXPECT_EQ(sorted("88", "0035138800070000").kind, Kind::kInvalid);
  EXPECT_EQ(sorted("88", "0035138800090000").kind, Kind::kInvalid);
}

TEST(SortPacket, LeavesOutWhatHasNoFlow) {
  EXPECT_EQ(sort_packet({}).kind, Kind::kUntracked);
  EXPECT_EQ(sort_packet(bytes_of_hex("0200000000010200000000020806")).kind, Kind::kUntracked);
  EXPECT_EQ(sorted("11", "0035138800080000", "0003").kind, Kind::kRest);
  EXPECT_EQ(sorted("11", "0035138800080000", "2000").kind, Kind::kFlow) << "the first fragment";
  // Neighbour solicitation.
  EXPECT_EQ(
      sort_packet(bytes_of_hex("33330000000102000000000286dd6000000000183aff"
                               "fe800000000000000000000000000001ff0200000000000000000001ff000002"
                               "870000000000000020010db8000000000000000000000002"))
          .kind,
      Kind::kUntracked);
}

TEST(SortPacket, TakesFramesOfAnyContent) {
  std::mt19937 random(9);
  for (int i = 0; i < 50'000; ++i) {
    const auto frame = random_frame(random);
    const SortedPacket packet = sort_packet(frame);
    EXPECT_EQ(packet.ip_bytes == 0, packet.headers.ip_version == 0 || packet.ip_bytes == 0);
  }
}

}  // namespace
}  // namespace millrace
