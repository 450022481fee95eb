// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "services/functions/firewall/firewall_rules.hpp"

/// Statements of nft that limit, as JSON (libnftables-json(5)): `limit`, `ct count`, and these for
/// each source by `add @set { ip saddr ... }`, `update`, or `meter`.

namespace millrace {

bool nft_is_limit(const nlohmann::json& expression);

/// Puts what nft_is_limit() is true for into `limits`, which has none of its kind so far; where it
/// is for each source, with the family of that. `table`: in front of names of sets. Throws
/// AclRefusal, or what the reader of JSON throws.
void nft_read_limit(const nlohmann::json& expression, const std::string& table, AclRule& limits);

}  // namespace millrace
