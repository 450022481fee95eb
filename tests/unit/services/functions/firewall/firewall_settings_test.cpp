// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/functions/firewall/firewall.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/firewall/firewall_folder.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

std::string settings_error(const Settings& settings) {
  const AclFolder folder;
  try {
    firewall_type().check(firewall_plan(folder, settings));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FirewallSettings, DropWhatNothingPasses) {
  const FirewallSettings settings = firewall_settings({});
  EXPECT_FALSE(settings.default_passes);
  EXPECT_FALSE(settings.non_ip_passes);
  PlanFunction function;
  function.settings = {
      {"default", "pass"}, {"non_ip", "pass"}, {"reject_rate", "7"}, {"sources", "9"}};
  EXPECT_TRUE(firewall_settings(function).default_passes);
  EXPECT_TRUE(firewall_settings(function).non_ip_passes);
  EXPECT_EQ(firewall_settings(function).reject_rate, 7u);
  EXPECT_EQ(firewall_settings(function).sources, 9u);
}

TEST(FirewallSettings, RulesComeFromOnePlace) {
  const AclFolder folder;
  const std::string file = folder.write("x", "");
  EXPECT_EQ(settings_error({{"rules", file}, {"rules", file}, {"default", "pass"}}), "");
  EXPECT_EQ(settings_error({{"nft", file}}), "");
  EXPECT_EQ(settings_error({{"iptables", file}, {"ip6tables", file}}), "");
  EXPECT_THAT(settings_error({}), HasSubstr("needs one of rules, nft, or iptables and ip6tables"));
  EXPECT_THAT(settings_error({{"nft", file}, {"rules", file}}), HasSubstr("needs one of"));
  EXPECT_THAT(settings_error({{"nft", file}, {"default", "pass"}}),
              HasSubstr("policy of the chain"));
  EXPECT_THAT(settings_error({{"nft", folder.path("absent")}}), HasSubstr("nft: "));
  EXPECT_THAT(settings_error({{"rules", file}, {"default", "deny"}}),
              HasSubstr("allowed: pass, drop"));
  EXPECT_THAT(settings_error({{"rules", file}, {"sources", "0"}}),
              HasSubstr("sources: '0'; expected 1 to 10000000"));
  EXPECT_THAT(settings_error({{"rules", file}, {"sources", "9x"}}), HasSubstr("'9x'"));
  EXPECT_THAT(settings_error({{"rules", file}, {"method", "bits"}}), HasSubstr("no such setting"));
}

TEST(FirewallSettings, SayWhetherARuleTellsOfPackets) {
  const AclFolder folder;
  const auto asks = [&](const char* key, const std::string& text) {
    return firewall_type().asks_for_events(firewall_plan(folder, {{key, folder.write("x", text)}}));
  };
  EXPECT_EQ(asks("rules", "pass ip any -> any\n"), "");
  EXPECT_NE(asks("rules", "pass ip any -> any log\n"), "");
  EXPECT_NE(asks("iptables", "-A FORWARD -j LOG\n"), "");
}

TEST(FirewallSettings, SayWhetherARuleRejects) {
  const AclFolder folder;
  const auto file = [&](const char* key, const std::string& text) {
    return firewall_file_that_rejects(firewall_plan(folder, {{key, folder.write("x", text)}}));
  };
  EXPECT_EQ(file("rules", "drop ip any -> any\n"), "");
  EXPECT_EQ(file("rules", "reject ip any -> any\n"), folder.path("x"));
  EXPECT_EQ(file("nft", R"({"reject": null})"), folder.path("x"));
  EXPECT_EQ(file("ip6tables", "-A FORWARD -j REJECT\n"), folder.path("x"));
}

TEST(FirewallSettings, SayWhetherARuleIsOfSynproxy) {
  const AclFolder folder;
  const auto file = [&](const char* key, const std::string& text) {
    return firewall_file_of_synproxy(firewall_plan(folder, {{key, folder.write("x", text)}}));
  };
  EXPECT_EQ(file("rules", "reject tcp any -> any\n"), "");
  EXPECT_EQ(file("rules", "synproxy tcp any -> any\n"), folder.path("x"));
  EXPECT_EQ(file("nft", R"({"synproxy": null})"), folder.path("x"));
  EXPECT_EQ(file("iptables", "-A FORWARD -j SYNPROXY\n"), folder.path("x"));
}

}  // namespace
}  // namespace millrace
