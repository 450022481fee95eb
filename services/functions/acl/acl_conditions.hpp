// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "services/functions/acl/acl_rule.hpp"
#include "services/functions/acl/acl_words.hpp"

/// Options of a rule that are conditions beside addresses, ports, protocol and flags: VLAN, DSCP,
/// fragments, ICMP.

namespace millrace {

/// Reads what stands behind `option` and returns true; false: it is none of these options. The
/// protocol of `rule` is known. Throws AclRefusal.
bool acl_read_condition(AclLine& line, std::string_view option, AclRule& rule);

/// "10" or "10-20" of tags, or "none".
void acl_set_vlan(std::string_view word, AclRule& rule);
/// A number up to 63, or a name: cs0 to cs7, af11 to af43, ef (RFC 2474, RFC 2597, RFC 3246).
void acl_set_dscp(std::string_view word, AclRule& rule);
/// "first", "later", "any" (of them), "no".
void acl_set_fragment(std::string_view word, AclRule& rule);
/// TYPE or TYPE/CODE, numbers or names of types; the protocol of `rule` is icmp or icmp6.
void acl_set_icmp(std::string_view word, AclRule& rule);

/// Of the marks in `group` the rule allows those of `allowed`.
constexpr void acl_allow_marks(std::uint32_t group, std::uint32_t allowed, AclRule& rule) {
  rule.marks_mask |= group & ~allowed;
}

}  // namespace millrace
