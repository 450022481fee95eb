// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_head.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "services/functions/ids/rules/rule_addresses.hpp"
#include "shared/base/ascii.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

[[noreturn]] void refuse(std::string reason) { throw RuleRefused{"", std::move(reason)}; }

struct NamedAction {
  std::string_view name;
  RuleAction action;
  RejectTo to = RejectTo::kSource;
};
constexpr std::array kActions = {
    NamedAction{"alert", RuleAction::kAlert},
    NamedAction{"drop", RuleAction::kDrop},
    NamedAction{"block", RuleAction::kDrop},  // Snort 3: this packet and all of its flow
    NamedAction{"pass", RuleAction::kPass},
    NamedAction{"reject", RuleAction::kReject},
    NamedAction{"rejectsrc", RuleAction::kReject},
    NamedAction{"rejectdst", RuleAction::kReject, RejectTo::kDestination},
    NamedAction{"rejectboth", RuleAction::kReject, RejectTo::kBoth},
};

struct NamedProtocol {
  std::string_view name;
  RuleProtocol protocol;
};
constexpr std::array kProtocols = {
    NamedProtocol{"ip", RuleProtocol::kIp},
    NamedProtocol{"tcp", RuleProtocol::kTcp},
    NamedProtocol{"tcp-pkt", RuleProtocol::kTcpPacket},
    NamedProtocol{"tcp-stream", RuleProtocol::kTcpStream},
    NamedProtocol{"udp", RuleProtocol::kUdp},
    NamedProtocol{"icmp", RuleProtocol::kIcmp},
    NamedProtocol{"sctp", RuleProtocol::kSctp},
    NamedProtocol{"http", RuleProtocol::kHttp},
    NamedProtocol{"http1", RuleProtocol::kHttp1},
    NamedProtocol{"http2", RuleProtocol::kHttp2},
    NamedProtocol{"file", RuleProtocol::kHttp},
    NamedProtocol{"tls", RuleProtocol::kTls},
    NamedProtocol{"ssl", RuleProtocol::kTls},
    NamedProtocol{"dns", RuleProtocol::kDns},
    NamedProtocol{"ssh", RuleProtocol::kSsh},
    NamedProtocol{"smtp", RuleProtocol::kSmtp},
    NamedProtocol{"ftp", RuleProtocol::kFtp},
    NamedProtocol{"smb", RuleProtocol::kSmb},
};
/// Those whose names may have a version of IP at their end.
constexpr std::array<std::string_view, 4> kVersioned = {"ip", "tcp", "udp", "icmp"};

void read_action(std::string_view word, Signature& rule) {
  const auto* const found = std::ranges::find(kActions, word, &NamedAction::name);
  if (found == kActions.end()) {
    refuse("the action " + quoted_word(word) +
           " is none of alert, drop, block, pass, reject, rejectsrc, rejectdst, rejectboth");
  }
  rule.action = found->action;
  rule.reject_to = found->to;
}

struct ReadProtocol {
  RuleProtocol protocol;
  std::uint8_t version;  ///< 0: both
};
ReadProtocol read_protocol(std::string_view word) {
  constexpr std::uint8_t kIpv4 = 4, kIpv6 = 6;
  std::string name = in_lower_case(word);
  std::uint8_t version = 0;
  if (name.ends_with('4') || name.ends_with('6')) {
    std::string base = name.substr(0, name.size() - 1);
    if (base.ends_with('v')) base.pop_back();
    if (std::ranges::find(kVersioned, base) != kVersioned.end()) {
      version = name.back() == '4' ? kIpv4 : kIpv6;
      name = base;
    }
  }
  const auto* const found = std::ranges::find(kProtocols, name, &NamedProtocol::name);
  if (found == kProtocols.end()) {
    refuse("the protocol " + quoted_word(word) +
           " is none of ip, tcp, tcp-pkt, tcp-stream, udp, icmp, sctp, http, tls, dns, ssh, smtp, "
           "ftp, smb");
  }
  return {found->protocol, version};
}

/// Throws for an end whose addresses are all of the other version.
void restrict_addresses(std::uint8_t version, AddressSet& set) {
  set = addresses_of_version(set, version);
  if (set.ranges.empty()) {
    refuse("none of its addresses is of IPv" + std::to_string(version) + ", which its protocol is");
  }
}

}  // namespace

void read_rule_head(const RuleHead& head, const RuleVariables& variables, Signature& rule) {
  read_action(head.action, rule);
  const auto [protocol, version] = read_protocol(head.protocol);
  rule.protocol = protocol;
  if (head.has_addresses) {
    rule.source = read_rule_addresses(head.source, variables);
    rule.source_ports = read_rule_ports(head.source_ports, variables);
    rule.destination = read_rule_addresses(head.destination, variables);
    rule.destination_ports = read_rule_ports(head.destination_ports, variables);
    if (head.direction != "->" && head.direction != "<>") {
      refuse("the direction " + quoted_word(head.direction) + " is none of '->', '<>'");
    }
    rule.both_ways = head.direction == "<>";
  }
  if (version == 0) return;
  restrict_addresses(version, rule.source);
  restrict_addresses(version, rule.destination);
}

}  // namespace millrace
