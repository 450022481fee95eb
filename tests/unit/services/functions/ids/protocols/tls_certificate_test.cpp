// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/tls_certificate.hpp"

#include <gtest/gtest.h>

#include "services/functions/ids/protocols/wire_cursor.hpp"
#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"
#include "tests/unit/services/functions/ids/protocols/tls_wire.hpp"

namespace millrace {
namespace {

TEST(TlsCertificate, NamesAreWrittenInTheirOrder) {  // that of DER within a set
  const std::string der = make_certificate(
      {{"C", "US"}, {"ST", "Utah"}, {"L", "Here"}, {"O", "M\xc3\xbc, Inc"}, {"OU", "x", true}},
      {{"DC", "org"}, {"CN", "a=b"}, {"emailAddress", "a@b"}, {"serialNumber", "7"}}, 0x8001);
  const auto text = certificate_text(app_bytes(der));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->subject, "C=US, ST=Utah, L=Here, OU=x + O=M\xc3\xbc, Inc");
  EXPECT_EQ(text->issuer, "DC=org, CN=a=b, Email=a@b, serialNumber=7");
  EXPECT_EQ(text->serial, "00:80:01");
}

TEST(TlsCertificate, AttributesWithoutANameHaveTheirNumber) {
  const auto text = certificate_text(app_bytes(make_certificate({{"1.2.3.4", "x"}}, {}, 0)));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->subject, "OID(1.2.3.4)=x");
  EXPECT_EQ(text->issuer, "");
  EXPECT_EQ(text->serial, "00");
}

TEST(TlsCertificate, TheFingerprintIsSha1) {
  EXPECT_EQ(certificate_fingerprint(app_bytes("abc")),
            "a9:99:3e:36:47:06:81:6a:ba:3e:25:71:78:50:c2:6c:9c:d0:d8:9d");
}

TEST(TlsCertificate, OtherBytesHaveNoText) {
  const std::string der = make_certificate({{"CN", "a"}}, {{"CN", "b"}}, 1);
  EXPECT_FALSE(certificate_text(app_bytes("")));
  EXPECT_FALSE(certificate_text(app_bytes("what is this")));
  for (std::size_t size = 0; size < der.size(); ++size) {
    EXPECT_FALSE(certificate_text(app_bytes(der.substr(0, size))));
  }
}

TEST(TlsCertificate, AChainIsAListOfWholeOnes) {
  const std::string body = certificates_body({"first", "", "second"});
  const auto chain = certificates_of(app_bytes(body));
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(text_of(chain[0]), "first");
  EXPECT_EQ(text_of(chain[1]), "second");
  EXPECT_EQ(certificates_of(app_bytes(body.substr(0, body.size() - 1))).size(), 1u);
  EXPECT_TRUE(certificates_of(app_bytes("")).empty());
}

}  // namespace
}  // namespace millrace
