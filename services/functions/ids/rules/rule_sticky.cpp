// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_places.hpp"
#include "services/functions/ids/rules/rule_values.hpp"

/// Which buffer the tests of a rule are about.

namespace millrace {
namespace {

void stick_to(RuleBuffer buffer, RuleDraft& draft) {
  draft.buffer = buffer;
  draft.transforms.clear();
  draft.last_content.reset();
  draft.begins_value = traits_of(buffer).many;
  draft.at_buffer = true;
}

}  // namespace

bool apply_sticky_buffer(const RuleOption& option, RuleDraft& draft) {
  const std::optional<RuleBuffer> buffer =
      draft.is_snort3 ? find_snort3_buffer(option.name) : find_sticky_buffer(option.name);
  if (!buffer) return false;
  if (option.has_value) refuse_rule("a part of that buffer cannot be asked for");
  stick_to(*buffer, draft);
  return true;
}

bool apply_buffer_modifier(const RuleOption& option, RuleDraft& draft) {
  const std::optional<RuleBuffer> buffer = find_content_modifier(option.name);
  if (!buffer || draft.is_snort3) return false;
  if (option.has_value) refuse_rule("it takes no value");
  if (draft.buffer != RuleBuffer::kPayload) {
    refuse_rule("a modifier of contents does not go with a sticky buffer");
  }
  if (last_content_of(draft).raw) refuse_rule("rawbytes does not go with it");
  move_last_content(draft, *buffer);
  return true;
}

}  // namespace millrace
