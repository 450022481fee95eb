// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/overlap_policies.hpp"

#include <algorithm>
#include <string_view>

#include "services/functions/ids/rules/rule_addresses.hpp"
#include "services/functions/ids/rules/rule_draft.hpp"
#include "shared/base/error.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

bool is_within(const AddressRange& inner, const AddressRange& outer) {
  return inner.version == outer.version && outer.low <= inner.low && inner.high <= outer.high;
}

Error refusal_of(const std::string& value, const std::string& why) {
  return Error("overlaps is '" + value + "': " + why);
}

/// `value`: that it is of.
AddressRange range_of(std::string_view prefix, const std::string& value) {
  const std::string why = "'" + std::string(prefix) + "' is no address or network";
  // Lists, ranges and names are of rules.
  if (prefix.find_first_not_of("0123456789abcdefABCDEF.:/") != prefix.npos)
    throw refusal_of(value, why);
  try {
    const AddressSet read = read_rule_addresses(prefix, {});
    if (read.ranges.size() != 1) throw refusal_of(value, why);
    return read.ranges.front();
  } catch (const RuleRefused&) {
    throw refusal_of(value, why);
  }
}

}  // namespace

void OverlapPolicies::put(const Prefix& prefix, const std::string& value) {
  const auto around = std::ranges::find_if(
      prefixes_, [&](const Prefix& other) { return is_within(prefix.range, other.range); });
  if (around != prefixes_.end() && is_within(around->range, prefix.range)) {
    throw refusal_of(value, "these addresses have a system already");
  }
  prefixes_.insert(around, prefix);
}

void OverlapPolicies::add(const std::string& value) {
  if (++values_ > kValuesMax) {
    throw refusal_of(value, "there are more than " + std::to_string(kValuesMax) + " of them");
  }
  const std::size_t equals = value.find('=');
  const std::string name = equals == value.npos ? value : value.substr(equals + 1);
  const auto policy = overlap_policy(name);
  if (!policy) throw refusal_of(value, no_such("system", name, overlap_policy_names()));
  if (equals != value.npos) {
    return put({range_of(std::string_view(value).substr(0, equals), value), *policy}, value);
  }
  for (const char* all : {"0.0.0.0/0", "::/0"}) put({range_of(all, value), *policy}, value);
}

OverlapPolicy OverlapPolicies::of(const FlowTuple& tuple, std::uint8_t direction) const noexcept {
  const Ipv6Bytes& address = direction == 0 ? tuple.destination : tuple.source;
  for (const Prefix& prefix : prefixes_) {
    if (prefix.range.contains(tuple.version, address)) return prefix.policy;
  }
  return OverlapPolicy::kNone;
}

}  // namespace millrace
