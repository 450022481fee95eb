// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/acl/acl_rule.hpp"
#include "services/functions/rule_files.hpp"

/// The rule file of `acl`: one rule a line, in our own format or in ClassBench's. README.md in this
/// folder has both.

namespace millrace {

inline constexpr std::size_t kAclNameBytesMax = 64;

struct AclNamedRule {
  AclRule rule{};    ///< name_offset and name_bytes are not set
  std::string name;  ///< 1..kAclNameBytesMax printable bytes; "file:line" if not given
};

struct AclRuleFile {
  std::vector<AclNamedRule> rules;    ///< in the order of the file
  std::vector<std::string> refusals;  ///< "file:line: reason", one for each line that was refused
};

/// Parses `text`, the contents of `file` (used in messages). A line that is wrong is refused, the
/// others load. `classes`: what `class NAME` may name. Never throws for anything in `text`.
AclRuleFile parse_acl_rules(std::string_view text, const std::string& file,
                            std::span<const RuleClass> classes);

}  // namespace millrace
