// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/tls_hello.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"
#include "tests/unit/services/functions/ids/protocols/tls_wire.hpp"

namespace millrace {
namespace {

using Numbers = std::vector<std::uint16_t>;

std::string rich_hello() {
  return client_hello_body(
      {0x1301, 0x0a0a, 0xc02b},
      tls_server_name("www.Example.com") + tls_extension(10, tls_list({29, 23}, 2)) +
          tls_extension(11, tls_part(std::string("\0\1", 2), 1)) +
          tls_extension(13, tls_list({0x0403}, 2)) +
          tls_extension(16, tls_part(tls_part("h2", 1) + tls_part("http/1.1", 1), 2)) +
          tls_extension(43, tls_list({0x3a3a, 0x0304, 0x0303}, 1)) + tls_extension(0x1234, "??"));
}

TEST(TlsHello, TheClientsListsAreRead) {
  const TlsClientHello hello = parse_client_hello(app_bytes(rich_hello()));
  EXPECT_TRUE(hello.is_whole);
  EXPECT_EQ(hello.version, 0x0303);
  EXPECT_EQ(hello.ciphers, (Numbers{0x1301, 0x0a0a, 0xc02b}));
  EXPECT_EQ(hello.extensions, (Numbers{0, 10, 11, 13, 16, 43, 0x1234}));
  EXPECT_EQ(hello.groups, (Numbers{29, 23}));
  EXPECT_EQ(hello.point_formats, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(hello.signature_algorithms, Numbers{0x0403});
  EXPECT_EQ(hello.versions, (Numbers{0x3a3a, 0x0304, 0x0303}));
  EXPECT_EQ(hello.server_name, "www.Example.com");
  EXPECT_EQ(hello.first_alpn, "h2");
  EXPECT_EQ(version_of(hello), 0x0304);
}

TEST(TlsHello, AClientMayHaveNoExtensions) {
  const TlsClientHello hello = parse_client_hello(app_bytes(client_hello_body({4, 5}, "", 0x0301)));
  EXPECT_TRUE(hello.is_whole);
  EXPECT_EQ(hello.ciphers, (Numbers{4, 5}));
  EXPECT_TRUE(hello.extensions.empty());
  EXPECT_EQ(version_of(hello), 0x0301);
}

TEST(TlsHello, OneThatIsCutIsNotWholeButKeepsWhatItHas) {
  const std::string whole = rich_hello();
  const std::size_t without_extensions = client_hello_body({0x1301, 0x0a0a, 0xc02b}, "").size();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const TlsClientHello hello = parse_client_hello(app_bytes(whole.substr(0, size)));
    EXPECT_EQ(hello.is_whole, size == without_extensions) << size;
  }
  EXPECT_EQ(parse_client_hello(app_bytes(whole.substr(0, 100))).server_name, "www.Example.com");
}

TEST(TlsHello, OneWhoseListsDoNotFitIsNotWhole) {
  for (const std::string& extension :
       {tls_extension(0, tls_number(9, 2) + "x"), tls_extension(10, tls_part("abc", 2)),
        tls_extension(11, tls_number(3, 1)), tls_extension(13, tls_number(2, 2)),
        tls_extension(16, tls_part(tls_number(3, 1), 2)), tls_extension(43, tls_part("a", 1))}) {
    EXPECT_FALSE(parse_client_hello(app_bytes(client_hello_body({1}, extension))).is_whole);
  }
  EXPECT_FALSE(parse_client_hello(app_bytes(client_hello_body({1}, "abc"))).is_whole);
}

TEST(TlsHello, TheServersChoiceIsRead) {
  const TlsServerHello hello = parse_server_hello(app_bytes(server_hello_body(
      0x1302, tls_extension(51, "key") + tls_extension(43, tls_number(0x0304, 2)))));
  EXPECT_TRUE(hello.is_whole);
  EXPECT_EQ(hello.version, 0x0303);
  EXPECT_EQ(hello.cipher, 0x1302);
  EXPECT_EQ(hello.extensions, (Numbers{51, 43}));
  EXPECT_EQ(version_of(hello), 0x0304);
}

TEST(TlsHello, AServerMayHaveNoExtensions) {
  const std::string body = server_hello_body(0x002f, "", 0x0302);
  const TlsServerHello hello = parse_server_hello(app_bytes(body));
  EXPECT_TRUE(hello.is_whole);
  EXPECT_EQ(version_of(hello), 0x0302);
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_FALSE(parse_server_hello(app_bytes(body.substr(0, size))).is_whole) << size;
  }
}

TEST(TlsHello, GreaseHasTwoEqualBytesThatEndInA) {
  int count = 0;
  for (int value = 0; value <= 0xffff; ++value) {
    count += is_grease(static_cast<std::uint16_t>(value)) ? 1 : 0;
  }
  EXPECT_EQ(count, 16);
  for (int i = 0; i < 16; ++i)
    EXPECT_TRUE(is_grease(static_cast<std::uint16_t>(0x0a0a + i * 0x1010)));
}

TEST(TlsHello, VersionsHaveTheNamesOfRules) {
  EXPECT_EQ(tls_version_name(0x0300), "SSLv3");
  EXPECT_EQ(tls_version_name(0x0301), "1.0");
  EXPECT_EQ(tls_version_name(0x0304), "1.3");
  EXPECT_EQ(tls_version_name(0x7f12), "0x7f12");
}

}  // namespace
}  // namespace millrace
