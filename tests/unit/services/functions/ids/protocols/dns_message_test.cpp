// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/dns_message.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"
#include "tests/unit/services/functions/ids/protocols/dns_wire.hpp"

namespace millrace {
namespace {

using std::string_literals::operator""s;
using Names = std::vector<std::string>;

Names questions_of(const std::string& message) {
  const auto header = dns_header(app_bytes(message));
  return header ? dns_questions(app_bytes(message), *header) : Names{"(no header)"};
}

TEST(DnsMessage, TheHeaderIsRead) {
  const auto header = dns_header(app_bytes("\x12\x34\xa8\x00\x00\x03\0\0\0\0\0\0"s));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->id, 0x1234);
  EXPECT_TRUE(header->is_answer);
  EXPECT_EQ(header->opcode, 5);
  EXPECT_EQ(header->questions, 3);
  EXPECT_FALSE(dns_header(app_bytes(std::string(11, '\0'))));
}

TEST(DnsMessage, PlausibleIsWhatTheDirectionSends) {
  const auto plausible = [](bool is_answer, int opcode, int questions, std::uint8_t direction) {
    return is_plausible({.id = 0,
                         .is_answer = is_answer,
                         .opcode = static_cast<std::uint8_t>(opcode),
                         .questions = static_cast<std::uint16_t>(questions)},
                        direction);
  };
  EXPECT_TRUE(plausible(false, 0, 1, 0));
  EXPECT_TRUE(plausible(true, 5, 0, 1));
  EXPECT_FALSE(plausible(true, 0, 1, 0));
  EXPECT_FALSE(plausible(false, 0, 1, 1));
  EXPECT_FALSE(plausible(false, 0, 0, 0));
  EXPECT_TRUE(plausible(false, 9, 1, 0)) << "servers refuse it, and rules ask for it";
  EXPECT_FALSE(plausible(false, 0, 17, 0));
}

TEST(DnsMessage, NamesHaveDotsAndKeepTheirCase) {
  EXPECT_EQ(questions_of(dns_message(1, false, {dns_name({"wWw", "Example", "com"})})),
            Names{"wWw.Example.com"});
  EXPECT_EQ(questions_of(dns_message(1, false, {dns_name({})})), Names{""});
  EXPECT_EQ(questions_of(dns_message(1, false, {dns_name({"a.b"}), dns_name({"c"})})),
            (Names{"a.b", "c"}));
  EXPECT_EQ(questions_of(dns_message(1, false, {})), Names{});
}

TEST(DnsMessage, PointersLeadBackAndForth) {
  const std::string back = "\1x\xc0\x0e"s;  // "com" of the first name
  const std::string forth = "\xc0\x1e"s;    // the second name, which follows
  EXPECT_EQ(questions_of(dns_message(1, false, {dns_name({"a", "com"}), back})),
            (Names{"a.com", "x.com"}));
  EXPECT_EQ(questions_of(dns_message(1, false, {forth + ""s, dns_name({"z"})})).size(), 0u);
  EXPECT_EQ(questions_of(dns_message(1, false, {"\xc0\x12"s, dns_name({"z"})})), (Names{"z", "z"}));
}

TEST(DnsMessage, ALoopEnds) {
  EXPECT_EQ(questions_of(dns_message(1, false, {"\xc0\x0c"s})), Names{});
  EXPECT_EQ(questions_of(dns_message(1, false, {"\1a\xc0\x0c"s})), Names{});
  const Names cut =
      questions_of(dns_message(1, false, {"\x3f"s + std::string(63, 'a') + "\xc0\x0c"}));
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_EQ(cut[0].size(), kDnsNameBytesMax);
}

TEST(DnsMessage, WhatIsBehindAnErrorIsLeftOut) {
  EXPECT_EQ(questions_of(dns_message(1, false, {dns_name({"a"}), "\x40"s, dns_name({"b"})})),
            Names{"a"});
  const std::string whole = dns_message(1, false, {dns_name({"abc", "de"})});
  const std::size_t name_end = kDnsHeaderBytes + 8;
  for (std::size_t size = kDnsHeaderBytes; size < whole.size(); ++size) {
    EXPECT_EQ(questions_of(whole.substr(0, size)).size(), size >= name_end ? 1u : 0u) << size;
  }
}

TEST(DnsMessage, QuestionsAreBounded) {
  EXPECT_EQ(questions_of(dns_message(1, false, Names(100, dns_name({"a"})))).size(),
            kDnsQuestionsMax);
}

}  // namespace
}  // namespace millrace
