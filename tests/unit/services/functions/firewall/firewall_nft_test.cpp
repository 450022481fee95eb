// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/functions/firewall/firewall_chains.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/firewall/firewall_asking.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The output of nft 1.0.6.
constexpr char kRuleset[] =
    R"json({"nftables": [{"metainfo": {"version": "1.0.6", "release_name": "Lester Gooch #5",
"json_schema_version": 1}}, 
{"table": {"family": "inet", "name": "filter", "handle": 1}}, 
{"chain": {"family": "inet", "table": "filter", "name": "services", "handle": 1}}, 
{"chain": {"family": "inet", "table": "filter", "name": "forward", "handle": 2,
"type": "filter", "hook": "forward", "prio": 0, "policy": "drop"}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "services", "handle": 4,
"expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}},
"right": {"set": [80, 443]}}}, {"accept": null}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "services", "handle": 5,
"expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "icmp", "field": "type"}},
"right": "echo-request"}}, {"limit": {"rate": 10, "burst": 5, "per": "second"}},
{"accept": null}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "services", "handle": 7,
"expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "icmpv6", "field": "type"}},
"right": {"set": ["echo-request", "nd-neighbor-solicit"]}}}, {"accept": null}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 9,
"expr": [{"vmap": {"key": {"ct": {"key": "state"}}, "data": {"set": [["invalid",
{"drop": null}], ["established", {"accept": null}], ["related", {"accept": null}]]}}}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 10,
"comment": "inside", "expr": [{"match": {"op": "==", "left": {"meta": {"key": "iifname"}},
"right": "lan"}}, {"accept": null}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 11,
"expr": [{"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "wan"}},
{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "daddr"}},
"right": {"prefix": {"addr": "192.0.2.0", "len": 24}}}}, {"match": {"op": "==",
"left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": {"range": [1000, 2000]}}},
{"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": "new"}},
{"log": {"prefix": "x "}}, {"counter": {"packets": 0, "bytes": 0}}, {"accept": null}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 15,
"expr": [{"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": {"set": ["tcp",
"udp"]}}}, {"match": {"op": "==", "left": {"payload": {"protocol": "th", "field": "dport"}},
"right": 53}}, {"accept": null}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 16,
"expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "protocol"}},
"right": "icmp"}}, {"accept": null}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 17,
"expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "udp", "field": "dport"}},
"right": 22}}, {"reject": {"type": "icmpx", "expr": "port-unreachable"}}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 18,
"expr": [{"match": {"op": "==", "left": {"&": [{"payload": {"protocol": "tcp",
"field": "flags"}}, ["syn", "ack"]]}, "right": "syn"}}, {"drop": null}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 19,
"expr": [{"match": {"op": "==", "left": {"meta": {"key": "iif"}}, "right": "lo"}},
{"accept": null}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 20,
"expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "ip6", "field": "saddr"}},
"right": {"prefix": {"addr": "2001:db8::", "len": 32}}}}, {"accept": null}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 21,
"expr": [{"jump": {"target": "services"}}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 22,
"expr": [{"counter": {"packets": 0, "bytes": 0}}]}}, 
{"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 23,
"expr": [{"match": {"op": "!=", "left": {"payload": {"protocol": "tcp", "field": "dport"}},
"right": 23}}, {"accept": null}]}}]})json";

FirewallRules read_json(const std::string& json) {
  return read_nft_ruleset(json, "f.json", kTwoPorts);
}

TEST(FirewallNft, ReadsWhatNftWrites) {
  const FirewallRules rules = read_json(kRuleset);
  EXPECT_THAT(rules.refusals,
              ElementsAre("f.json: forward handle 19: 'lo' is no port; there are lan, wan"));
  const auto first = [&](const FirewallPacket& packet) { return name_of_first(rules, packet); };
  EXPECT_EQ(first({.state = FlowState::kEstablished, .port_in = 1}), "forward handle 9");
  EXPECT_EQ(first({.state = FlowState::kInvalid}), "forward handle 9");
  EXPECT_EQ(first({.port_in = 0}), "inside");
  EXPECT_EQ(first({.destination_port = 1500, .port_in = 1}), "forward handle 11");
  EXPECT_EQ(first({.destination_port = 2001, .flags = 0x10, .port_in = 1}), "forward handle 23");
  EXPECT_EQ(first({.destination_port = 23, .flags = 0x10, .port_in = 1}), "policy drop");
  EXPECT_EQ(first({.destination_port = 53, .port_in = 1}), "forward handle 15");
  EXPECT_EQ(first({.protocol = 132, .destination_port = 53, .port_in = 1}), "policy drop");
  EXPECT_EQ(first({.protocol = 1, .icmp_type = 8, .port_in = 1}), "forward handle 16");
  EXPECT_EQ(first({.protocol = 17, .destination_port = 22, .port_in = 1}), "forward handle 17");
  EXPECT_EQ(first({.destination_port = 443, .port_in = 1}), "forward handle 18") << "a SYN";
  EXPECT_EQ(first({.destination_port = 443, .flags = 0x10, .port_in = 1}), "services handle 4");
  FirewallPacket ipv6{
      .source = "2001:db8::1", .destination = "2001:db9::1", .protocol = 17, .port_in = 1};
  EXPECT_EQ(first(ipv6), "forward handle 20");
  ipv6.source = "2001:dba::1";
  EXPECT_EQ(first(ipv6), "policy drop");
  ipv6.protocol = 58;
  ipv6.icmp_type = 135;
  EXPECT_EQ(first(ipv6), "services handle 7");
}

