// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/rule_files.hpp"

/// The rule file of `match`: one rule a line. README.md in this folder has the format.

namespace millrace {

inline constexpr std::size_t kMatchLiteralBytesMax = 1024;
inline constexpr std::size_t kMatchNameBytesMax = 64;
inline constexpr std::size_t kMatchRuleCountMax = 65536;  ///< of all files of a function

/// In the order of strength: of all rules that match a packet, the first in this order counts.
enum class MatchAction : std::uint8_t { kDrop = 0, kClass = 1, kAlert = 2 };

struct MatchRule {
  MatchAction action = MatchAction::kAlert;
  bool nocase = false;           ///< A-Z and a-z are the same; other bytes stand for themselves
  std::uint8_t protocol = 0;     ///< 6 TCP, 17 UDP, 0 any
  std::uint16_t port = 0;        ///< source or destination of TCP or UDP; 0 any
  std::uint32_t class_mask = 0;  ///< one bit for kClass, else 0
  std::string name;     ///< 1..kMatchNameBytesMax printable bytes; "file:line" if not given
  std::string literal;  ///< 1..kMatchLiteralBytesMax bytes, of any value
};

using MatchClass = RuleClass;

struct MatchRuleFile {
  std::vector<MatchRule> rules;       ///< in the order of the file
  std::vector<std::string> refusals;  ///< "file:line: reason", one for each line that was refused
};

/// Parses `text`, the contents of `file` (used in messages). A line that is wrong is refused, the
/// others load. `classes`: what `class NAME` may name. Never throws for anything in `text`.
MatchRuleFile parse_match_rules(std::string_view text, const std::string& file,
                                std::span<const MatchClass> classes);

}  // namespace millrace
