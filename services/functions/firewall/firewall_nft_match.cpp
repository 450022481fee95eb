// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_nft_match.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "services/functions/acl/acl_conditions.hpp"
#include "services/functions/acl/acl_match.hpp"
#include "services/functions/firewall/firewall_negation.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

using Json = nlohmann::json;

/// A word or a number, as text.
std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  throw AclRefusal{"compares with " + nft_word(value)};
}

/// Protocols as nft names them; numbers are decimal.
void set_protocol(const std::string& word, AclRule& rule) {
  const std::string_view name =
      word == "ipv6-icmp" || word == "icmpv6" ? std::string_view("icmp6") : word;
  rule.protocol = acl_protocol_of(name);
  if (rule.protocol == 0) {
    rule.protocol = static_cast<std::uint8_t>(acl_number(word, UINT8_MAX, "protocol"));
  }
  rule.protocol_mask = 0xff;
}

/// The first header behind that of IPv6 may be an extension, which no rule here compares.
void refuse_extension(const AclRule& rule) {
  constexpr std::array<std::uint8_t, 8> kExtensions = {0, 43, 44, 51, 60, 135, 139, 140};
  if (std::ranges::find(kExtensions, rule.protocol) == kExtensions.end()) return;
  throw AclRefusal{"compares with an extension header of IPv6"};
}

struct IcmpName {
  std::string_view nft, acl;
};
constexpr std::array kIcmpNames = {IcmpName{"destination-unreachable", "unreachable"},
                                   IcmpName{"nd-router-solicit", "router-solicitation"},
                                   IcmpName{"nd-router-advert", "router-advertisement"},
                                   IcmpName{"nd-neighbor-solicit", "neighbour-solicitation"},
                                   IcmpName{"nd-neighbor-advert", "neighbour-advertisement"},
                                   IcmpName{"nd-redirect", "redirect"}};

void set_icmp(const std::string& protocol, const std::string& word, AclRule& rule) {
  set_protocol(protocol, rule);
  std::string_view name = word;
  for (const IcmpName& known : kIcmpNames) {
    if (known.nft == word) name = known.acl;
  }
  acl_set_icmp(name, rule);
}

void set_address(const Json& value, bool ipv6, bool source, AclRule& rule) {
  std::string word;
  if (value.is_object() && value.contains("prefix")) {
    const Json& prefix = value["prefix"];
    word = text_of(prefix.at("addr")) + "/" + text_of(prefix.at("len"));
  } else {
    word = text_of(value);
  }
  const AclPrefix found = acl_prefix(word, false), any;
  if (found.families != (ipv6 ? kAclIpv6 : kAclIpv4)) {
    throw AclRefusal{quoted_word(word) + " is no address of its family"};
  }
  acl_set_addresses(source ? found : any, source ? any : found, kAclIpv4 | kAclIpv6, rule);
}

void set_ports(const Json& value, bool source, AclRule& rule) {
  std::string low, high;
  if (value.is_object() && value.contains("range")) {
    low = text_of(value["range"].at(0));
    high = text_of(value["range"].at(1));
  } else {
    low = high = text_of(value);
  }
  const AclPortRange range = acl_port_range(low, high), any;
  acl_set_ports(source ? range : any, source ? any : range, rule);
}

std::string letters_of(const Json& names) {
  constexpr std::array<std::pair<std::string_view, char>, 8> kFlags = {{{"fin", 'F'},
                                                                        {"syn", 'S'},
                                                                        {"rst", 'R'},
                                                                        {"psh", 'P'},
                                                                        {"ack", 'A'},
                                                                        {"urg", 'U'},
                                                                        {"ecn", 'E'},
                                                                        {"cwr", 'W'}}};
  std::string out;
  const Json list = names.is_array() ? names : Json::array({names});
  for (const Json& name : list) {
    const std::string word = text_of(name);
    char letter = 0;
    for (const auto& [known, byte] : kFlags) letter = known == word ? byte : letter;
    if (letter == 0) throw AclRefusal{quoted_word(word) + " is no TCP flag"};
    out += letter;
  }
  return out;
}

void set_payload(const Json& payload, const Json& value, AclRule& rule) {
  const std::string protocol = text_of(payload.at("protocol"));
  const std::string field = text_of(payload.at("field"));
  const bool ipv6 = protocol == "ip6";
  if (protocol == "ip" || ipv6) {
    rule.families = ipv6 ? kAclIpv6 : kAclIpv4;
    if (field == "saddr" || field == "daddr") {
      return set_address(value, ipv6, field == "saddr", rule);
    }
    if (field == "protocol" || field == "nexthdr") {
      set_protocol(text_of(value), rule);
      if (ipv6) refuse_extension(rule);
      return;
    }
    if (field == "dscp") return acl_set_dscp(text_of(value), rule);
  } else if ((protocol == "icmp" || protocol == "icmpv6") && field == "type") {
    rule.families = protocol == "icmp" ? kAclIpv4 : kAclIpv6;
    return set_icmp(protocol, text_of(value), rule);
  } else if (field == "sport" || field == "dport") {
    if (protocol != "th") set_protocol(protocol, rule);
    return set_ports(value, field == "sport", rule);
  }
  throw AclRefusal{"compares " + quoted_word(protocol + " " + field)};
}

