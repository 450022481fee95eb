// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/ids/rules/rule_draft.hpp"

/// Where tests of a draft go: which buffer each of them is about.

namespace millrace {

/// Puts a test behind those of the buffer that is sticky at the moment; without one, of the
/// payload.
void add_test(RuleDraft& draft, Match test);
/// The same of a test that is relative to the one before. Suricata: where no buffer is sticky, it
/// goes to the buffer of the test before.
void add_relative_test(RuleDraft& draft, Match test);
/// To a buffer that the keyword names by itself.
void add_test_to(RuleDraft& draft, RuleBuffer buffer, Match test);

/// The content that a modifier is about. Refused: there is none.
ContentMatch& last_content_of(RuleDraft& draft);
/// Moves that content to another buffer.
void move_last_content(RuleDraft& draft, RuleBuffer buffer);

/// Leaves out buffers that no test is about.
void drop_empty_buffers(RuleDraft& draft);

}  // namespace millrace
