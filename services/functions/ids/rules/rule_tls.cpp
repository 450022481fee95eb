// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_places.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/quoted.hpp"

/// Keywords of TLS that have a value of their own.

namespace millrace {
namespace {

/// `tls.version:1.2`, as the buffer writes it.
constexpr std::string_view kVersions[] = {"1.0", "1.1", "1.2", "1.3"};

/// The version is one of these.
void add_versions(std::vector<std::string> versions, bool negated, RuleDraft& draft) {
  std::ranges::sort(versions);
  DatasetMatch match;
  match.negated = negated;
  match.values = std::move(versions);
  add_test_to(draft, RuleBuffer::kTlsVersion, std::move(match));
}

std::string version_of(std::string_view text) {
  if (std::ranges::find(kVersions, text) == std::end(kVersions)) {
    refuse_rule(quoted_word(text) + " is none of 1.0, 1.1, 1.2, 1.3");
  }
  return std::string(text);
}

void add_tls_version(const RuleOption& option, RuleDraft& draft) {
  std::string_view value = unquoted(option.value);
  const bool negated = value.starts_with('!');
  if (negated) value = unquoted(value.substr(1));
  add_versions({version_of(value)}, negated, draft);
}

/// "tls1.0,!tls1.2": any of them, or none of them.
void add_ssl_version(const RuleOption& option, RuleDraft& draft) {
  std::vector<std::string> versions;
  std::optional<bool> negated;
  for (std::string_view word : split_list(unquoted(option.value), ',')) {
    const bool is_negated = word.starts_with('!');
    if (is_negated) word.remove_prefix(1);
    if (negated.value_or(is_negated) != is_negated) {
      refuse_rule("some of its versions are negated, some are not");
    }
    negated = is_negated;
    if (!word.starts_with("tls")) {
      refuse_rule(quoted_word(word) + ": versions before TLS 1.0 are not read");
    }
    versions.push_back(version_of(word.substr(3)));
  }
  add_versions(std::move(versions), *negated, draft);
}

/// `tls.subject:"CN=a"`: the text is somewhere in the buffer.
template <RuleBuffer Buffer, bool IsWhole>
void add_text(const RuleOption& option, RuleDraft& draft) {
  const QuotedValue value = quoted_value(option.value);
  if (!value.rest.empty()) refuse_rule("behind the quotes stands " + quoted_word(value.rest));
  ContentMatch content;
  content.negated = value.negated;
  content.bytes = pattern_bytes(value.text);
  if (content.bytes.empty()) refuse_rule("an empty text");
  content.starts_with = content.ends_with = IsWhole;
  add_test_to(draft, Buffer, std::move(content));
  draft.last_content.reset();
}

constexpr auto kNeeded = KeywordValue::kNeeded;
constexpr std::array kKeywords = {
    RuleKeyword{"tls.version", kNeeded, add_tls_version},
    RuleKeyword{"tls_version", kNeeded, add_tls_version},
    RuleKeyword{"ssl_version", kNeeded, add_ssl_version},
    RuleKeyword{"tls.subject", kNeeded, add_text<RuleBuffer::kTlsSubject, false>},
    RuleKeyword{"tls.issuerdn", kNeeded, add_text<RuleBuffer::kTlsIssuer, false>},
    RuleKeyword{"tls.fingerprint", kNeeded, add_text<RuleBuffer::kTlsFingerprint, true>},
};

}  // namespace

RuleKeywords tls_keywords() noexcept { return kKeywords; }

}  // namespace millrace
