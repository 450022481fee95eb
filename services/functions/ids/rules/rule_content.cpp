// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_places.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/ascii.hpp"
#include "shared/base/quoted.hpp"

/// `content` and what modifies it.

namespace millrace {
namespace {

// As Suricata: offsets and depths have 16 bits; distances reach a megabyte in either direction.
constexpr std::int64_t kOffsetMax = std::numeric_limits<std::uint16_t>::max();
constexpr std::int64_t kDistanceMax = 1 << 20;
constexpr std::size_t kContentBytesMax = std::numeric_limits<std::uint16_t>::max();

/// Places by number must leave room for the content, or it never matches.
void check_room(const RuleNumber& room, const ContentMatch& content) {
  if (room.variable == RuleNumber::kNoVariable &&
      room.value < static_cast<std::int64_t>(content.bytes.size())) {
    refuse_rule(std::to_string(room.value) + " is less than the content's " +
                std::to_string(content.bytes.size()) + " bytes");
  }
}

/// Refused: a modifier that contradicts one before it.
void check_places(const ContentMatch& content, const RuleDraft& draft) {
  const bool is_absolute = content.offset || content.depth;
  if (is_absolute && content.is_relative()) {
    refuse_rule("offset and depth do not go with distance and within");
  }
  if (content.starts_with && (is_absolute || content.is_relative())) {
    refuse_rule("startswith does not go with offset, depth, distance, within");
  }
  const bool has_place = is_absolute || content.is_relative() || content.starts_with;
  const auto& wanted = draft.wanted_fast_pattern;
  const bool is_wanted = wanted && draft.last_content &&
                         wanted->buffer == draft.last_content->buffer &&
                         wanted->test == draft.last_content->test;
  if (is_wanted && content.negated && has_place) {
    refuse_rule("fast_pattern does not go with a negated content that has a place");
  }
  if (is_wanted && draft.fast_pattern_only && (has_place || content.negated)) {
    refuse_rule("fast_pattern:only does not go with a negated content or one that has a place");
  }
}

void set_place(const RuleOption& option, RuleDraft& draft,
               std::optional<RuleNumber> ContentMatch::*place, std::int64_t low,
               std::int64_t high) {
  ContentMatch& content = last_content_of(draft);
  if (content.*place) refuse_rule("it stands twice behind one content");
  content.*place = number_or_variable(unquoted(option.value), low, high, draft);
  check_places(content, draft);
}

void set_offset(const RuleOption& option, RuleDraft& draft) {
  set_place(option, draft, &ContentMatch::offset, 0, kOffsetMax);
}
void set_depth(const RuleOption& option, RuleDraft& draft) {
  set_place(option, draft, &ContentMatch::depth, 1, kOffsetMax);
  check_room(*last_content_of(draft).depth, last_content_of(draft));
}
void set_distance(const RuleOption& option, RuleDraft& draft) {
  set_place(option, draft, &ContentMatch::distance, -kDistanceMax, kDistanceMax);
}
void set_within(const RuleOption& option, RuleDraft& draft) {
  set_place(option, draft, &ContentMatch::within, 1, kDistanceMax);
  check_room(*last_content_of(draft).within, last_content_of(draft));
}

void set_nocase(const RuleOption&, RuleDraft& draft) {
  ContentMatch& content = last_content_of(draft);
  content.nocase = true;
  content.bytes = in_lower_case(content.bytes);
}
void set_raw(const RuleOption&, RuleDraft& draft) { last_content_of(draft).raw = true; }
void set_starts_with(const RuleOption&, RuleDraft& draft) {
  ContentMatch& content = last_content_of(draft);
  content.starts_with = true;
  check_places(content, draft);
}
void set_ends_with(const RuleOption&, RuleDraft& draft) { last_content_of(draft).ends_with = true; }

/// The part of a fast pattern must lie within its content.
void check_fast_part(const RuleDraft& draft, const ContentMatch& content) {
  const std::size_t end = draft.fast_offset + std::size_t{draft.fast_length};
  if (end > content.bytes.size()) refuse_rule("that part is not within the content");
}

void want_fast_pattern(RuleDraft& draft) {
  const auto& content = last_content_of(draft);
  const auto& wanted = draft.wanted_fast_pattern;
  const bool is_same = wanted && wanted->buffer == draft.last_content->buffer &&
                       wanted->test == draft.last_content->test;
  if (wanted && !is_same) refuse_rule("one content of a rule may be the fast pattern");
  draft.wanted_fast_pattern = draft.last_content;
  check_places(content, draft);
}

void set_fast_pattern(const RuleOption& option, RuleDraft& draft) {
  const ContentMatch& content = last_content_of(draft);
  const std::string_view value = unquoted(option.value);
  if (value == "only") {
    draft.fast_pattern_only = true;
  } else if (!value.empty()) {
    const auto parts = split_list(value, ',');
    if (parts.size() != 2) refuse_rule(quoted_word(value) + " is neither only nor offset,length");
    draft.fast_offset = static_cast<std::uint16_t>(number_of(parts[0], 0, kOffsetMax));
    draft.fast_length = static_cast<std::uint16_t>(number_of(parts[1], 1, kOffsetMax));
    check_fast_part(draft, content);
  }
  want_fast_pattern(draft);
}

// Snort 3: each by itself, in any order with `fast_pattern`.
void set_fast_offset(const RuleOption& option, RuleDraft& draft) {
  draft.fast_offset = static_cast<std::uint16_t>(number_of(option.value, 0, kOffsetMax));
  check_fast_part(draft, last_content_of(draft));
  want_fast_pattern(draft);
}
void set_fast_length(const RuleOption& option, RuleDraft& draft) {
  draft.fast_length = static_cast<std::uint16_t>(number_of(option.value, 1, kOffsetMax));
  check_fast_part(draft, last_content_of(draft));
  want_fast_pattern(draft);
}

constexpr std::array kModifiers = {
    RuleKeyword{"nocase", KeywordValue::kNone, set_nocase},
    RuleKeyword{"rawbytes", KeywordValue::kNone, set_raw},
    RuleKeyword{"offset", KeywordValue::kNeeded, set_offset},
    RuleKeyword{"depth", KeywordValue::kNeeded, set_depth},
    RuleKeyword{"distance", KeywordValue::kNeeded, set_distance},
    RuleKeyword{"within", KeywordValue::kNeeded, set_within},
    RuleKeyword{"startswith", KeywordValue::kNone, set_starts_with},
    RuleKeyword{"endswith", KeywordValue::kNone, set_ends_with},
    RuleKeyword{"fast_pattern", KeywordValue::kOptional, set_fast_pattern},
    RuleKeyword{"fast_pattern_offset", KeywordValue::kNeeded, set_fast_offset},
    RuleKeyword{"fast_pattern_length", KeywordValue::kNeeded, set_fast_length},
};

/// "nocase,offset 5,depth 10" behind the quotes of a content.
void apply_snort3_modifiers(std::string_view list, RuleDraft& draft) {
  for (const std::string_view part : split_list(list, ',')) {
    const NamedValue modifier = split_named(part);
    const auto* const found = std::ranges::find(kModifiers, modifier.name, &RuleKeyword::name);
    if (found == kModifiers.end()) {
      refuse_rule(quoted_word(modifier.name) + " is no modifier of a content");
    }
    if (found->value == KeywordValue::kNeeded && modifier.value.empty()) {
      refuse_rule(quoted_word(modifier.name) + " has no value");
    }
    if (found->value != KeywordValue::kNeeded && !modifier.value.empty()) {
      refuse_rule(quoted_word(modifier.name) + " takes no value");
    }
    found->apply({.name = std::string(modifier.name),
                  .value = std::string(modifier.value),
                  .has_value = !modifier.value.empty()},
                 draft);
  }
}

ContentMatch content_of(const QuotedValue& value) {
  ContentMatch content;
  content.negated = value.negated;
  content.bytes = pattern_bytes(value.text);
  if (content.bytes.empty()) refuse_rule("an empty content");
  if (content.bytes.size() > kContentBytesMax) refuse_rule("a content has at most 65535 bytes");
  return content;
}

void add_content(const RuleOption& option, RuleDraft& draft) {
  const QuotedValue value = quoted_value(option.value);
  add_test(draft, content_of(value));
  if (value.rest.empty()) return;
  if (!value.rest.starts_with(',')) {
    refuse_rule("behind the quotes stands " + quoted_word(value.rest));
  }
  apply_snort3_modifiers(value.rest.substr(1), draft);
}

void add_uri_content(const RuleOption& option, RuleDraft& draft) {
  const QuotedValue value = quoted_value(option.value);
  if (!value.rest.empty()) refuse_rule("behind the quotes stands " + quoted_word(value.rest));
  add_test_to(draft, RuleBuffer::kHttpUri, content_of(value));
}

constexpr auto kKeywords = [] {
  std::array<RuleKeyword, kModifiers.size() + 2> all{};
  auto* const end = std::ranges::copy(kModifiers, all.begin()).out;
  end[0] = {"content", KeywordValue::kNeeded, add_content};
  end[1] = {"uricontent", KeywordValue::kNeeded, add_uri_content};
  return all;
}();

}  // namespace

RuleKeywords content_keywords() noexcept { return kKeywords; }

}  // namespace millrace
