// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "services/functions/ids/rules/rule_words.hpp"
#include "shared/base/quoted.hpp"

/// Keywords that name and explain a rule.

namespace millrace {
namespace {

constexpr std::int64_t kNumberMax = std::numeric_limits<std::uint32_t>::max();

void set_message(const RuleOption& option, RuleDraft& draft) {
  std::string_view text = unquoted(option.value);
  std::string& message = draft.signature.message;
  message.clear();
  while (!text.empty()) {
    if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
    message.push_back(text.front());
    text.remove_prefix(1);
  }
}

void set_sid(const RuleOption& option, RuleDraft& draft) {
  if (draft.signature.sid != 0) refuse_rule("it stands twice");
  draft.signature.sid =
      static_cast<std::uint32_t>(number_of(unquoted(option.value), 1, kNumberMax));
}

void set_gid(const RuleOption& option, RuleDraft& draft) {
  draft.signature.gid =
      static_cast<std::uint32_t>(number_of(unquoted(option.value), 0, kNumberMax));
}

void set_revision(const RuleOption& option, RuleDraft& draft) {
  draft.signature.revision =
      static_cast<std::uint32_t>(number_of(unquoted(option.value), 0, kNumberMax));
}

void set_priority(const RuleOption& option, RuleDraft& draft) {
  constexpr std::int64_t kPriorityMax = 255;
  draft.signature.priority =
      static_cast<std::uint8_t>(number_of(unquoted(option.value), 1, kPriorityMax));
  draft.has_priority = true;
}

void set_class(const RuleOption& option, RuleDraft& draft) {
  const std::string_view name = unquoted(option.value);
  const auto found = draft.setup.classes.find(name);
  if (found == draft.setup.classes.end()) {
    draft.signature.classification = name;
    return;
  }
  const std::string& description = found->second.second;
  draft.signature.classification = description.empty() ? name : std::string_view(description);
  if (!draft.has_priority) draft.signature.priority = found->second.first;
}

void add_services(std::string_view list, RuleDraft& draft) {
  for (const std::string_view name : split_list(list, ',')) draft.services.emplace_back(name);
}

void set_services(const RuleOption& option, RuleDraft& draft) {
  add_services(unquoted(option.value), draft);
}

/// "created_at 2010_07_30, policy security-ips drop"; Snort 2's "service http" is among them.
void add_metadata(const RuleOption& option, RuleDraft& draft) {
  for (const std::string_view part : split_list(unquoted(option.value), ',')) {
    const NamedValue pair = split_named(part);
    if (pair.name.empty()) continue;
    draft.signature.metadata.emplace_back(pair.name, pair.value);
    if (pair.name == "service") add_services(pair.value, draft);
  }
}

void set_no_alert(const RuleOption&, RuleDraft& draft) { draft.signature.no_alert = true; }

void check_target(const RuleOption& option, RuleDraft&) {
  const std::string_view end = unquoted(option.value);
  if (end != "src_ip" && end != "dest_ip") {
    refuse_rule(quoted_word(end) + " is neither src_ip nor dest_ip");
  }
}

/// Of no effect on what matches: texts for readers, and `tag`, which asks for records of packets
/// behind a match.
void leave_out(const RuleOption&, RuleDraft&) {}

constexpr std::array kKeywords = {
    RuleKeyword{"msg", KeywordValue::kNeeded, set_message},
    RuleKeyword{"sid", KeywordValue::kNeeded, set_sid},
    RuleKeyword{"gid", KeywordValue::kNeeded, set_gid},
    RuleKeyword{"rev", KeywordValue::kNeeded, set_revision},
    RuleKeyword{"priority", KeywordValue::kNeeded, set_priority},
    RuleKeyword{"classtype", KeywordValue::kNeeded, set_class},
    RuleKeyword{"metadata", KeywordValue::kNeeded, add_metadata},
    RuleKeyword{"service", KeywordValue::kNeeded, set_services},
    RuleKeyword{"noalert", KeywordValue::kNone, set_no_alert},
    RuleKeyword{"target", KeywordValue::kNeeded, check_target},
    RuleKeyword{"reference", KeywordValue::kNeeded, leave_out},
    RuleKeyword{"rem", KeywordValue::kNeeded, leave_out},
    RuleKeyword{"tag", KeywordValue::kNeeded, leave_out},
};

}  // namespace

RuleKeywords general_keywords() noexcept { return kKeywords; }

}  // namespace millrace
