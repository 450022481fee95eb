// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/firewall_nft_limits.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "services/functions/acl/acl_words.hpp"
#include "services/functions/firewall/firewall_nft_match.hpp"

namespace millrace {
namespace {

using Json = nlohmann::json;

/// nft's numbers have 64 bits.
std::uint32_t number32(std::uint64_t number) {
  if (number > UINT32_MAX) throw AclRefusal{"the number " + std::to_string(number)};
  return static_cast<std::uint32_t>(number);
}

void set_rate(const Json& limit, std::uint8_t bits, AclRule& limits) {
  constexpr std::uint64_t kBurst = 5;
  if (limits.limit_interval != 0) throw AclRefusal{"two limits"};
  if (limit.contains("rate_unit")) throw AclRefusal{"a limit of bytes"};
  if (limit.value("inv", false)) bits |= kRuleRateOver;
  firewall_set_limit(limit.at("rate").get<std::uint64_t>(), limit.at("per").get<std::string>(),
                     number32(limit.value("burst", kBurst)), bits, limits);
}

void set_connections(const Json& count, std::uint8_t bits, AclRule& limits) {
  if ((limits.limits & kRuleConnections) != 0) throw AclRefusal{"two limits of connections"};
  if (count.value("inv", false)) bits |= kRuleConnectionsOver;
  firewall_set_connections(number32(count.at("val").get<std::uint64_t>()), bits, limits);
}

/// The family of `ip saddr` and `ip6 saddr`.
std::uint8_t family_of_source(const Json& key) {
  if (key.is_object() && key.contains("payload")) {
    const Json& payload = key["payload"];
    const std::string protocol = payload.value("protocol", "");
    const bool ip = protocol == "ip" || protocol == "ip6";
    if (ip && payload.value("field", "") == "saddr") return protocol == "ip" ? kAclIpv4 : kAclIpv6;
  }
  throw AclRefusal{"counts for each of what is no source address"};
}

/// `key`: of a source, or of what `& MASK` leaves of it; `bits` becomes how many bits that are.
const Json& without_mask(const Json& key, std::uint8_t (&bits)[2]) {
  if (!key.is_object() || !key.contains("&")) return key;
  const Json& parts = key["&"];
  const std::string text = parts.at(1).get<std::string>();
  const AclPrefix mask = acl_prefix(text, false);
  const std::size_t whole = mask.families == kAclIpv4 ? 32 : 128;
  const auto is_set = [&](std::size_t bit) { return (mask.bytes[bit / 8] >> (7 - bit % 8) & 1); };
  std::size_t length = 0;
  while (length < whole && is_set(length) != 0) ++length;
  for (std::size_t bit = length; bit < whole; ++bit) {
    if (is_set(bit) != 0) throw AclRefusal{"the mask " + text + " is of no network"};
  }
  if (length == 0) throw AclRefusal{"the mask " + text + " leaves nothing"};
  if (length < whole) bits[whole == 32 ? 0 : 1] = static_cast<std::uint8_t>(length);
  return parts.at(0);
}

/// `statements`: one, or an array of one. Rules with the same `name` and mask share what
/// they know of a source.
void set_of_source(const Json& key, const Json& statements, const std::string& name,
                   AclRule& limits) {
  std::uint8_t bits[2] = {};
  const std::uint8_t family = family_of_source(without_mask(key, bits));
  if (statements.is_array() && statements.size() != 1) throw AclRefusal{"several for each source"};
  const Json& statement = statements.is_array() ? statements[0] : statements;
  if (statement.contains("limit")) {
    set_rate(statement["limit"], kRuleRatePerSource, limits);
    limits.limit_group = firewall_group(name);
    std::ranges::copy(bits, limits.rate_bits);
  } else if (statement.contains("ct count")) {
    set_connections(statement["ct count"], kRuleConnectionsPerSource, limits);
    // With another mask the same set counts other networks.
    const std::string mask = "/" + std::to_string(bits[0]) + "," + std::to_string(bits[1]);
    limits.connection_group = firewall_group(name + mask) | 1;
    std::ranges::copy(bits, limits.connection_bits);
  } else {
    throw AclRefusal{nft_word(statement) + " for each source"};
  }
  limits.families &= family;
}

}  // namespace

bool nft_is_limit(const Json& expression) {
  return expression.contains("limit") || expression.contains("ct count") ||
         expression.contains("set") || expression.contains("meter");
}

void nft_read_limit(const Json& expression, const std::string& table, AclRule& limits) {
  if (expression.contains("limit")) return set_rate(expression["limit"], 0, limits);
  if (expression.contains("ct count")) return set_connections(expression["ct count"], 0, limits);
  if (expression.contains("meter")) {
    const Json& meter = expression["meter"];
    const std::string name = table + "@" + meter.at("name").get<std::string>();
    return set_of_source(meter.at("key"), meter.at("stmt"), name, limits);
  }
  const Json& set = expression["set"];
  const std::string how = set.at("op").get<std::string>();
  if (how != "add" && how != "update") throw AclRefusal{"set by '" + how + "'"};
  if (!set.contains("stmt")) throw AclRefusal{"a set without a limit"};
  set_of_source(set.at("elem"), set["stmt"], table + set.at("set").get<std::string>(), limits);
}

}  // namespace millrace