std::string forward(const std::string& family, const std::string& expressions) {
  const std::string in = R"("family": ")" + family + R"(", "table": "t", )";
  return R"({"chain": {)" + in +
         R"("name": "f", "type": "filter", "hook": "forward", "policy": "accept"}},)" +
         R"({"rule": {)" + in + R"("chain": "f", "handle": 5, "expr": [)" + expressions + "]}}";
}

std::string nft_error(const std::string& objects) {
  try {
    read_json(R"({"nftables": [)" + objects + "]}");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FirewallNft, ARuleThatDropsAndIsNotUnderstoodRefusesTheFile) {
  const std::string port = R"({"match": {"op": "<", "left": {"payload": {"protocol": "tcp",
      "field": "dport"}}, "right": 22}}, )";
  EXPECT_EQ(nft_error(forward("inet", port + R"({"accept": null})")), "");
  EXPECT_THAT(nft_error(forward("inet", port + R"({"drop": null})")),
              HasSubstr("f.json: f handle 5: compares by '<'; without this rule more"));
  EXPECT_THAT(nft_error(forward("inet", R"({"xt": {"type": "target", "name": "REJECT"}})")),
              HasSubstr("without this rule more"));
  EXPECT_THAT(nft_error(forward("inet", port + R"({"jump": {"target": "x"}})")),
              HasSubstr("without this rule more"));
  EXPECT_THAT(nft_error(forward("inet", R"({"match": {"op": "==", "left": {"payload":
      {"protocol": "ip", "field": "saddr"}}, "right": "@bad"}}, {"drop": null})")),
              HasSubstr("the named set @bad"));
}

TEST(FirewallNft, WhatStandsBehindAMapRefusesTheFile) {
  const auto map = [](const std::string& verdict) {
    return R"({"vmap": {"key": {"payload": {"protocol": "tcp", "field": "dport"}},
        "data": {"set": [[22, {)" +
           verdict + "}]]}}}";
  };
  EXPECT_EQ(nft_error(forward("inet", map(R"("accept": null)"))), "");
  EXPECT_THAT(nft_error(forward("inet", map(R"("accept": null)") + R"(, {"drop": null})")),
              HasSubstr("f.json: f handle 5: 'drop' behind a map; without this rule more"));
  EXPECT_THAT(nft_error(forward("inet", map(R"("drop": null)") + R"(, {"accept": null})")),
              HasSubstr("'accept' behind a map; without this rule more"));
  EXPECT_THAT(
      nft_error(forward("inet", map(R"("goto": {"target": "x"})") + R"(, {"accept": null})")),
      HasSubstr("goto; without this rule more"));
}

TEST(FirewallNft, AStatementThatMayEndAPacketRefusesTheFile) {
  for (const char* const ends :
       {R"({"queue": {"num": 1}})", R"({"synproxy": {"mss": 1460}})", R"({"unheard-of": null})",
        R"({"mangle": {"key": {"payload": {"protocol": "ip", "field": "dscp"}}, "value": 1}})"}) {
    EXPECT_THAT(nft_error(forward("inet", ends)), HasSubstr("without this rule more")) << ends;
  }
  EXPECT_EQ(nft_error(forward("inet", R"({"mangle": {"key": {"meta": {"key": "mark"}},
      "value": 1}})")),
            "");
}

TEST(FirewallNft, NegationsAreAllTheOthers) {
  const auto unless = [](const std::string& left, const std::string& right) {
    return R"({"match": {"op": "!=", "left": )" + left + R"(, "right": )" + right + "}}, ";
  };
  const std::string port = R"({"payload": {"protocol": "tcp", "field": "dport"}})",
                    source = R"({"payload": {"protocol": "ip", "field": "saddr"}})",
                    input = R"({"meta": {"key": "iifname"}})";
  const FirewallRules rules = read_json(
      R"({"nftables": [)" +
      forward("inet",
              unless(port, R"({"set": [22, {"range": [80, 90]}]})") +
                  unless(source, R"({"set": ["10.0.0.1", {"prefix": {"addr": "10.2.0.0",
                      "len": 16}}]})") +
                  unless(input, R"("wan")") +
                  unless(R"({"ct": {"key": "state"}})", R"({"set": ["established", "new"]})") +
                  R"({"drop": null})") +
      "]}");
  const auto drops = [&](const FirewallPacket& packet) {
    return name_of_first(rules, packet) == "f handle 5";
  };
  const FirewallPacket other{
      .source = "10.0.0.2", .destination_port = 25, .state = FlowState::kRelated};
  EXPECT_TRUE(drops(other));
  const auto with = [&](auto change) {
    FirewallPacket packet = other;
    change(packet);
    return drops(packet);
  };
  EXPECT_FALSE(with([](FirewallPacket& packet) { packet.source = "10.0.0.1"; }));
  EXPECT_FALSE(with([](FirewallPacket& packet) { packet.source = "10.2.9.9"; }));
  EXPECT_FALSE(with([](FirewallPacket& packet) { packet.source = "2001:db8::1"; }));
  EXPECT_FALSE(with([](FirewallPacket& packet) { packet.destination_port = 85; }));
  EXPECT_FALSE(with([](FirewallPacket& packet) { packet.protocol = 17; }));
  EXPECT_FALSE(with([](FirewallPacket& packet) { packet.port_in = 1; }));
  EXPECT_FALSE(with([](FirewallPacket& packet) { packet.state = FlowState::kNew; }));
  EXPECT_TRUE(with([](FirewallPacket& packet) { packet.state = FlowState::kInvalid; }));
}

