// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_notrack.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/firewall/firewall_asking.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

std::string iptables_of(
    const std::string& raw, const std::string& states = "INVALID,UNTRACKED",
    const std::string& options = "--sack-perm --timestamp --wscale 7 --mss 1460") {
  return "*filter\n:FORWARD DROP [0:0]\n"
         "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
         "-A FORWARD -d 192.0.2.0/24 -p tcp -m tcp --dport 80 -m conntrack --ctstate " +
         states + " -j SYNPROXY " + options + "\nCOMMIT\n*raw\n:PREROUTING ACCEPT [0:0]\n" + raw +
         "COMMIT\n";
}

constexpr char kSynsOfLan[] =
    "-A PREROUTING -i lan -p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN -j CT --notrack\n";

FirewallRules read_proxy(const std::string& text) {
  return read_iptables(text, "f", kAclIpv4, kTwoPorts);
}

/// What becomes of a SYN, or of an ACK, to port 80 of the server.
std::uint8_t action_for(const FirewallRules& rules, const FirewallPacket& packet) {
  const oracle::AclPacket asked = oracle::acl_packet(packet.key());
  for (const AclNamedRule& one : rules.rules) {
    if (oracle::matches(one.rule, asked)) return one.rule.action;
  }
  return UINT8_MAX;
}

constexpr auto kProxies = static_cast<std::uint8_t>(AclAction::kSynproxy);
constexpr auto kDrops = static_cast<std::uint8_t>(AclAction::kDrop);
constexpr auto kPasses = static_cast<std::uint8_t>(AclAction::kPass);

TEST(FirewallNotrack, OfOtherPacketsThanSynsIsReported) {
  const FirewallRules rules = read_proxy(iptables_of(
      std::string(kSynsOfLan) + "-A PREROUTING -p udp -m udp --dport 53 -j CT --notrack\n"));
  EXPECT_THAT(
      rules.refusals,
      testing::ElementsAre("f:9: notrack of other packets than SYNs, which are tracked here"));
}

void expect_as_the_kernel(const FirewallRules& rules) {
  EXPECT_EQ(action_for(rules, {}), kProxies) << "a SYN";
  EXPECT_EQ(action_for(rules, {.flags = 0x10}), kProxies) << "an ACK of no connection";
  EXPECT_EQ(action_for(rules, {.flags = 0x10, .state = FlowState::kInvalid}), kProxies);
  EXPECT_EQ(action_for(rules, {.flags = 0x10, .state = FlowState::kEstablished}), kPasses);
  EXPECT_EQ(action_for(rules, {.port_in = 1}), kDrops) << "tracked";
  EXPECT_EQ(action_for(rules, {.destination_port = 81}), kDrops) << "of another port";
  EXPECT_EQ(action_for(rules, {.destination = "192.0.3.1"}), kDrops);
  for (const AclNamedRule& one : rules.rules) {
    if (one.rule.action != kProxies) continue;
    EXPECT_EQ(one.rule.proxy_mss, 1460);
    EXPECT_EQ(one.rule.proxy, 7 | kRuleProxyScale | kRuleProxySack | kRuleProxyTimestamp);
  }
}

TEST(FirewallNotrack, AProxyIsForSynsThatAreNotTracked) {
  expect_as_the_kernel(read_proxy(iptables_of(kSynsOfLan)));
}

/// The output of nft 1.0.6.
constexpr char kNftProxy[] = R"json({"nftables": [
{"table": {"family": "ip", "name": "r", "handle": 1}},
{"chain": {"family": "ip", "table": "r", "name": "pre", "handle": 1, "type": "filter",
"hook": "prerouting", "prio": -300, "policy": "accept"}},
{"chain": {"family": "ip", "table": "r", "name": "f", "handle": 2, "type": "filter",
"hook": "forward", "prio": 0, "policy": "drop"}},
{"rule": {"family": "ip", "table": "r", "chain": "pre", "handle": 4, "expr": [
{"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "lan"}},
{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}},
"right": {"set": [80, 8080]}}},
{"match": {"op": "in", "left": {"payload": {"protocol": "tcp", "field": "flags"}}, "right": "syn"}},
{"notrack": null}]}},
{"rule": {"family": "ip", "table": "r", "chain": "f", "handle": 5, "expr": [
{"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": ["established", "related"]}},
{"accept": null}]}},
{"rule": {"family": "ip", "table": "r", "chain": "f", "handle": 6, "expr": [
{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "daddr"}},
"right": {"prefix": {"addr": "192.0.2.0", "len": 24}}}},
{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 80}},
{"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": ["invalid", "untracked"]}},
{"synproxy": {"mss": 1460, "wscale": 7, "flags": ["timestamp", "sack-perm"]}}]}}]})json";

TEST(FirewallNotrack, OfNftLikewise) {
  expect_as_the_kernel(read_nft_ruleset(kNftProxy, "f", kTwoPorts));
}

std::string proxy_error(const std::string& text) {
  try {
    read_proxy(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FirewallNotrack, RefusesWhatTheKernelWouldNotProxy) {
  EXPECT_THAT(proxy_error(iptables_of("")), HasSubstr("leaves untracked"));
  EXPECT_THAT(proxy_error(iptables_of(kSynsOfLan, "NEW")), HasSubstr("invalid or untracked"));
  EXPECT_THAT(proxy_error(iptables_of(kSynsOfLan, "INVALID,UNTRACKED,ESTABLISHED")),
              HasSubstr("invalid or untracked"));
  EXPECT_THAT(proxy_error(iptables_of(kSynsOfLan, "INVALID")), HasSubstr("leaves untracked"));
  EXPECT_THAT(
      proxy_error(iptables_of(std::string("-A PREROUTING -s 10.0.0.0/8 -j ACCEPT\n") + kSynsOfLan)),
      HasSubstr("leaves untracked"));
  EXPECT_THAT(proxy_error(iptables_of("-A PREROUTING -p tcp -m tcp --tcp-flags SYN,ACK ACK -j CT "
                                      "--notrack\n")),
              HasSubstr("leaves untracked"))
      << "not of SYNs";
  EXPECT_THAT(proxy_error(iptables_of(kSynsOfLan, "INVALID,UNTRACKED", "--ecn")),
              HasSubstr("--ecn"));
  EXPECT_THAT(proxy_error(iptables_of(kSynsOfLan, "INVALID,UNTRACKED", "--wscale 7")),
              HasSubstr("need timestamp"));
}

}  // namespace
}  // namespace millrace
