// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/smtp_parser.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"

namespace millrace {
namespace {

struct SmtpFlow {
  explicit SmtpFlow(AppLimits limits = {}, std::uint64_t transactions = 0)
      : parser(limits, transactions) {}
  void client(const std::string& text) { parser.read(0, app_bytes(text), told); }
  void server(const std::string& text) { parser.read(1, app_bytes(text), told); }
  void greet() {
    server("220 mail.test ESMTP\r\n");
    client("EHLO a.test\r\n");
    server("250-mail.test\r\n250 CHUNKING\r\n");
  }
  void envelope() {
    client("MAIL FROM:<a@a.test>\r\n");
    server("250 OK\r\n");
    client("RCPT TO:<b@b.test>\r\n");
    server("250 OK\r\n");
  }
  void mail(const std::string& text) {
    envelope();
    client("DATA\r\n");
    server("354 go on\r\n");
    client(text + ".\r\n");
    server("250 queued\r\n");
  }
  std::vector<std::string> files(std::uint64_t number = 0) {
    return told.records[{number, 0}].buffers[RuleBuffer::kFileData];
  }

  SmtpParser parser;
  AppRecorder told;
};

using MailFiles = std::vector<std::string>;
const std::string kMail =
    "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\ntext\r\n--b\r\n"
    "Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=f.txt\r\n\r\n"
    "SGVsbG8=\r\n--b--\r\n";

/// Keeps what the commands said of the last mail that is through.
struct EnvelopeRecorder : TransactionSink {
  void on_news(Transaction& mail, std::uint8_t /*direction*/) noexcept override {
    if (mail.is_complete(0)) last = mail.envelope;
  }
  MailEnvelope last;
};

TEST(SmtpParser, AMailHasTheEnvelopeThatItsCommandsGive) {
  AppLimits limits;
  limits.keeps_envelopes = true;
  SmtpParser parser(limits, 0);
  EnvelopeRecorder told;
  std::string recipients;
  for (int i = 0; i < 100; ++i) recipients += "RCPT TO:<" + std::to_string(i) + "@b.test>\r\n";
  parser.read(0,
              app_bytes("HELO a.test\r\nMAIL FROM:<a@a.test> SIZE=9\r\n" + recipients +
                        "DATA\r\n\r\n.\r\n"),
              told);
  EXPECT_EQ(told.last.helo, "a.test");
  EXPECT_EQ(told.last.from, "<a@a.test> SIZE=9");
  ASSERT_EQ(told.last.recipients.size(), 64u) << "more are not kept";
  EXPECT_EQ(told.last.recipients[63], "<63@b.test>");
  parser.read(0, app_bytes("MAIL FROM:<" + std::string(2000, 'x') + "\r\nRSET\r\n"), told);
  EXPECT_EQ(told.last.helo, "a.test");
  EXPECT_EQ(told.last.from.size(), 512u);
  EXPECT_TRUE(told.last.recipients.empty());
  SmtpParser other({}, 0);
  other.read(0, app_bytes("HELO a.test\r\nMAIL FROM:<a@a.test>\r\nRSET\r\n"), told);
  EXPECT_TRUE(told.last.helo.empty() && told.last.from.empty()) << "they are not asked for";
}

TEST(SmtpParser, AMailIsATransactionWithItsFiles) {
  SmtpFlow flow;
  flow.greet();
  flow.mail(kMail);
  EXPECT_EQ(flow.files(), (MailFiles{"text", "Hello"}));
  EXPECT_EQ(flow.told.record(0, 0).value(RuleBuffer::kFileName), "f.txt");
  EXPECT_TRUE(flow.told.record(0, 0).is_complete);
  EXPECT_TRUE(flow.told.record(0, 1).is_complete);
  EXPECT_EQ(flow.parser.transactions(), 1u);
  flow.mail("\r\nsecond\r\n");
  EXPECT_EQ(flow.files(1), (MailFiles{"second"}));
  EXPECT_FALSE(flow.parser.is_done());
}

TEST(SmtpParser, PiecesMakeWhatTheWholeMakes) {
  for (const std::size_t cut : {1u, 2u, 3u, 7u, 50u}) {
    SmtpFlow flow;
    flow.greet();
    flow.envelope();
    flow.client("DATA\r\n");
    flow.server("354 go on\r\n");
    const std::string mail = kMail + ".\r\n";
    for (std::size_t at = 0; at < mail.size(); at += cut) flow.client(mail.substr(at, cut));
    EXPECT_EQ(flow.files(), (MailFiles{"text", "Hello"})) << cut;
    EXPECT_EQ(flow.parser.transactions(), 1u);
  }
}

TEST(SmtpParser, DotsInFrontOfLinesAreTakenAway) {
  SmtpFlow flow;
  flow.mail("\r\n..a\r\n.b\r\nc.\r\n\n.\nd\r\n");
  EXPECT_EQ(flow.files(), (MailFiles{".a\r\nb\r\nc.\r\n\n.\nd"}));
  EXPECT_EQ(flow.parser.transactions(), 1u);
}

TEST(SmtpParser, AMailWhoseDataAreRefusedIsOneOfItsOwn) {
  SmtpFlow flow;
  flow.greet();
  flow.client("MAIL FROM:<a>\r\nRCPT TO:<b>\r\nDATA\r\n");
  flow.server("250 OK\r\n550 no\r\n503 no\r\n");
  flow.client("RSET\r\n");
  flow.server("250 OK\r\n");
  flow.mail("Content-Transfer-Encoding: base64\r\n\r\nSGVsbG8=\r\n");
  EXPECT_EQ(flow.files(0), MailFiles{});
  EXPECT_EQ(flow.files(1), (MailFiles{"Hello"}));
  EXPECT_EQ(flow.parser.transactions(), 2u);
}

TEST(SmtpParser, MailsMayComeInChunks) {
  SmtpFlow flow;
  flow.greet();
  flow.envelope();
  flow.client("BDAT 11\r\nS: a\r\n\r\noneBDAT 5 LAST\r\n\r\n.\r\nMAIL FROM:<x>\r\n");
  EXPECT_EQ(flow.files(), (MailFiles{"one\r\n."}));
  EXPECT_EQ(flow.parser.transactions(), 1u);
}

TEST(SmtpParser, BehindStartTlsThereIsNothing) {
  SmtpFlow flow;
  flow.greet();
  flow.client("STARTTLS\r\n");
  flow.server("220 go\r\n");
  EXPECT_FALSE(flow.parser.is_done());
  EXPECT_EQ(flow.parser.settled(0), 13u) << "what comes is not known";
  flow.client("\x16\x03\x01");
  EXPECT_TRUE(flow.parser.is_done());
  SmtpFlow refused;
  refused.greet();
  refused.client("STARTTLS\r\n");
  refused.server("454 no\r\n");
  refused.mail("\r\nmail\r\n");
  EXPECT_FALSE(refused.parser.is_done());
  EXPECT_EQ(refused.files(), (MailFiles{"mail"}));
}

TEST(SmtpParser, WhatIsSettledIsNotNeededAgain) {
  SmtpFlow flow;
  flow.greet();
  const std::uint64_t greeted = flow.parser.settled(0);
  EXPECT_EQ(greeted, 13u);
  flow.envelope();
  EXPECT_EQ(flow.parser.settled(0), greeted) << "a mail has begun";
  SmtpFlow again({}, flow.parser.transactions());
  again.envelope();
  for (SmtpFlow* one : {&flow, &again}) {
    one->client("DATA\r\n");
    one->server("354 go on\r\n");
    one->client("\r\nmail\r\n.\r\n");
    EXPECT_EQ(one->files(), (MailFiles{"mail"}));
  }
  EXPECT_GT(flow.parser.settled(0), greeted + 50);
}

TEST(SmtpParser, LongBodiesAreLookedAtBeforeTheyAreCut) {
  SmtpFlow flow({.body_bytes = 100});
  flow.envelope();
  flow.client("DATA\r\n");
  flow.server("354 go on\r\n");
  const std::size_t before = flow.told.told;
  flow.client("\r\n" + std::string(1000, 'x'));
  flow.client("\r\n.\r\n");
  EXPECT_GE(flow.told.told - before, 10u);
  EXPECT_LE(flow.files().at(0).size(), 100u);
}

TEST(SmtpParser, AnEndEndsTheMail) {
  SmtpFlow flow;
  flow.envelope();
  flow.client("DATA\r\n");
  flow.server("354 go on\r\n");
  flow.client("\r\nhalf a li");
  flow.parser.end(0, flow.told);
  EXPECT_EQ(flow.files(), (MailFiles{"half a li"}));
  EXPECT_TRUE(flow.told.record(0, 0).is_complete);
  flow.parser.end(1, flow.told);
  EXPECT_TRUE(flow.parser.is_done());
}

/// A server that refuses DATA takes what follows for commands.
TEST(SmtpParser, WhatFollowsARefusedDataIsCommands) {
  for (const bool waits : {true, false}) {
    SmtpFlow flow;
    flow.greet();
    flow.client("DATA\r\n");
    if (waits) flow.server("503 no recipients\r\n");
    flow.client("\r\n");
    if (waits) flow.server("500 what?\r\n");
    flow.client("MAIL FROM:<a>\r\nRCPT TO:<b>\r\nRCPT TO:<c>\r\nDATA\r\n");
    EXPECT_EQ(flow.parser.is_broken(0), !waits);  // no client sends these in front of the answer
    if (!waits) flow.server("503 no recipients\r\n500 what?\r\n");
    flow.server("250 OK\r\n550-no\r\n550 no\r\n250 OK\r\n354 go on\r\n");
    flow.client(kMail + ".\r\n");
    EXPECT_EQ(flow.files(1), (MailFiles{"text", "Hello"}));
    flow.server("250 queued\r\n");
    flow.mail(kMail);
    EXPECT_EQ(flow.files(2), (MailFiles{"text", "Hello"}));
  }
}

TEST(SmtpParser, AMailIsReadAlsoInFrontOfTheAnswerAndWithoutOne) {
  SmtpFlow flow;
  flow.greet();
  flow.client("MAIL FROM:<a>\r\nRCPT TO:<b>\r\nDATA\r\n" + kMail + ".\r\n");
  EXPECT_EQ(flow.files(), (MailFiles{"text", "Hello"}));
  flow.server("250 OK\r\n250 OK\r\n354 go on\r\n250 queued\r\n");
  EXPECT_FALSE(flow.parser.is_broken(0));
  flow.mail(kMail);
  EXPECT_EQ(flow.parser.transactions(), 2u);
  SmtpFlow deaf({.header_bytes = 1000});
  deaf.client("MAIL FROM:<a>\r\nRCPT TO:<b>\r\nDATA\r\n" + kMail + std::string(2000, 'x'));
  EXPECT_FALSE(deaf.parser.is_broken(0));
  EXPECT_EQ(deaf.files(), (MailFiles{"text", "Hello"}));
  SmtpFlow hasty({.header_bytes = 1000});
  hasty.greet();
  hasty.client("DATA\r\n" + std::string(2000, 'x'));
  EXPECT_TRUE(hasty.parser.is_broken(0));
}

}  // namespace
}  // namespace millrace
