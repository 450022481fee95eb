// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "services/functions/ids/rules/rule_match.hpp"

namespace millrace {

struct RegexLiteral {
  std::string bytes;  ///< 2..; with `nocase` in lower case
  bool nocase = false;
};

/// Bytes that stand in every match of the expression, between its begin and its end: the longest
/// ones that are found with a look at the expression's text. Nothing: there are none, or the
/// expression has what is not understood here (options within, references, names, `x`).
std::optional<RegexLiteral> required_literal(const PcreMatch& pcre);

}  // namespace millrace
