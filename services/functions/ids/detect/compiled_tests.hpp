// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "services/functions/ids/detect/buffer_matcher.hpp"
#include "services/functions/ids/detect/regex.hpp"
#include "services/functions/ids/detect/transforms.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// What is worked out once about the tests of one buffer.
///
/// A positive content or pcre can pass at several places: it is a choice. The other tests pass or
/// fail, given the choices before them. A test that goes on from the end of the one before has it
/// for its cursor. A plan says which choices are worth another try after a failure, so that rules
/// of plain contents take time that grows with the text, not with a power of it.

namespace millrace {

struct TestPlan {
  std::optional<std::size_t> regex;    ///< of a PcreMatch, its place in CompiledTests::regexes
  std::optional<std::size_t> decoded;  ///< of a Base64Decode with tests, likewise
  /// Of a positive PcreMatch: what each match of it has.
  std::optional<ContentMatch> literal;
  bool is_depended = false;  ///< of a choice: a later test goes on from its end
  /// Not a choice: fails, where it fails, whatever the choices before it.
  bool is_fixed = false;
  /// A choice: where none of its places has led to a match, no other choice before it helps.
  bool commits = false;
  /// A choice: from the head of its chain on no test steps back.
  bool is_forward = false;
  std::uint16_t head = 0;  ///< a choice: the first content of the chain that leads to it
  /// The first test of the chain behind a choice that can step back; the first one that begins
  /// another chain. kNoTest: none.
  std::uint16_t backward_at = kNoTest, reset_at = kNoTest;
};

class CompiledTests {
 public:
  /// `tests` is borrowed. Throws Error.
  explicit CompiledTests(const BufferTests& tests);

  const BufferTests& tests() const noexcept { return tests_; }
  const TestPlan& plan(std::size_t place) const noexcept { return plans_[place]; }
  const Regex& regex(const TestPlan& plan) const noexcept { return regexes_[*plan.regex]; }
  /// Of what the test decodes; null: nothing is asked of it.
  const CompiledTests* decoded(const TestPlan& plan) const noexcept {
    return plan.decoded ? decoded_[*plan.decoded].get() : nullptr;
  }
  const Transforms& transforms() const noexcept { return transforms_; }
  /// A number of some test is a variable of the rule: then a choice can matter to any test.
  bool uses_variables() const noexcept { return uses_variables_; }
  /// A match counts although nothing of it is new: a test is negated, or about the buffer's end.
  bool is_always_new() const noexcept { return is_always_new_; }
  /// From the begin to the end of every match, where the tests are contents in a single chain that
  /// goes forward in bounds. 0: there is no bound.
  std::int64_t span() const noexcept { return span_; }

  static constexpr std::size_t kTestsMax = 256;

 private:
  const BufferTests& tests_;
  Transforms transforms_;
  std::vector<Regex> regexes_;
  std::vector<std::unique_ptr<const CompiledTests>> decoded_;
  std::vector<TestPlan> plans_;
  bool uses_variables_ = false, is_always_new_ = false;
  std::int64_t span_ = 0;
};

}  // namespace millrace
