// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/ids/rules/rule_list.hpp"
#include "services/functions/ids/rules/rule_words.hpp"
#include "services/functions/ids/rules/signature.hpp"

namespace millrace {

/// Reads action, protocol, addresses, ports and direction into `rule`. Protocols with a version at
/// their end (ip4, ipv6, icmpv6, tcp4, udp6, ...) leave addresses of that version alone. Snort 3's
/// `file` is http: bodies are looked at there. Throws RuleRefused without a keyword.
void read_rule_head(const RuleHead& head, const RuleVariables& variables, Signature& rule);

}  // namespace millrace
