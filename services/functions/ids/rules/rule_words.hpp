// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/rules/rule_draft.hpp"

/// The outer form of rules: which lines make one, and its words.

namespace millrace {

inline constexpr std::size_t kRuleBytesMax = 64u << 10;

/// A rule as it stands in a file: its lines in one.
struct RuleText {
  std::size_t line;  ///< of its first line, from 1
  std::string text;  ///< without blanks around; of a rule that is commented out without `#`
  bool disabled = false;
};
/// All rules of a text, and lines that are none but no comments either. A line that ends in a
/// backslash goes on with the next one; a rule whose parenthesis is open goes on up to the line
/// that closes it or the next rule (Snort 3). Comments that look like a rule are disabled rules;
/// other comments, and those of C between rules, are left out.
std::vector<RuleText> split_rules(std::string_view text);

struct RuleHead {
  std::string action, protocol;
  bool has_addresses = false;  ///< false: "alert http (" of Snort 3; what follows is empty
  std::string source, source_ports, direction, destination, destination_ports;
};
struct RuleWords {
  RuleHead head;
  std::vector<RuleOption> options;
};
/// Splits "action protocol addresses ports -> addresses ports (options)". Blanks in lists belong to
/// them. Throws RuleRefused without a keyword.
RuleWords split_rule(std::string_view text);

/// The rule is of Snort 3: no addresses in its head, an option that only Snort 3 has, modifiers
/// behind a content's quotes, or a modifier's name in front of all contents (there it is sticky).
bool is_of_snort3(const RuleWords& words);

/// Without blanks (space, tab, CR) around.
std::string_view without_blanks(std::string_view text) noexcept;

}  // namespace millrace
