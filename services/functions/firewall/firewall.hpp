// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/function.hpp"

/// `firewall`: a packet filter that knows connections. README.md in this folder says what a rule
/// is; of those that match, the first counts. hits[number] counts packets of a rule, behind the
/// rules those of AclExtra (services/functions/acl/acl.hpp).

namespace millrace {

FunctionType firewall_type();

/// Of the files of a firewall, the first that seems to have a rule that rejects; empty: none. For
/// `validate`, which does not parse them. Throws Error.
std::string firewall_file_that_rejects(const PlanFunction& function);
/// Likewise, with a rule of synproxy.
std::string firewall_file_of_synproxy(const PlanFunction& function);

}  // namespace millrace
