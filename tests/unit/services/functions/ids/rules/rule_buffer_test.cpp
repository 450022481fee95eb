// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_buffer.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace millrace {
namespace {

TEST(RuleBuffers, EachHasANameThatNoOtherHas) {
  std::set<std::string_view> names;
  for (std::size_t at = 0; at < kRuleBufferCount; ++at) {
    const auto buffer = static_cast<RuleBuffer>(at);
    const RuleBufferTraits& traits = traits_of(buffer);
    EXPECT_TRUE(names.insert(traits.name).second) << traits.name;
    EXPECT_EQ(find_sticky_buffer(traits.name), buffer) << traits.name;
    EXPECT_TRUE(traits.of_request || traits.of_response) << traits.name;
    if (traits.old_name.empty()) continue;
    EXPECT_TRUE(names.insert(traits.old_name).second) << traits.old_name;
    EXPECT_EQ(find_content_modifier(traits.old_name), buffer) << traits.old_name;
    EXPECT_EQ(find_snort3_buffer(traits.old_name), buffer) << traits.old_name;
  }
}

TEST(RuleBuffers, StandInTheTableInTheirOrder) {
  EXPECT_EQ(traits_of(RuleBuffer::kHttpUri).name, "http.uri");
  EXPECT_EQ(traits_of(RuleBuffer::kHttpRequestBody).name, "http.request_body");
  EXPECT_EQ(traits_of(RuleBuffer::kHttpHeader).name, "http.header");
  EXPECT_EQ(traits_of(RuleBuffer::kFileData).name, "file.data");
  EXPECT_EQ(traits_of(RuleBuffer::kDnsQuery).name, "dns.query");
  EXPECT_EQ(traits_of(RuleBuffer::kTlsCerts).name, "tls.certs");
  EXPECT_EQ(traits_of(RuleBuffer::kSshSoftware).name, "ssh.software");
  EXPECT_TRUE(traits_of(RuleBuffer::kFileData).grows);
  EXPECT_TRUE(traits_of(RuleBuffer::kDnsQuery).many);
  EXPECT_FALSE(traits_of(RuleBuffer::kTlsSni).of_response);
  EXPECT_FALSE(traits_of(RuleBuffer::kJa3sHash).of_request);
}

TEST(RuleBuffers, HaveOlderNames) {
  EXPECT_EQ(find_sticky_buffer("file_data"), RuleBuffer::kFileData);
  EXPECT_EQ(find_sticky_buffer("dns_query"), RuleBuffer::kDnsQuery);
  EXPECT_EQ(find_sticky_buffer("tls_sni"), RuleBuffer::kTlsSni);
  EXPECT_EQ(find_sticky_buffer("ja3_hash"), RuleBuffer::kJa3Hash);
  EXPECT_EQ(find_sticky_buffer("http_referer"), RuleBuffer::kHttpReferer);
}

TEST(RuleBuffers, OfModifiersAreNotStickyButInSnort3) {
  EXPECT_EQ(find_sticky_buffer("http_uri"), std::nullopt);
  EXPECT_EQ(find_content_modifier("http_uri"), RuleBuffer::kHttpUri);
  EXPECT_EQ(find_snort3_buffer("http_uri"), RuleBuffer::kHttpUri);
  EXPECT_EQ(find_snort3_buffer("http_version"), RuleBuffer::kHttpProtocol);
  EXPECT_EQ(find_snort3_buffer("pkt_data"), RuleBuffer::kPayload);
  EXPECT_EQ(find_content_modifier("http.uri"), std::nullopt);
}

TEST(RuleBuffers, OfNoNameAreNone) {
  for (const char* name : {"", "http", "http.urI", "uri"}) {
    EXPECT_EQ(find_sticky_buffer(name), std::nullopt) << name;
    EXPECT_EQ(find_content_modifier(name), std::nullopt) << name;
    EXPECT_EQ(find_snort3_buffer(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace millrace
