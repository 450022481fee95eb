// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "services/functions/firewall/firewall_rules.hpp"

/// One comparison of a rule of nft, as JSON (libnftables-json(5)).

namespace millrace {

/// What a message calls a value: a key, a word, or what kind of value it is.
std::string nft_word(const nlohmann::json& value);

/// What `left` compared with `right` matches: any of these. Throws AclRefusal for what is not
/// understood.
std::vector<AclRule> nft_matches(const nlohmann::json& left, const nlohmann::json& right,
                                 std::span<const FirewallPort> ports);

/// Likewise of `left` != `right`.
std::vector<AclRule> nft_all_but(const nlohmann::json& left, const nlohmann::json& right,
                                 std::span<const FirewallPort> ports);

}  // namespace millrace
