// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/tls_fingerprint.hpp"

#include <gtest/gtest.h>

// Strings and hashes are those that the authors of JA3 and JA4 publish with their descriptions.

namespace millrace {
namespace {

TEST(TlsFingerprint, Ja3IsThePublishedOne) {
  const TlsClientHello rich{.version = 769,
                            .ciphers = {47, 53, 5, 10, 49161, 49162, 49171, 49172, 50, 56, 19, 4},
                            .extensions = {0, 10, 11},
                            .groups = {23, 24, 25},
                            .point_formats = {0}};
  EXPECT_EQ(ja3_of(rich), "769,47-53-5-10-49161-49162-49171-49172-50-56-19-4,0-10-11,23-24-25,0");
  EXPECT_EQ(hex_digest(HexDigest::kMd5, ja3_of(rich)), "ada70206e40642a3e4461f35503241d5");
  const TlsClientHello bare{.version = 769, .ciphers = {4, 5, 10, 9, 100, 98, 3, 6, 19, 18, 99}};
  EXPECT_EQ(ja3_of(bare), "769,4-5-10-9-100-98-3-6-19-18-99,,,");
  EXPECT_EQ(hex_digest(HexDigest::kMd5, ja3_of(bare)), "de350869b8c85de67a350c8d186f11e6");
}

TEST(TlsFingerprint, Ja3LeavesGreaseOut) {
  EXPECT_EQ(ja3_of(TlsClientHello{.version = 771,
                                  .ciphers = {0x0a0a, 4865},
                                  .extensions = {0x1a1a, 10, 0xfafa},
                                  .groups = {0x2a2a, 29}}),
            "771,4865,10,29,");
}

TEST(TlsFingerprint, Ja3SIsOfTheChoice) {
  const TlsServerHello hello{.version = 769, .cipher = 47, .extensions = {65281, 0, 11, 35, 5, 16}};
  EXPECT_EQ(ja3_of(hello), "769,47,65281-0-11-35-5-16");
}

TlsClientHello browser_hello() {
  return {.version = 0x0303,
          .ciphers = {0x1a1a, 0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9,
                      0xcca8, 0xc013, 0xc014, 0x009c, 0x009d, 0x002f, 0x0035},
          .extensions = {0x2a2a, 0x001b, 0x0000, 0x0033, 0x0010, 0x4469, 0x0017, 0x002d, 0x000d,
                         0x0005, 0x0023, 0x0012, 0x002b, 0xff01, 0x000b, 0x000a, 0x0015},
          .groups = {},
          .versions = {0x3a3a, 0x0304, 0x0303},
          .signature_algorithms = {0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601},
          .point_formats = {},
          .server_name = "a",
          .first_alpn = "h2"};
}

TEST(TlsFingerprint, Ja4IsThePublishedOne) {
  EXPECT_EQ(ja4_of(browser_hello()), "t13d1516h2_8daaf6152771_e5627efa2ab1");
}

TEST(TlsFingerprint, Ja4SaysWhatIsThere) {
  TlsClientHello hello = browser_hello();
  std::erase(hello.extensions, 0);
  hello.first_alpn = "";
  hello.versions.clear();
  EXPECT_EQ(ja4_of(hello).substr(0, 10), "t12i151500");
  hello.extensions.clear();
  hello.ciphers = {0x0a0a};
  EXPECT_EQ(ja4_of(hello), "t12i000000_000000000000_000000000000");
  hello.ciphers.assign(120, 1);
  EXPECT_EQ(ja4_of(hello).substr(0, 10), "t12i990000");
}

TEST(TlsFingerprint, Ja4WritesTheEndsOfAProtocolThatIsNoText) {
  TlsClientHello hello;
  const auto alpn = [&hello](std::string protocol) {
    hello.first_alpn = std::move(protocol);
    return ja4_of(hello).substr(8, 2);
  };
  EXPECT_EQ(alpn("http/1.1"), "h1");
  EXPECT_EQ(alpn("h"), "hh");
  EXPECT_EQ(alpn("\xab"), "ab");
  EXPECT_EQ(alpn("\xab\xcd"), "ad");
  EXPECT_EQ(alpn("\x30\xab"), "3b");
  EXPECT_EQ(alpn("\x30\x31\xab\xcd"), "3d");
  EXPECT_EQ(alpn("\x30\xab\xcd\x31"), "01");
}

TEST(TlsFingerprint, Ja4KnowsTheVersions) {
  const auto version = [](std::uint16_t of) {
    return ja4_of(TlsClientHello{.version = of}).substr(1, 2);
  };
  EXPECT_EQ(version(0x0304), "13");
  EXPECT_EQ(version(0x0302), "11");
  EXPECT_EQ(version(0x0301), "10");
  EXPECT_EQ(version(0x0300), "s3");
  EXPECT_EQ(version(0x0002), "s2");
  EXPECT_EQ(version(0x7f00), "00");
}

TEST(TlsFingerprint, DigestsAreThoseOfTheStandards) {
  EXPECT_EQ(hex_digest(HexDigest::kMd5, ""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex_digest(HexDigest::kSha1, "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
}

}  // namespace
}  // namespace millrace
