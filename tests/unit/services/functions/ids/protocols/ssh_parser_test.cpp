// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/ssh_parser.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"

namespace millrace {
namespace {

struct SshFlow {
  explicit SshFlow(AppLimits limits = {}, std::uint64_t transactions = 0)
      : parser(limits, transactions) {}
  void client(const std::string& text) { parser.read(0, app_bytes(text), told); }
  void server(const std::string& text) { parser.read(1, app_bytes(text), told); }
  std::string version(std::uint8_t direction) {
    const AppRecord& record = told.record(0, direction);
    return record.value(RuleBuffer::kSshProtocol) + " " + record.value(RuleBuffer::kSshSoftware);
  }

  SshParser parser;
  AppRecorder told;
};

TEST(SshParser, VersionsAreToldByDirection) {
  SshFlow flow;
  flow.server("SSH-2.0-OpenSSH_8.2p1 Debian-4\r\nbinary");
  EXPECT_EQ(flow.version(1), "2.0 OpenSSH_8.2p1");
  EXPECT_TRUE(flow.told.record(0, 1).is_complete);
  EXPECT_FALSE(flow.parser.is_done());
  EXPECT_EQ(flow.parser.settled(1), 0u);
  flow.client("SSH-1.99-PuTTY-x\n");
  EXPECT_EQ(flow.version(0), "1.99 PuTTY-x");
  EXPECT_TRUE(flow.parser.is_done());
  EXPECT_EQ(flow.parser.transactions(), 1u);
  flow.server("more");
  EXPECT_EQ(flow.told.told, 2u);
  EXPECT_EQ(flow.parser.settled(1), 42u);
}

TEST(SshParser, OtherLinesMayComeFirstAndInPieces) {
  SshFlow flow;
  for (const char letter : std::string("Welcome\r\n\r\nSSH-2.0-x\r\n")) {
    flow.server(std::string(1, letter));
  }
  EXPECT_EQ(flow.version(1), "2.0 x");
  EXPECT_EQ(flow.told.told, 1u);
}

TEST(SshParser, ALineWithoutSoftwareHasNone) {
  SshFlow flow;
  flow.client("SSH-2.0\n");
  EXPECT_EQ(flow.version(0), "2.0 (none)");
}

TEST(SshParser, AnEndTellsALineThatIsNotWhole) {
  SshFlow flow;
  flow.client("SSH-2.0-a");
  flow.parser.end(0, flow.told);
  EXPECT_EQ(flow.version(0), "2.0 a");
  flow.parser.end(0, flow.told);
  flow.parser.end(1, flow.told);
  EXPECT_EQ(flow.version(1), "(none) (none)");
  EXPECT_TRUE(flow.told.record(0, 1).is_complete);
  EXPECT_TRUE(flow.parser.is_done());
}

TEST(SshParser, ADirectionWithoutALineIsGivenUp) {
  SshFlow flow({.header_bytes = 10});
  flow.client("123456789");
  EXPECT_FALSE(flow.parser.is_broken(0));
  flow.client("0SSH-2.0-x\n");
  EXPECT_TRUE(flow.parser.is_broken(0));
  EXPECT_EQ(flow.version(0), "(none) (none)");
  EXPECT_TRUE(flow.told.record(0, 0).is_complete);
}

TEST(SshParser, BehindTheVersionsThereIsNothing) {
  SshFlow flow({}, 1);
  EXPECT_TRUE(flow.parser.is_done());
  flow.client("SSH-2.0-a\n");
  EXPECT_EQ(flow.told.told, 0u);
}

}  // namespace
}  // namespace millrace
