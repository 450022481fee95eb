// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "services/functions/ids/rules/rule_draft.hpp"
#include "services/functions/ids/rules/rule_words.hpp"

/// Options of a rule through apply_option() and finish_draft().

namespace millrace {

/// Whose rules: the protocol of their head, and the dialect.
struct DraftOf {
  RuleProtocol protocol = RuleProtocol::kTcp;
  bool is_snort3 = false;
  RuleSetup setup{};
  RuleFiles files{};
};
inline const DraftOf kOfSnort3{
    .protocol = RuleProtocol::kTcp, .is_snort3 = true, .setup = {}, .files = {}};

inline DraftOf draft_of(RuleProtocol protocol) {
  return {.protocol = protocol, .is_snort3 = false, .setup = {}, .files = {}};
}

/// The rule with these options and sid 1. Throws RuleRefused.
inline Signature read_options(const std::string& options, const DraftOf& of,
                              std::vector<std::string>& flowbits) {
  RuleFiles files = of.files;
  RuleDraft draft{.setup = of.setup, .flowbits = flowbits, .files = files};
  draft.signature.protocol = of.protocol;
  draft.is_snort3 = of.is_snort3;
  const std::string text = "alert tcp any any -> any any (" + options + " sid:1;)";
  for (const RuleOption& option : split_rule(text).options) apply_option(option, draft);
  finish_draft(draft);
  return draft.signature;
}

inline Signature signature_of(const std::string& options, const DraftOf& of = {}) {
  std::vector<std::string> flowbits;
  try {
    return read_options(options, of, flowbits);
  } catch (const RuleRefused& refused) {
    ADD_FAILURE() << options << ": " << refused.keyword << ": " << refused.reason;
    return {};
  }
}

/// "keyword: reason"; empty: the rule is accepted.
inline std::string refusal_of(const std::string& options, const DraftOf& of = {}) {
  std::vector<std::string> flowbits;
  try {
    read_options(options, of, flowbits);
    return "";
  } catch (const RuleRefused& refused) {
    return refused.keyword + ": " + refused.reason;
  }
}

/// The test at a place of a rule, of a type that the caller knows.
template <typename Test>
Test test_of(const Signature& signature, std::size_t buffer = 0, std::size_t at = 0) {
  if (buffer >= signature.buffers.size() || at >= signature.buffers[buffer].tests.size() ||
      !std::holds_alternative<Test>(signature.buffers[buffer].tests[at])) {
    ADD_FAILURE() << "no such test at " << buffer << ", " << at;
    return Test{};
  }
  return std::get<Test>(signature.buffers[buffer].tests[at]);
}

/// Of the last test of a rule's first buffer.
template <typename Test>
Test last_test_of(const std::string& options, const DraftOf& of = {}) {
  const Signature signature = signature_of(options, of);
  if (signature.buffers.empty()) return Test{};
  return test_of<Test>(signature, 0, signature.buffers[0].tests.size() - 1);
}

/// Options and what the refusal of them says.
struct RefusedOptions {
  const char* options;
  const char* refusal;  ///< a part of it
};
template <std::size_t Count>
void expect_refused(const RefusedOptions (&rows)[Count], const DraftOf& of = {}) {
  for (const RefusedOptions& row : rows) {
    const std::string refusal = refusal_of(row.options, of);
    EXPECT_NE(refusal.find(row.refusal), std::string::npos)
        << row.options << " is refused with: '" << refusal << "', not: " << row.refusal;
    EXPECT_FALSE(refusal.empty()) << row.options;
  }
}

}  // namespace millrace
