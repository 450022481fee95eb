// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_values.hpp"

namespace millrace {
namespace {

/// All keywords by name.
std::vector<RuleKeyword> gather_keywords() {
  std::vector<RuleKeyword> all;
  for (const RuleKeywords group :
       {general_keywords(), content_keywords(), pcre_keywords(), byte_keywords(), size_keywords(),
        header_keywords(), flow_keywords(), host_bit_keywords(), threshold_keywords(),
        dataset_keywords(), transform_keywords(), base64_keywords(), tls_keywords(),
        http2_keywords(), app_event_keywords()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  std::ranges::sort(all, {}, &RuleKeyword::name);
  return all;
}

const RuleKeyword* find_keyword(std::string_view name) {
  static const std::vector<RuleKeyword> kAll = gather_keywords();
  const auto found = std::ranges::lower_bound(kAll, name, {}, &RuleKeyword::name);
  return found != kAll.end() && found->name == name ? &*found : nullptr;
}

bool apply_keyword(const RuleOption& option, RuleDraft& draft) {
  const RuleKeyword* const keyword = find_keyword(option.name);
  if (keyword == nullptr) return false;
  if (keyword->value == KeywordValue::kNone && option.has_value) refuse_rule("it takes no value");
  const bool has_value = option.has_value && !option.value.empty();
  if (keyword->value == KeywordValue::kNeeded && !has_value) refuse_rule("it has no value");
  keyword->apply(option, draft);
  return true;
}

void apply(const RuleOption& option, RuleDraft& draft) {
  const bool was_at_buffer = draft.at_buffer;
  const std::size_t transforms = draft.transforms.size();
  if (apply_keyword(option, draft)) {
    // Only transforms may stand between a sticky buffer and a transform.
    draft.at_buffer = was_at_buffer && draft.transforms.size() > transforms;
    return;
  }
  if (apply_sticky_buffer(option, draft) || apply_buffer_modifier(option, draft)) return;
  const std::string_view reason = reason_of_refusal(option.name);
  refuse_rule(reason.empty() ? "it is not known" : std::string(reason));
}

}  // namespace

void apply_option(const RuleOption& option, RuleDraft& draft) {
  try {
    apply(option, draft);
  } catch (RuleRefused& refused) {
    if (refused.keyword.empty()) refused.keyword = option.name;
    throw;
  }
}

}  // namespace millrace
