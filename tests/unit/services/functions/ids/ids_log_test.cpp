// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_log.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/event_ring.hpp"
#include "tests/unit/services/functions/ids/ids_stage.hpp"
#include "tests/unit/services/functions/ids/packets/tunnel_frames.hpp"
#include "tests/unit/services/functions/ids/protocols/dns_wire.hpp"
#include "tests/unit/services/functions/ids/told_lines.hpp"

namespace millrace {
namespace {

constexpr char kNoRuleOfApps[] = "alert icmp any any -> any any (itype:99; sid:1;)\n";
const std::string kAsk = "GET /page HTTP/1.1\r\nHost: a.test\r\n\r\n";
const std::string kAnswered = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";

class IdsLogTest : public IdsStage {
 protected:
  IdsLogTest() { events_ = &ring_.log; }
  std::vector<ToldLine> told() { return lines_of(ring_.told()); }
  static Frame datagram(bool back, const std::string& text) {
    const auto bytes = static_cast<std::uint16_t>(text.size());
    Frame frame = FrameBuilder().ipv4(17, 8 + bytes).udp(bytes, 5000, 53).text(text).build();
    if (!back) return frame;
    const std::size_t source = 26, ports = 34;  // of Ethernet and IPv4 without options
    std::swap_ranges(frame.begin() + source, frame.begin() + source + 4,
                     frame.begin() + source + 4);
    std::swap_ranges(frame.begin() + ports, frame.begin() + ports + 2, frame.begin() + ports + 2);
    return frame;
  }

