// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Lists of a rule's head: "[10.0.0.0/8, !10.1.0.0/16, $OTHERS]", "![80,8000:8080]".

namespace millrace {

using RuleVariables = std::map<std::string, std::string, std::less<>>;

/// Lists in lists, and variables that name variables, go so deep.
inline constexpr std::size_t kRuleListDepthMax = 32;
/// Items of one list with all its variables.
inline constexpr std::size_t kRuleListItemsMax = 1u << 16;

/// One of a list: a word, or a list by itself because it is negated.
struct RuleListItem {
  std::string word;  ///< empty: `list`
  bool negated = false;
  std::vector<RuleListItem> list;
};
/// Puts the values of variables in their places. Lists in lists that are not negated are no lists
/// of their own, as in Suricata: [10.0.0.0/8, [!10.1.0.0/16]] is [10.0.0.0/8, !10.1.0.0/16]. Throws
/// RuleRefused without a keyword.
std::vector<RuleListItem> read_rule_list(std::string_view text, const RuleVariables& variables);

}  // namespace millrace