TEST(FirewallNft, OneLimitARule) {
  const std::string limit = R"({"limit": {"rate": 10, "burst": 5, "per": "second"}}, )";
  const std::string map = R"({"vmap": {"key": {"payload": {"protocol": "tcp", "field": "dport"}},
      "data": {"set": [[22, {"accept": null}], [23, {"accept": null}]]}}})";
  EXPECT_EQ(nft_error(forward("inet", limit + R"({"drop": null})")), "");
  EXPECT_THAT(nft_error(forward("inet", limit + limit + R"({"drop": null})")),
              HasSubstr("two limits"));
  EXPECT_THAT(nft_error(forward("inet", limit + map)), HasSubstr("a limit in front of a map"));
}

TEST(FirewallNft, LimitsOfEachSourceAreOfTheWholeRule) {
  const std::string port = R"({"match": {"op": "==", "left": {"payload": {"protocol": "tcp",
      "field": "dport"}}, "right": {"set": [22, 23]}}}, )";
  const std::string counted = R"({"set": {"op": "add", "elem": {"payload": {"protocol": "ip",
      "field": "saddr"}}, "set": "@conns", "stmt": [{"ct count": {"val": 5, "inv": true}}]}}, )";
  const std::string drop = R"({"drop": null})";
  const FirewallRules rules =
      read_json(R"({"nftables": [)" + forward("inet", port + counted + drop) + "]}");
  ASSERT_EQ(rules.rules.size(), 3u);
  const AclRule &one = rules.rules[0].rule, &other = rules.rules[1].rule;
  EXPECT_EQ(one.limits, kRuleConnections | kRuleConnectionsOver | kRuleConnectionsPerSource);
  EXPECT_EQ(one.families, kAclIpv4);
  EXPECT_EQ(one.connection_group, other.connection_group);
  EXPECT_NE(one.destination_port_low, other.destination_port_low);
  const std::string bare = R"({"ct count": {"val": 5, "inv": true}}, )";
  EXPECT_EQ(
      read_json(R"({"nftables": [)" + forward("inet", bare + drop) + "]}").rules[0].rule.limits,
      kRuleConnections | kRuleConnectionsOver);
  EXPECT_THAT(nft_error(forward("inet", bare + R"({"jump": {"target": "x"}})")),
              HasSubstr("a jump with a limit"));
}

TEST(FirewallNft, RefusesWhatIsNoRuleset) {
  EXPECT_THAT(nft_error(""), HasSubstr("no chain of type filter on hook forward"));
  EXPECT_THAT(nft_error("nonsense"), HasSubstr("no output of 'nft -j list ruleset'"));
  EXPECT_THAT(nft_error(forward("inet", "") + "," + forward("ip", "")), HasSubstr("two chains"));
  EXPECT_EQ(nft_error(forward("ip6", "") + "," + forward("ip", "")), "");
}

}  // namespace
}  // namespace millrace