  EventRingOfTest ring_;
};

TEST_F(IdsLogTest, ATransactionIsToldOnceWhenItIsThrough) {
  use(kNoRuleOfApps, {{"log", "http"}});
  open();
  client_in_pieces(kAsk, 5);
  EXPECT_TRUE(told().empty());
  server(kAnswered.substr(0, 20));
  server(kAnswered.substr(20));
  client(kAsk);
  server(kAnswered);
  const auto lines = told();
  ASSERT_EQ(lines.size(), 2u);
  for (std::uint64_t i = 0; i < 2; ++i) {
    const EventRecord& record = lines[i].record;
    EXPECT_EQ(record.kind, EventKind::kApp);
    EXPECT_EQ(record.app.app, EventApp::kHttp);
    EXPECT_EQ(record.app.transaction.number(), i);
    EXPECT_EQ(record.source_port, 40'000u) << "the client's";
    EXPECT_EQ(lines[i].values.at(EventField::kHttpUrl), "/page");
    EXPECT_EQ(lines[i].values.at(EventField::kHttpHost), "a.test");
    EXPECT_EQ(lines[i].values.at(EventField::kHttpStatus), "200");
    EXPECT_EQ(lines[i].values.at(EventField::kHttpLength), std::string("\3\0\0\0\0\0\0\0", 8));
  }
}

TEST_F(IdsLogTest, ATransactionWithAHoleIsToldAsFarAsItHasCome) {
  use(kNoRuleOfApps, {{"mode", "ids"}, {"log", "http"}});
  open();
  client(kAsk);
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc";
  server(answer);
  const auto client_at = first_ + 1 + static_cast<std::uint32_t>(kAsk.size());
  const auto server_at = kServer + 1 + static_cast<std::uint32_t>(answer.size());
  send(segment(true, kAck, server_at + 50, client_at, "behind"));
  EXPECT_TRUE(told().empty());
  send(segment(false, kAck, client_at, server_at + 56));
  const auto lines = told();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].values.at(EventField::kHttpUrl), "/page");
  EXPECT_EQ(lines[0].values.at(EventField::kHttpStatus), "200");
}

TEST_F(IdsLogTest, WhatIsNotAskedForIsNotTold) {
  use(kNoRuleOfApps, {{"log", "tls"}, {"log", "dns"}});
  open();
  client(kAsk);
  server(kAnswered);
  EXPECT_TRUE(told().empty());
  use(kNoRuleOfApps);
  open(40'001);
  client(kAsk, 40'001);
  server(kAnswered, 40'001);
  EXPECT_TRUE(told().empty());
}

TEST_F(IdsLogTest, AWorkerThatDiesTellsNothingTwice) {
  use(kNoRuleOfApps, {{"log", "http"}});
  open();
  client(kAsk);
  server(kAnswered);
  EXPECT_EQ(told().size(), 1u);
  client(kAsk.substr(0, 12));
  start();  // it knows nothing
  client(kAsk.substr(12));
  server(kAnswered.substr(0, 10));
  start();
  EXPECT_TRUE(told().empty());
  server(kAnswered.substr(10));
  const auto lines = told();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].record.app.transaction.number(), 1u);
  EXPECT_EQ(lines[0].values.at(EventField::kHttpUrl), "/page");
}

TEST_F(IdsLogTest, AnAlertHasItsTransactionOnRequest) {
  use("alert http any any -> any any (flow:to_server; http.uri; content:\"/page\"; sid:1;)\n"
      "alert tcp any any -> any any (flow:to_server; content:\"GET\"; sid:2;)\n",
      {{"events", "true"}, {"alert_app", "true"}});
  open();
  client(kAsk);
  auto lines = told();
  ASSERT_EQ(lines.size(), 2u);
  for (const ToldLine& line : lines) {
    const bool has_url = line.values.contains(EventField::kHttpUrl);
    EXPECT_EQ(has_url, line.record.signature.sid == 1) << "the other one has no transaction";
    EXPECT_FALSE(line.values.contains(EventField::kHttpStatus)) << "it has not come";
  }
}

TEST_F(IdsLogTest, ADroppedSegmentThatComesAgainIsNotToldTwice) {
  use("drop tcp any any -> any any (flow:to_client; dsize:" + std::to_string(kAnswered.size()) +
          "; sid:7; rev:2; priority:1;)\n",
      {{"log", "http"}, {"log", "drop"}});
  open();
  client(kAsk);
  EXPECT_EQ(server(kAnswered), kByRule);
  EXPECT_EQ(server(kAnswered), kByRule);
  const auto lines = told();
  ASSERT_EQ(lines.size(), 2u);
  for (const ToldLine& line : lines) {
    EXPECT_EQ(line.record.kind, EventKind::kDrop);
    EXPECT_EQ(line.record.drop.reason, EventDropReason::kRule);
    EXPECT_EQ(line.record.drop.sid, 7u);
    EXPECT_EQ(line.record.drop.revision, 2u);
    EXPECT_EQ(line.record.drop.priority, 1u);
    EXPECT_EQ(line.record.drop.bytes, 40 + kAnswered.size());
    EXPECT_EQ(line.record.drop.direction, FlowDirection::kToClient);
  }
  server(kAnswered.substr(0, 9));
  server(kAnswered.substr(9));
  ASSERT_EQ(told().size(), 1u) << "in other pieces it passes";
}

TEST_F(IdsLogTest, ADropForWantOfWorkIsToldWithoutARule) {
  use("drop tcp any any -> any 80 (content:\"a\"; content:\"b\"; distance:0; pcre:\"/^c/R\"; "
      "sid:1;)\n",
      {{"log", "drop"}, {"history_kb", "64"}});
  std::string text;
  for (int i = 0; i < 700; ++i) text += "ab";
  open();
  int fate = kPasses;
  for (int sent = 0; sent < 40 && fate == kPasses; ++sent) fate = client(text);
  EXPECT_EQ(fate, kCostly);
  const auto lines = told();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].record.drop.reason, EventDropReason::kRule);
  EXPECT_EQ(lines[0].record.drop.gid, 0u);
}

TEST_F(IdsLogTest, ADropForWhatATunnelCarriesIsToldWithTheAddressesInIt) {
  use("drop udp any any -> any 53 (content:\"forbidden\"; sid:1;)\n", {{"log", "drop"}});
  const Frame inner = datagram(false, "forbidden");
  EXPECT_EQ(send(in_tunnel(inner, Tunnel::kIp)), kByRule);
  EXPECT_EQ(send(inner), kByRule);
  const auto lines = told();
  ASSERT_EQ(lines.size(), 2u);
  const EventRecord &carried = lines[0].record, &plain = lines[1].record;
  EXPECT_EQ(carried.protocol, 17);
  EXPECT_EQ(carried.ip_version, 4);
  EXPECT_EQ(carried.source, plain.source);
  EXPECT_EQ(carried.destination, plain.destination);
  EXPECT_EQ(carried.source_port, 5000u);
  EXPECT_EQ(carried.destination_port, 53u);
  EXPECT_EQ(carried.drop.bytes, plain.drop.bytes);
  EXPECT_EQ(carried.drop.sid, 1u);
}

