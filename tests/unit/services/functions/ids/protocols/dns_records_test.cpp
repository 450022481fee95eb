// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/dns_records.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"
#include "tests/unit/services/functions/ids/protocols/dns_wire.hpp"

namespace millrace {
namespace {

std::string answer_record(const std::string& name, std::uint16_t type, const std::string& data) {
  return name + dns_u16(type) + dns_u16(1) + dns_u16(0) + dns_u16(300) + dns_u16(data.size()) +
         data;
}

/// An answer to "a.test" with these records, in which "\xc0\x0c" is that name.
std::string answered(const std::vector<std::string>& records) {
  std::string message = dns_message(7, true, {dns_name({"a", "test"})});
  message.replace(6, 2, dns_u16(records.size()));
  for (const std::string& record : records) message += record;
  return message;
}

const std::string kAsked = "\xc0\x0c";

TEST(DnsRecords, DataIsText) {
  const DnsContents contents = dns_contents(app_bytes(answered(
      {answer_record(kAsked, 5, dns_name({"b", "test"})),
       answer_record(std::string("\x01") + "b" + kAsked, 1, std::string("\xc0\x00\x02\x01", 4)),
       answer_record(kAsked, 28, "\x20\x01\x0d\xb8" + std::string(11, '\0') + '\1'),
       answer_record(kAsked, 15, dns_u16(10) + "\x02mx" + kAsked),
       answer_record(kAsked, 16, "\x03one\x03two"), answer_record(kAsked, 6, "whatever"),
       answer_record(kAsked, 1, "abc")})));
  EXPECT_EQ(contents.id, 7u);
  EXPECT_EQ(contents.flags, 0x8180u);
  ASSERT_EQ(contents.questions.size(), 1u);
  EXPECT_EQ(contents.questions[0].name, "a.test");
  EXPECT_EQ(contents.questions[0].type, 1u);
  std::vector<std::string> data;
  for (const DnsRecord& record : contents.answers) {
    data.push_back(record.data);
    EXPECT_EQ(record.ttl_s, 300u);
  }
  EXPECT_EQ(data, (std::vector<std::string>{"b.test", "192.0.2.1", "2001:db8::1", "mx.a.test",
                                            "one", "two", "", ""}));
  EXPECT_EQ(contents.answers[1].name, "b.a.test");
}

TEST(DnsRecords, WhatIsCutIsLeftOut) {
  const std::string whole =
      answered({answer_record(kAsked, 16, "\x03one"), answer_record(kAsked, 2, dns_name({"ns"}))});
  std::size_t most = 0;
  for (std::size_t size = 12; size <= whole.size(); ++size) {
    const std::size_t answers = dns_contents(app_bytes(whole.substr(0, size))).answers.size();
    EXPECT_GE(answers, most);
    most = answers;
  }
  EXPECT_EQ(most, 2u);
}

TEST(DnsRecords, AreBounded) {
  std::vector<std::string> many(200, answer_record(kAsked, 16, std::string("\x01x\x01y")));
  EXPECT_EQ(dns_contents(app_bytes(answered(many))).answers.size(), kDnsAnswersMax);
  const std::string questions =
      dns_message(1, false, std::vector<std::string>(100, dns_name({"q"})));
  EXPECT_EQ(dns_contents(app_bytes(questions)).questions.size(), 64u);
}

}  // namespace
}  // namespace millrace
