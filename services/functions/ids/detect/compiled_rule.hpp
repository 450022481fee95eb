// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "services/functions/ids/detect/buffer_matcher.hpp"
#include "services/functions/ids/detect/rule_routes.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// A signature with what looking for it needs.

namespace millrace {

struct CompiledRule {
  /// `signature` is borrowed. Throws Error: where the rule stands, and what PCRE2 says.
  explicit CompiledRule(const Signature& signature);

  /// A content that a Look names as missing, or that each match of the pcre has which it names;
  /// null: any byte may be what is missing, or the test stands behind transforms.
  const ContentMatch* content_at(std::size_t buffer, std::uint16_t test) const noexcept;
  /// The prefilter names the rule again when that content comes.
  bool is_gate(std::size_t buffer, std::uint16_t test) const noexcept {
    return test == gate_test && buffer == gate_buffer && test != kNoTest;
  }

  const Signature* signature;
  RuleRoutes routes;
  std::vector<BufferMatcher> matchers;  ///< by place in Signature::buffers
  /// Their places, in the order in which a look at a transaction takes them. The payload, which is
  /// all that the stream keeps, is last where no test needs what another one has read.
  std::vector<std::uint16_t> order;
  // Of the gate whose end is the end of a content.
  std::uint16_t gate_buffer = 0, gate_test = kNoTest;
  bool is_gated = false;
  /// The end of a buffer may make it match without a further byte: it has other tests than contents
  /// that are there, at a place that does not ask for the end.
  bool minds_end = false;
  bool is_of_flow = false;  ///< Signature::looks_at_heads_only(), at_recognition
};

}  // namespace millrace