void set_meta(const std::string& key, const Json& value, std::span<const FirewallPort> ports,
              AclRule& rule) {
  const std::string word = text_of(value);
  if (key == "iifname" || key == "iif") return firewall_set_inputs(word, ports, rule);
  if (key == "l4proto") return set_protocol(word, rule);
  if (key == "oifname" || key == "oif") {
    throw AclRefusal{"compares 'meta " + key + "': route, behind this, chooses the way out"};
  }
  if (key != "nfproto" && key != "protocol") throw AclRefusal{"compares 'meta " + key + "'"};
  if (word == "ipv4" || word == "ip") {
    rule.families = kAclIpv4;
  } else if (word == "ipv6" || word == "ip6") {
    rule.families = kAclIpv6;
  } else {
    throw AclRefusal{"compares with protocol " + quoted_word(word)};
  }
}

bool is_tcp_flags(const Json& left) {
  if (!left.contains("&") || !left["&"].at(0).contains("payload")) return false;
  const Json& payload = left["&"].at(0)["payload"];
  return text_of(payload.at("protocol")) == "tcp" && text_of(payload.at("field")) == "flags";
}

AclRule match_of(const Json& left, const Json& value, std::span<const FirewallPort> ports) {
  AclRule rule = firewall_any();
  if (value.is_string() && value.get<std::string>().starts_with('@')) {
    throw AclRefusal{"compares with the named set " + value.get<std::string>()};
  }
  if (value == "*") throw AclRefusal{"compares with '*', which is what the others are not"};
  if (left.contains("payload")) {
    set_payload(left["payload"], value, rule);
  } else if (left.contains("meta")) {
    set_meta(text_of(left["meta"].at("key")), value, ports, rule);
  } else if (left.contains("ct") && text_of(left["ct"].at("key")) == "state") {
    firewall_set_states(text_of(value), rule);
  } else if (is_tcp_flags(left)) {
    set_protocol("tcp", rule);
    acl_set_flags(letters_of(value) + "/" + letters_of(left["&"].at(1)), rule);
  } else {
    throw AclRefusal{"compares " + nft_word(left)};
  }
  return rule;
}

struct NegatedField {
  std::string_view name;
  FirewallField field;
};
constexpr std::array kPayloadFields = {NegatedField{"saddr", FirewallField::kSource},
                                       NegatedField{"daddr", FirewallField::kDestination},
                                       NegatedField{"sport", FirewallField::kSourcePort},
                                       NegatedField{"dport", FirewallField::kDestinationPort},
                                       NegatedField{"protocol", FirewallField::kProtocol},
                                       NegatedField{"nexthdr", FirewallField::kProtocol},
                                       NegatedField{"type", FirewallField::kIcmp}};
constexpr std::array kMetaFields = {NegatedField{"iifname", FirewallField::kInput},
                                    NegatedField{"iif", FirewallField::kInput},
                                    NegatedField{"l4proto", FirewallField::kProtocol}};

/// Fields of which "all but that" is something else to the kernel: `th` reads the bytes of any
/// transport, and the first header behind that of IPv6 may be an extension.
void refuse_negated(const Json& left) {
  if (!left.contains("payload")) return;
  const Json& payload = left["payload"];
  if (text_of(payload.at("protocol")) == "th") {
    throw AclRefusal{
        "compares 'th' by '!=', which no rule here can say of protocols without ports"};
  }
  if (text_of(payload.at("field")) == "nexthdr") {
    throw AclRefusal{"compares 'ip6 nexthdr' by '!='; 'meta l4proto' looks behind extensions"};
  }
}

FirewallField negated_field(const Json& left) {
  if (is_tcp_flags(left)) return FirewallField::kFlags;
  if (left.contains("ct") && text_of(left["ct"].at("key")) == "state") {
    return FirewallField::kState;
  }
  std::string name;
  std::span<const NegatedField> fields = kPayloadFields;
  if (left.contains("payload")) {
    name = text_of(left["payload"].at("field"));
  } else if (left.contains("meta")) {
    name = text_of(left["meta"].at("key"));
    fields = kMetaFields;
  }
  const auto found = std::ranges::find(fields, name, &NegatedField::name);
  if (found == fields.end()) throw AclRefusal{"compares " + nft_word(left) + " by '!='"};
  return found->field;
}

}  // namespace

std::string nft_word(const Json& value) {
  if (value.is_object() && !value.empty()) return quoted_word(value.begin().key());
  return value.is_string() ? quoted_word(value.get<std::string>()) : value.type_name();
}

std::vector<AclRule> nft_matches(const Json& left, const Json& right,
                                 std::span<const FirewallPort> ports) {
  const bool is_set = right.is_object() && right.contains("set");
  const Json& values = is_set ? right["set"] : right;
  std::vector<AclRule> out;
  // Of flags an array is one value, unless it is that of a set; of all others a list of them.
  if (!values.is_array() || (left.contains("&") && !is_set)) return {match_of(left, values, ports)};
  for (const Json& value : values) out.push_back(match_of(left, value, ports));
  return out;
}

std::vector<AclRule> nft_all_but(const Json& left, const Json& right,
                                 std::span<const FirewallPort> ports) {
  refuse_negated(left);
  return firewall_all_but(negated_field(left), nft_matches(left, right, ports));
}

}  // namespace millrace
