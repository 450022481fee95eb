// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleProtocolOf, BuffersSayWhatARuleIsOf) {
  const struct {
    const char* options;
    RuleProtocol head, protocol;
  } rows[] = {
      {"http.uri; content:\"a\";", RuleProtocol::kTcp, RuleProtocol::kHttp},
      {"http.uri; content:\"a\";", RuleProtocol::kIp, RuleProtocol::kHttp},
      {"http.uri; content:\"a\";", RuleProtocol::kHttp, RuleProtocol::kHttp},
      {"file.data; content:\"a\";", RuleProtocol::kTcp, RuleProtocol::kHttp},
      {"tls.sni; content:\"a\";", RuleProtocol::kTcp, RuleProtocol::kTls},
      {"ssh.software; content:\"a\";", RuleProtocol::kTcp, RuleProtocol::kSsh},
      {"dns.query; content:\"a\";", RuleProtocol::kIp, RuleProtocol::kDns},
      {"dns.query; content:\"a\";", RuleProtocol::kUdp, RuleProtocol::kUdp},
      {"dns.query; content:\"a\";", RuleProtocol::kTcp, RuleProtocol::kTcp},
      {"content:\"a\";", RuleProtocol::kTcp, RuleProtocol::kTcp},
      {"content:\"a\"; service:http;", RuleProtocol::kTcp, RuleProtocol::kTcp},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(signature_of(row.options, draft_of(row.head)).protocol, row.protocol) << row.options;
  }
}

TEST(RuleProtocolOf, BuffersThatTheProtocolDoesNotHaveAreRefused) {
  const struct {
    const char* options;
    RuleProtocol head;
  } rows[] = {
      {"http.uri; content:\"a\";", RuleProtocol::kUdp},
      {"http.uri; content:\"a\";", RuleProtocol::kTls},
      {"http.uri; content:\"a\";", RuleProtocol::kTcpPacket},
      {"tls.sni; content:\"a\";", RuleProtocol::kHttp},
      {"dns.query; content:\"a\";", RuleProtocol::kIcmp},
      {"file.data; content:\"a\";", RuleProtocol::kFtp},
      {"http.uri; content:\"a\"; tls.sni; content:\"b\";", RuleProtocol::kTcp},
      {"http.uri; content:\"a\"; dns.query; content:\"b\";", RuleProtocol::kTcp},
  };
  for (const auto& row : rows) {
    EXPECT_NE(refusal_of(row.options, draft_of(row.head)).find("does not have it"),
              std::string::npos)
        << row.options;
  }
}

TEST(RuleProtocolOf, ServicesSayWhoseFilesAreMeant) {
  EXPECT_EQ(refusal_of("file_data; content:\"a\"; service:ftp-data,http,imap,pop3;"), "");
  EXPECT_EQ(refusal_of("file_data; content:\"a\"; metadata:service http;"), "");
  expect_refused({{"file_data; content:\"a\"; service:imap;", "none is read"},
                  {"http.uri; content:\"a\"; service:smtp;", "none is read"},
                  {"file_data; content:\"a\"; metadata:service ftp-data;", "none is read"}});
}

TEST(RuleProtocolOf, BuffersHaveADirection) {
  FlowTest flow = signature_of("http.uri; content:\"a\"; http.header; content:\"b\";").flow;
  EXPECT_TRUE(flow.to_server);
  EXPECT_FALSE(flow.to_client);
  flow = signature_of("http.stat_code; content:\"200\";").flow;
  EXPECT_TRUE(flow.to_client);
  flow = signature_of("http.header; content:\"b\";").flow;
  EXPECT_FALSE(flow.to_server || flow.to_client);
  expect_refused({
      {"flow:to_client; http.uri; content:\"a\";", "http.uri: the rule's direction"},
      {"flow:to_server; http.stat_code; content:\"a\";", "http.stat_code: the rule's direction"},
      {"http.uri; content:\"a\"; http.stat_code; content:\"200\";", "the rule's direction"},
  });
}

TEST(RuleProtocolOf, TestsOfPacketsGoWithPayloadsOnly) {
  for (const char* test : {"dsize:5;", "flags:S;", "ttl:1;", "sameip;", "fragbits:D;",
                           "flow:no_stream;", "flow:only_frag;"}) {
    EXPECT_NE(refusal_of(std::string(test) + " http.uri; content:\"a\";").find("packet's headers"),
              std::string::npos)
        << test;
    EXPECT_EQ(refusal_of(std::string(test) + " content:\"a\";"), "") << test;
  }
}

TEST(RuleProtocolOf, FilesOfMailsAreThoseOfSmtp) {
  const Signature head = signature_of("file.data; content:\"a\";", draft_of(RuleProtocol::kSmtp));
  EXPECT_EQ(head.protocol, RuleProtocol::kSmtp);
  EXPECT_TRUE(head.flow.to_server);
  const Signature service =
      signature_of("file_data; content:\"a\"; service:smtp,imap; flow:to_server;");
  EXPECT_EQ(service.protocol, RuleProtocol::kSmtp);
  EXPECT_EQ(signature_of("file_data; content:\"a\"; service:http,smtp;").protocol,
            RuleProtocol::kHttp);
  expect_refused({{"file_data; content:\"a\"; service:smtp; flow:to_client;", "direction"}});
  EXPECT_NE(refusal_of("http.uri; content:\"a\";", draft_of(RuleProtocol::kSmtp)), "");
}

}  // namespace
}  // namespace millrace
