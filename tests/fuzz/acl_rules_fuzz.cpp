// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as a rule file: each line is a rule, a refusal or nothing; what was accepted keeps the
// limits, and written out again it is read as the same rule.

#include <arpa/inet.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/acl/acl_text.hpp"
#include "shared/base/check.hpp"

namespace {

using millrace::AclAction;
using millrace::AclRule;

const std::vector<millrace::RuleClass> kClasses = {{"a", 1}, {"video", 64}};

std::string prefix_of(const std::uint8_t* bytes, unsigned length, std::uint8_t families) {
  if (families == (millrace::kAclIpv4 | millrace::kAclIpv6)) return "any";
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(families == millrace::kAclIpv4 ? AF_INET : AF_INET6, bytes, text, sizeof text);
  return std::string(text) + "/" + std::to_string(length);
}

std::string flags_of(unsigned bits) {
  std::string letters;
  for (unsigned bit = 0; bit < 8; ++bit) {
    if ((bits >> bit & 1) != 0) letters += "FSRPAUEW"[bit];
  }
  return letters.empty() ? "0" : letters;
}

std::string conditions_of(const AclRule& rule) {
  std::string line;
  const unsigned fragments = (~rule.marks_mask & millrace::kAclFragmentBits) >> 8;
  const char* const names[] = {"", "no", "first", "", "later", "", "any", ""};
  MILLRACE_CHECK(fragments == 7 || names[fragments][0] != 0);
  if (fragments != 7) line += std::string(" fragment ") + names[fragments];
  if ((rule.marks_mask & millrace::kAclDscpBits) != 0) {
    line += " dscp " + std::to_string(rule.marks & millrace::kAclDscpBits);
  }
  if ((rule.marks_mask & millrace::kAclNoIcmp) != 0) {
    line += " icmp " + std::to_string(rule.icmp_low >> 8);
    if (rule.icmp_low == rule.icmp_high) line += "/" + std::to_string(rule.icmp_low & 0xff);
  }
  if (rule.vlan_low == millrace::kAclNoTag) return line + " vlan none";
  if (rule.vlan_high == UINT16_MAX) return line;
  return line + " vlan " + std::to_string(rule.vlan_low) + "-" + std::to_string(rule.vlan_high);
}

std::string written(const AclRule& rule) {
  const char* const actions[] = {"drop", "pass", "alert", "class", "reject"};
  std::string line = actions[rule.action];
  if (rule.class_mask != 0) line += rule.class_mask == 1 ? " a" : " video";
  line += " " + std::to_string(rule.protocol) + "/" + std::to_string(rule.protocol_mask) + " ";
  const auto ports = [](unsigned low, unsigned high) {
    return " port " + std::to_string(low) + "-" + std::to_string(high);
  };
  line += prefix_of(rule.source, rule.source_length, rule.families);
  line += ports(rule.source_port_low, rule.source_port_high) + " -> ";
  line += prefix_of(rule.destination, rule.destination_length, rule.families);
  line += ports(rule.destination_port_low, rule.destination_port_high);
  if (rule.flags_mask != 0) {
    line += " flags " + flags_of(rule.flags) + "/" + flags_of(rule.flags_mask);
  }
  return line + conditions_of(rule) + (rule.log != 0 ? " log" : "");
}

/// A rule of ClassBench may ask ports of a protocol that has none; our own format refuses that.
bool can_be_written(const AclRule& rule) {
  AclRule without_flags = rule;
  without_flags.flags_mask = 0;
  return !millrace::acl_asks_for_ports(without_flags) || rule.protocol_mask != 0xff ||
         millrace::acl_protocol_has_ports(rule.protocol);
}

void check_rule(const millrace::AclNamedRule& named) {
  const AclRule& rule = named.rule;
  MILLRACE_CHECK(!named.name.empty() && named.name.size() <= millrace::kAclNameBytesMax);
  MILLRACE_CHECK(rule.action <= static_cast<std::uint8_t>(AclAction::kReject));
  MILLRACE_CHECK((rule.action == static_cast<std::uint8_t>(AclAction::kClass)) ==
                 (rule.class_mask != 0));
  MILLRACE_CHECK(rule.families >= 1 && rule.families <= 3);
  MILLRACE_CHECK(rule.source_port_low <= rule.source_port_high);
  MILLRACE_CHECK((rule.protocol & ~rule.protocol_mask) == 0);
  MILLRACE_CHECK(rule.vlan_low <= rule.vlan_high && rule.icmp_low <= rule.icmp_high);
  if (!can_be_written(rule)) return;
  const auto again = millrace::parse_acl_rules(written(rule), "f", kClasses);
  MILLRACE_CHECK(again.refusals.empty() && again.rules.size() == 1);
  MILLRACE_CHECK(std::memcmp(&again.rules[0].rule, &rule, sizeof rule) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = millrace::parse_acl_rules(text, "fuzz.rules", kClasses);
  std::size_t lines = 1;
  for (const char byte : text) lines += byte == '\n' ? 1 : 0;
  MILLRACE_CHECK(file.rules.size() + file.refusals.size() <= lines);
  for (const millrace::AclNamedRule& rule : file.rules) check_rule(rule);
  return 0;
}
