// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <utility>

#include "services/functions/ids/protocols/app_events.hpp"
#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/quoted.hpp"

/// `app-layer-event`: what a parser finds wrong with a message.

namespace millrace {
namespace {

void add_event(const RuleOption& option, RuleDraft& draft) {
  const std::string event(unquoted(option.value));
  if (!app_events::owner_of(event)) {
    refuse_rule(quoted_word(event) + " is none of the events that parsers tell");
  }
  ContentMatch content;
  content.bytes = event;
  content.starts_with = content.ends_with = true;
  // Each event is a value of its own.
  draft.signature.buffers.push_back(
      {.buffer = RuleBuffer::kAppEvent, .transforms = {}, .tests = {std::move(content)}});
  draft.last_content.reset();
}

constexpr std::array kKeywords = {
    RuleKeyword{"app-layer-event", KeywordValue::kNeeded, add_event},
};

}  // namespace

RuleKeywords app_event_keywords() noexcept { return kKeywords; }

}  // namespace millrace
