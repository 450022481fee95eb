// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_image.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/acl/acl_folder.hpp"
#include "tests/unit/services/functions/acl/acl_oracle.hpp"
#include "tests/unit/services/functions/acl/acl_random.hpp"

namespace millrace {
namespace {

std::vector<AclNamedRule> rules_of(const std::string& text) {
  return parse_acl_rules(text, "r", {}).rules;
}

TEST(AclImage, HoldsRulesNamesAndBitVectors) {
  const AclFolder folder;
  std::mt19937 random(3);
  const auto rules =
      rules_of("drop ip any -> 255.0.0.0/8 name first\n" + random_rules(random, 300));
  const AclBitsReport report = write_acl_image(folder.path("i"), rules, 304);
  EXPECT_TRUE(report.built) << report.why;
  const AclImage image(folder.path("i"));
  ASSERT_EQ(image.rules().size(), rules.size());
  EXPECT_EQ(image.name(0), "first");
  EXPECT_EQ(image.name(300), "r:301");
  EXPECT_EQ(image.rules()[0].destination[0], 255);
  ASSERT_NE(image.bits(), nullptr);
  for (int i = 0; i < 2000; ++i) {
    const AclKey key = random_key(random);
    ASSERT_EQ(image.bits()->look_up(key), oracle::acl_word(oracle::acl_packet(key), rules));
  }
}

TEST(AclImage, OfNoRulesMatchesNothing) {
  const AclFolder folder;
  write_acl_image(folder.path("i"), {}, 3);
  const AclImage image(folder.path("i"));
  EXPECT_TRUE(image.rules().empty());
  ASSERT_NE(image.bits(), nullptr);
  EXPECT_EQ(image.bits()->look_up(acl_key(1, 2, 3, 4, 6)), kAclNoRule);
}

TEST(AclImage, LeavesTheBitVectorsOutWhenTheyAreTooLarge) {
  const AclFolder folder;
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    const std::string port = std::to_string(i * 13);
    text += "drop ip any port " + port + " -> any port " + port + "\n";
  }
  const AclBitsReport report = write_acl_image(folder.path("i"), rules_of(text), 5003);
  EXPECT_FALSE(report.built);
  EXPECT_NE(report.why, "");
  const AclImage image(folder.path("i"));
  EXPECT_EQ(image.rules().size(), 5000u);
  EXPECT_EQ(image.bits(), nullptr);
}

TEST(AclImage, IsRefusedWhenAnyByteOfItChanged) {
  const AclFolder folder;
  write_acl_image(folder.path("i"), rules_of("drop tcp any -> any port 80\n"), 4);
  std::ifstream in(folder.path("i"), std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(in), {});
  for (std::size_t at = 0; at < good.size(); at += 9973) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    EXPECT_THROW(AclImage{folder.write("bad", bad)}, Error) << at;
  }
  EXPECT_THROW(AclImage{folder.write("bad", good.substr(0, good.size() / 2))}, Error);
  EXPECT_THROW(AclImage{folder.path("absent")}, Error);
}

}  // namespace
}  // namespace millrace