TEST_F(IdsLogTest, AFlowThatARuleEndsTellsItsTransactionAndItsDrops) {
  use("drop http any any -> any any (flow:to_client; http.stat_code; content:\"200\"; sid:1;)\n",
      {{"log", "http"}, {"log", "drop"}});
  open();
  client(kAsk);
  EXPECT_EQ(server(kAnswered), kByRule);
  EXPECT_EQ(server(kAnswered), kByRule);
  const auto lines = told();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].record.kind, EventKind::kApp);
  EXPECT_EQ(lines[1].record.drop.reason, EventDropReason::kRule);
  EXPECT_EQ(lines[2].record.drop.reason, EventDropReason::kFlow);
  EXPECT_EQ(lines[2].record.drop.gid, 0u);
}

TEST_F(IdsLogTest, OfDnsEachMessageIsTold) {
  use(kNoRuleOfApps, {{"log", "dns"}});
  send(datagram(false, dns_message(7, false, {dns_name({"a", "test"}), dns_name({"b"})})));
  send(datagram(true, dns_message(7, true, {dns_name({"a", "test"})})));
  send(datagram(true, dns_message(9, true, {dns_name({"a", "test"})})));
  const auto lines = told();
  ASSERT_EQ(lines.size(), 3u) << "an answer without a query is passed over";
  for (const ToldLine& line : lines) {
    EXPECT_EQ(line.record.app.app, EventApp::kDns);
    EXPECT_EQ(line.record.source_port, 5000u) << "the client's";
  }
  EXPECT_EQ(lines[0].values.at(EventField::kDnsQuery), std::string("\1\0a.test", 8));
  EXPECT_EQ(lines[1].values.at(EventField::kDnsQuery), std::string("\1\0b", 3));
  EXPECT_EQ(lines[2].record.app.direction, FlowDirection::kToClient);
}

TEST_F(IdsLogTest, WhatIsNotThroughIsToldWhenItsFlowEnds) {
  use(kNoRuleOfApps, {{"log", "http"}});
  open();
  client(kAsk);
  EXPECT_TRUE(told().empty());
  now_s_ += 1'000'000;  // longer than any time-out
  open(40'001);
  auto lines = told();
  std::erase_if(lines, [](const ToldLine& line) { return line.record.kind != EventKind::kApp; });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].record.source_port, 40'000u);
  EXPECT_EQ(lines[0].values.at(EventField::kHttpUrl), "/page");
  EXPECT_FALSE(lines[0].values.contains(EventField::kHttpStatus));
}

TEST_F(IdsLogTest, SshIsToldWhenBothHaveSpoken) {
  use(kNoRuleOfApps, {{"log", "ssh"}});
  open();
  client("SSH-2.0-one\r\n");
  server("SSH-2.0-two\r\n");
  const auto lines = told();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].values.at(EventField::kSshClientSoftware), "one");
  EXPECT_EQ(lines[0].values.at(EventField::kSshServerSoftware), "two");
}

TEST_F(IdsLogTest, MailsOfAConnectionAreToldOneByOne) {
  use(kNoRuleOfApps, {{"log", "smtp"}});
  open();
  server("220 mail.test ESMTP\r\n");
  client("EHLO  host.a.test\r\n");
  for (const std::string name : {"b", "c"}) {
    client("mail from: <a@a.test>\r\nRCPT TO:<" + name + "@b.test>\r\nDATA\r\n");
    EXPECT_TRUE(told().empty());
    client("Subject: x\r\n\r\ntext\r\n.\r\n");
    const auto lines = told();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].record.app.app, EventApp::kSmtp);
    EXPECT_EQ(lines[0].record.app.transaction.number(), name == "b" ? 0u : 1u);
    EXPECT_EQ(lines[0].values.at(EventField::kSmtpHelo), "host.a.test");
    EXPECT_EQ(lines[0].values.at(EventField::kSmtpFrom), "<a@a.test>");
    EXPECT_EQ(lines[0].values.at(EventField::kSmtpRecipient), "<" + name + "@b.test>");
  }
}

TEST_F(IdsLogTest, AParserThatGivesUpIsAnAnomaly) {
  use(kNoRuleOfApps, {{"log", "tls"}, {"log", "anomaly"}});
  open();
  client(std::string("\x16\x03\x01\x00\x10\x01\x00\x00\x0c", 9) + std::string(12, '\0') +
         std::string("\x16\x09\x00\xff\xff", 5));
  const auto lines = told();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].record.kind, EventKind::kAnomaly);
  EXPECT_EQ(lines[0].record.anomaly.type, AnomalyType::kAppUnreadable);
  EXPECT_STREQ(lines[0].record.anomaly.app, "tls");
  EXPECT_EQ(lines[0].record.anomaly.direction, FlowDirection::kToServer);
}

}  // namespace
}  // namespace millrace
