// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

HeaderTest header_of(const std::string& option) {
  const Signature signature = signature_of(option, draft_of(RuleProtocol::kIp));
  EXPECT_EQ(signature.packet.headers.size(), 1u) << option;
  return signature.packet.headers.empty() ? HeaderTest{} : signature.packet.headers[0];
}

TEST(RuleHeaderTests, FieldsHaveNumbers) {
  const struct {
    const char* option;
    HeaderField field;
    std::uint32_t low, high;
  } rows[] = {
      {"dsize:0<>100;", HeaderField::kDataSize, 1, 99},
      {"dsize:>32;", HeaderField::kDataSize, 33, 65535},
      {"ttl:>220;", HeaderField::kTtl, 221, 255},
      {"tos:8;", HeaderField::kTos, 8, 8},
      {"tos:x1F;", HeaderField::kTos, 31, 31},
      {"id:39426;", HeaderField::kIpId, 39426, 39426},
      {"ip_proto:88;", HeaderField::kIpProtocol, 88, 88},
      {"ip_proto:IGMP;", HeaderField::kIpProtocol, 2, 2},
      {"ip_proto:>100;", HeaderField::kIpProtocol, 101, 255},
      {"fragoffset: >0;", HeaderField::kFragmentOffset, 1, 65535},
      {"itype:<5;", HeaderField::kIcmpType, 0, 4},
      {"icode:>0;", HeaderField::kIcmpCode, 1, 255},
      {"icmp_id:\"666\";", HeaderField::kIcmpId, 666, 666},
      {"icmp_seq:0;", HeaderField::kIcmpSequence, 0, 0},
      {"seq:1958810375;", HeaderField::kTcpSequence, 1958810375, 1958810375},
      {"ack:0;", HeaderField::kTcpAcknowledgment, 0, 0},
      {"window:55808;", HeaderField::kTcpWindow, 55808, 55808},
      {"tcp.mss:<536;", HeaderField::kTcpMss, 0, 535},
  };
  for (const auto& row : rows) {
    const HeaderTest test = header_of(row.option);
    EXPECT_EQ(test.field, row.field) << row.option;
    EXPECT_EQ(test.number.low, row.low) << row.option;
    EXPECT_EQ(test.number.high, row.high) << row.option;
    EXPECT_FALSE(test.number.negated) << row.option;
  }
  for (const char* option : {"tos:!8;", "tos:!x8;", "window:!0;", "ip_proto:!udp;", "itype:!8;"}) {
    EXPECT_TRUE(header_of(option).number.negated) << option;
  }
}

/// Values of a field of `bits` bits that pass, counted one by one against `expected`.
template <typename Expected>
void expect_bits(const BitsTest& test, const std::string& what, Expected expected) {
  for (std::uint32_t field = 0; field < 256; ++field) {
    EXPECT_EQ(test.passes(static_cast<std::uint16_t>(field)), expected(field))
        << what << " at " << field;
  }
}

constexpr std::uint32_t kFin = 1, kSyn = 2, kRst = 4, kPush = 8, kAck = 16, kUrgent = 32;
constexpr std::uint32_t kEce = 64, kCwr = 128;

BitsTest flags_of(const std::string& value, const DraftOf& of = {}) {
  const Signature signature = signature_of("flags:" + value + ";", of);
  EXPECT_TRUE(signature.packet.tcp_flags.has_value()) << value;
  return signature.packet.tcp_flags.value_or(BitsTest{});
}

TEST(RuleHeaderTests, ANegatedDataSizeIsOfPacketsThatCarrySomething) {
  const auto headers = signature_of("dsize:!9;").packet.headers;
  const auto passes = [&](std::uint32_t size) {
    return std::ranges::all_of(headers, [&](const HeaderTest& test) {
      return test.field == HeaderField::kDataSize && test.number.passes(size);
    });
  };
  EXPECT_TRUE(passes(1));
  EXPECT_TRUE(passes(10));
  EXPECT_FALSE(passes(9));
  EXPECT_FALSE(passes(0));
}

TEST(RuleHeaderTests, FlagsAreTheExactOnes) {
  expect_bits(flags_of("S"), "S", [](auto field) { return field == kSyn; });
  expect_bits(flags_of("FPU"), "FPU", [](auto field) { return field == (kFin | kPush | kUrgent); });
  expect_bits(flags_of(" S,12"), "S,12",
              [](auto field) { return (field & ~(kEce | kCwr)) == kSyn; });
  expect_bits(flags_of("S,CE"), "S,CE",
              [](auto field) { return (field & ~(kEce | kCwr)) == kSyn; });
  expect_bits(flags_of("0"), "0", [](auto field) { return field == 0; });
  expect_bits(flags_of("0,12"), "0,12", [](auto field) { return field == 0; });
}

TEST(RuleHeaderTests, FlagsHaveSigns) {
  for (const char* value : {"SA+", "+SA"}) {
    expect_bits(flags_of(value), value,
                [](auto field) { return (field & (kSyn | kAck)) == (kSyn | kAck); });
  }
  expect_bits(flags_of("FRS*"), "FRS*",
              [](auto field) { return (field & (kFin | kRst | kSyn)) != 0; });
  expect_bits(flags_of("!R"), "!R", [](auto field) { return (field & kRst) == 0; });
  expect_bits(flags_of("!0"), "!0", [](auto field) { return field != 0; });
  expect_bits(flags_of("!FR", kOfSnort3), "!FR",
              [](auto field) { return (field & (kFin | kRst)) == 0; });
}

TEST(RuleHeaderTests, FragmentBitsAreOfTheHeadersField) {
  const auto bits = [](const char* option, const DraftOf& of = {}) {
    return signature_of(option, of).packet.fragment_bits.value_or(BitsTest{});
  };
  EXPECT_TRUE(bits("fragbits:M;").passes(0x2005));
  EXPECT_FALSE(bits("fragbits:M;").passes(0x6005));
  EXPECT_TRUE(bits("fragbits:M+;").passes(0x6005));
  EXPECT_TRUE(bits("fragbits: !D;").passes(0x2000));
  EXPECT_FALSE(bits("fragbits:!D;").passes(0x4000));
  EXPECT_FALSE(bits("fragbits:!DMR;", kOfSnort3).passes(0x8000));
}

TEST(RuleHeaderTests, SameAddress) { EXPECT_TRUE(signature_of("sameip;").packet.same_address); }

TEST(RuleHeaderTests, WhatIsNotInAHeaderIsRefused) {
  expect_refused({
      {"ttl:256;", "not from 0 to 255"},
      {"dsize:70000;", "not from 0 to 65535"},
      {"tos:x100;", "not from 0 to 255"},
      {"ip_proto:nonsense;", "no number"},
      {"flags:X;", "'X' is no bit"},
      {"flags:+;", "names no bits"},
      {"flags:+S*;", "two signs"},
      {"flags:!SA;", "Suricata and Snort differ"},
      {"flags:S; flags:A;", "twice"},
      {"flags:S,S;", "does not matter"},
      {"flags:S,1,2;", "those that do not matter"},
      {"flags:0+;", "a sign beside no flags"},
      {"fragbits:X;", "'X' is no bit"},
      {"fragbits:M; fragbits:D;", "twice"},
      {"sameip:1;", "takes no value"},
  });
}

}  // namespace
}  // namespace millrace
