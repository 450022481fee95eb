// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "services/functions/ids/rules/rule_draft.hpp"

/// How byte_test and its relatives say what number they read.

namespace millrace {

/// Words that all of them know: relative, big, little, string, hex, dec, oct, bitmask.
struct NumberOptions {
  NumberFormat format;
  bool relative = false, has_base = false;
};
/// Refused: a word that is known and not supported (dce). False: not one of these.
bool take_number_option(std::string_view text, NumberOptions& options);
/// With the number of bytes, which must fit: 1..8, of text up to 23 (oct), 20 (dec), 14 (hex).
NumberFormat format_of(std::string_view bytes, const NumberOptions& options,
                       const RuleDraft& draft);

/// The variable of that name: a new one, or that which is written again. Refused: too many.
std::uint8_t variable_for(std::string_view name, RuleDraft& draft);

}  // namespace millrace
