// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/ids/rules/rule_match.hpp"

/// What kind of test a Match is, for those that plan its place among others.

namespace millrace {

/// It goes on from where the match before has ended.
bool is_relative(const Match& test) noexcept;
/// What goes on from it goes on from its end.
bool sets_cursor(const Match& test) noexcept;
/// It can pass at several places: a positive content or pcre.
bool is_choice(const Match& test) noexcept;
/// A relative test that leaves the cursor where it was or behind that.
bool goes_forward(const Match& test) noexcept;
/// Some number of it is a variable.
bool uses_variables(const Match& test) noexcept;
/// Negated, or about the end of the buffer. Of a pcre only whether it is negated.
bool is_about_absence(const Match& test) noexcept;

}  // namespace millrace
