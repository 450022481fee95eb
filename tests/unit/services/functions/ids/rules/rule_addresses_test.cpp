// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_addresses.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "services/functions/ids/rules/rule_draft.hpp"

namespace millrace {
namespace {

const RuleVariables kNets = {{"HOME_NET", "[192.168.0.0/16,10.0.0.0/8]"},
                             {"EXTERNAL_NET", "!$HOME_NET"},
                             {"HTTP_PORTS", "[80,8000:8080,!8008]"}};

bool has(const AddressSet& set, const char* address) {
  Ipv6Bytes bytes{};
  if (inet_pton(AF_INET, address, bytes.data()) == 1) return set.contains(4, bytes);
  EXPECT_EQ(inet_pton(AF_INET6, address, bytes.data()), 1) << address;
  return set.contains(6, bytes);
}
AddressSet addresses(std::string_view text) { return read_rule_addresses(text, kNets); }

std::string refusal(std::string_view text, bool of_ports = false) {
  try {
    if (of_ports) {
      read_rule_ports(text, kNets);
    } else {
      addresses(text);
    }
  } catch (const RuleRefused& refused) {
    return refused.reason;
  }
  return "";
}

TEST(RuleAddresses, AreAnyNetworksAndRanges) {
  EXPECT_TRUE(addresses("any").is_any);
  EXPECT_TRUE(addresses("[0.0.0.0/0,::/0]").is_any);
  const AddressSet mixed =
      addresses("[10.1.0.0/16, 10.3.0.0/255.255.0.0,1.1.1.1-1.1.1.3,2001:db8::/32,fe80::1]");
  for (const char* address : {"10.1.2.3", "10.3.255.255", "1.1.1.2", "2001:db8::9", "fe80::1"}) {
    EXPECT_TRUE(has(mixed, address)) << address;
  }
  for (const char* address : {"10.2.0.0", "1.1.1.4", "1.1.1.0", "2001:db9::", "fe80::2"}) {
    EXPECT_FALSE(has(mixed, address)) << address;
  }
}

TEST(RuleAddresses, WithoutOthersAreTheRest) {
  const AddressSet external = addresses("$EXTERNAL_NET");
  EXPECT_FALSE(has(external, "10.255.255.255"));
  EXPECT_FALSE(has(external, "192.168.0.0"));
  EXPECT_TRUE(has(external, "11.0.0.0"));
  EXPECT_TRUE(has(external, "::1"));
  const AddressSet home = addresses("!$EXTERNAL_NET");
  EXPECT_TRUE(has(home, "10.0.0.0"));
  EXPECT_FALSE(has(home, "9.255.255.255"));
  EXPECT_FALSE(has(home, "::1"));
  const AddressSet both = addresses("[!224.0.0.1,$EXTERNAL_NET]");
  EXPECT_FALSE(has(both, "224.0.0.1"));
  EXPECT_FALSE(has(both, "10.0.0.1"));
  EXPECT_TRUE(has(both, "224.0.0.2"));
  EXPECT_FALSE(has(addresses("![10.0.0.0/8,!10.0.0.7]"), "10.0.0.6"));
  EXPECT_TRUE(has(addresses("![10.0.0.0/8,!10.0.0.7]"), "10.0.0.7"));
}

TEST(RuleAddresses, ThatAreNoneAreRefused) {
  EXPECT_EQ(refusal("10.0.0.0/33"), "'10.0.0.0/33' is no address, network or range of addresses");
  EXPECT_EQ(refusal("1.1.1.9-1.1.1.1"), "'1.1.1.9-1.1.1.1' ends in front of its start");
  EXPECT_EQ(refusal("[10.0.0.0/8,!10.0.0.0/8]"),
            "no address is left of '[10.0.0.0/8,!10.0.0.0/8]'");
  for (const char* wrong : {"a", "1.2.3", "1.1.1.1-::1", "1.1.1.1/8-2.2.2.2", "1.1.1.1/255.0.255.0",
                            "::/129", "::/255.0.0.0", "1.1.1.1/", "1.1.1.1/-1", "-1.1.1.1"}) {
    EXPECT_NE(refusal(wrong), "") << wrong;
  }
}

TEST(RuleAddresses, OfOneVersionAreLeft) {
  EXPECT_FALSE(has(addresses_of_version({}, 4), "::1"));
  EXPECT_TRUE(has(addresses_of_version({}, 4), "255.255.255.255"));
  EXPECT_TRUE(has(addresses_of_version({}, 6), "ffff::"));
  EXPECT_TRUE(addresses_of_version(addresses("10.0.0.1"), 6).ranges.empty());
}

TEST(RuleAddresses, EqualASlowSearchOfTheirNetworks) {
  std::mt19937 random(11);
  const auto network = [&random] {
    return "10.0." + std::to_string(random() % 4) + "." + std::to_string(random() % 256) + "/" +
           std::to_string(20 + random() % 13);
  };
  const auto covers = [](const std::string& text, std::uint32_t address) {
    const std::size_t slash = text.find('/');
    in_addr base{};
    inet_pton(AF_INET, text.substr(0, slash).c_str(), &base);
    const auto shift = 32u - static_cast<unsigned>(std::stoul(text.substr(slash + 1)));
    return (ntohl(base.s_addr) >> shift) == (address >> shift);
  };
  for (int turn = 0; turn < 100; ++turn) {
    std::vector<std::string> wanted, unwanted;
    std::string list;
    for (int at = 0; at < 6; ++at) {
      (at % 2 == 0 ? wanted : unwanted).push_back(network());
      list += (at == 0 ? "" : ",") + std::string(at % 2 == 0 ? "" : "!");
      list += at % 2 == 0 ? wanted.back() : unwanted.back();
    }
    wanted.emplace_back("10.1.9.0/24");  // something is left
    const AddressSet set = addresses("[" + list + ",10.1.9.0/24]");
    for (std::uint32_t address = 0x0a000000; address < 0x0a000a00; address += 1 + random() % 4) {
      const auto any_of = [&](const auto& networks) {
        return std::ranges::any_of(networks, [&](const auto& one) { return covers(one, address); });
      };
      Ipv6Bytes bytes{};
      const std::uint32_t big = htonl(address);
      std::memcpy(bytes.data(), &big, sizeof big);
      ASSERT_EQ(set.contains(4, bytes), any_of(wanted) && !any_of(unwanted)) << list << address;
    }
  }
}

TEST(RulePorts, AreAnySinglesAndRanges) {
  EXPECT_TRUE(read_rule_ports("any", kNets).is_any);
  EXPECT_TRUE(read_rule_ports("0:", kNets).is_any);
  const PortSet set = read_rule_ports("[$HTTP_PORTS,:3,65000:]", kNets);
  for (const int port : {0, 3, 80, 8000, 8007, 8009, 8080, 65000, 65535}) {
    EXPECT_TRUE(set.contains(static_cast<std::uint16_t>(port))) << port;
  }
  for (const int port : {4, 79, 81, 7999, 8008, 8081, 64999}) {
    EXPECT_FALSE(set.contains(static_cast<std::uint16_t>(port))) << port;
  }
  const PortSet others = read_rule_ports("!$HTTP_PORTS", kNets);
  EXPECT_TRUE(others.contains(8008));
  EXPECT_TRUE(others.contains(0));
  EXPECT_FALSE(others.contains(80));
}

TEST(RulePorts, ThatAreNoneAreRefused) {
  EXPECT_EQ(refusal("65536", true), "'65536' is no port from 0 to 65535 or range of ports");
  EXPECT_EQ(refusal("90:80", true), "'90:80' ends in front of its start");
  EXPECT_EQ(refusal("[80,!80]", true), "no port is left of '[80,!80]'");
  EXPECT_EQ(refusal("!0:", true), "no port is left of '!0:'");
  for (const char* wrong : {":", "a", "1-2", "", "1:2:3", "+1", "0x10"}) {
    EXPECT_NE(refusal(wrong, true), "") << wrong;
  }
}

}  // namespace
}  // namespace millrace
