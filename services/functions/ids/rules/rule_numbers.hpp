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
  bool may_be_open = false;  ///< text may have 0 bytes: as many as there are (byte_test, byte_jump)
  bool may_be_none = false;  ///< binary may have 0 bytes (byte_jump)
};
/// Refused: a word that is known and not supported (dce). False: not one of these.
bool take_number_option(std::string_view text, NumberOptions& options);
/// With the number of bytes, which must fit: 1..8, of text up to 23 (oct and without a
/// base), 20 (dec), 14 (hex); 0 where `options` say so.
NumberFormat format_of(std::string_view bytes, const NumberOptions& options,
                       const RuleDraft& draft);

/// The variable of that name: a new one, or that which is written again. Refused: too many.
std::uint8_t variable_for(std::string_view name, RuleDraft& draft);

}  // namespace millrace
