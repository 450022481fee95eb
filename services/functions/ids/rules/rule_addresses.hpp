// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "services/functions/ids/rules/rule_list.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// Addresses and ports of a rule's head. All throw RuleRefused without a keyword.

namespace millrace {

/// "any", "10.0.0.0/8", "10.0.0.0/255.0.0.0", "10.0.0.1-10.0.0.9", of IPv6 likewise, and lists of
/// these. What is negated is taken away from the rest of its list; a list of negations alone is all
/// others of both versions. A list that no address is left of is refused.
AddressSet read_rule_addresses(std::string_view text, const RuleVariables& variables);
/// "any", "80", "1024:", ":1023", "80:90", and lists of these; likewise.
PortSet read_rule_ports(std::string_view text, const RuleVariables& variables);

/// Those of `addresses` that are of one version of IP, which may be none.
AddressSet addresses_of_version(const AddressSet& addresses, std::uint8_t version);

}  // namespace millrace
