// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/function.hpp"

/// `acl`: a packet filter over addresses, ports and protocol. README.md in this folder says what a
/// rule is; of those that match, the first counts. Result word of a packet: its number plus 1, or
/// a word of acl_rule.hpp. hits[number] counts it; behind the rules, in the order of AclExtra, what
/// matched none.

namespace millrace {

/// Counters behind those of the rules.
enum AclExtra : std::uint8_t {
  kAclHitsDefault = 0,  ///< IP, and no rule matched
  kAclHitsNotIp = 1,
  kAclHitsWrong =
      2,  ///< result words that name no rule, from a device gone wrong: as kAclHitsDefault
  kAclHitsHidden = 3,  ///< dropped whatever the rules say: acl_hides_transport()
  kAclExtraCount
};

FunctionType acl_type();

/// Of the rule files of an acl, the first with a rule that rejects; empty: none. For `validate`.
/// Throws Error.
std::string acl_file_that_rejects(const PlanFunction& function);

}  // namespace millrace
