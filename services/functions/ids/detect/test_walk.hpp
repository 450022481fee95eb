// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "services/functions/ids/detect/base64_text.hpp"
#include "services/functions/ids/detect/buffer_matcher.hpp"
#include "services/functions/ids/detect/compiled_tests.hpp"
#include "services/functions/ids/detect/content_range.hpp"
#include "services/functions/ids/detect/test_text.hpp"

namespace millrace {

/// Memory that a walk needs. One thread.
struct WalkScratch {
  RegexScratch regex;
  std::vector<std::byte> decoded =
      std::vector<std::byte>(base64_bytes_max(Base64Decode::kBytesMax));
};

/// Goes through the tests of a buffer in their order, and through the places of each choice from
/// low to high, until all tests pass.
class TestWalk {
 public:
  /// All are borrowed. `seen_end`: a match whose bytes all lie in front of it does not count;
  /// negative: each one counts.
  TestWalk(const CompiledTests& tests, const TestText& text, std::int64_t seen_end,
           RuleVariables& variables, WalkScratch& scratch) noexcept
      : tests_(tests), text_(text), seen_end_(seen_end), variables_(variables), scratch_(scratch) {}

  Look go() noexcept;

 private:
  /// How the tests from one on have ended, given the choices before it.
  struct Outcome {
    enum class Kind : std::uint8_t { kNo, kLater, kYes, kGivenUp } kind = Kind::kNo;
    bool is_stale = false;            ///< they have passed, by bytes that were seen
    std::uint16_t missing = kNoTest;  ///< of kLater: Look::missing
    std::uint16_t back_to = 0;        ///< choices from this test on need no further try
    bool is_over() const noexcept { return kind == Kind::kYes || kind == Kind::kGivenUp; }
  };
  /// What the places of a choice have led to.
  struct Tried {
    bool is_stale = false, is_later = false;
    std::uint16_t missing = kNoTest;
    void add(const Outcome& outcome) noexcept;
  };
  /// What can follow for a choice.
  struct Coming {
    bool can_come;          ///< bytes that follow can bring another place of it
    std::uint16_t missing;  ///< what they have to bring; kNoTest: not known
  };

  Outcome go(std::uint16_t place, std::int64_t cursor, std::int64_t furthest) noexcept;
  Outcome try_content(std::uint16_t place, std::int64_t cursor, std::int64_t furthest) noexcept;
  Outcome try_regex(std::uint16_t place, std::int64_t cursor, std::int64_t furthest) noexcept;
  TestEnd run_single(std::uint16_t place, std::int64_t cursor) noexcept;
  TestEnd run_base64(std::uint16_t place, std::int64_t cursor) noexcept;
  Found look_at(const CompiledTests& tests, const TestText& text, std::int64_t seen_end) noexcept;
  TestEnd run_negated_regex(std::uint16_t place, std::int64_t cursor) noexcept;

  RegexMatch find_regex(const TestPlan& plan, std::int64_t subject, std::int64_t from) noexcept;
  /// Where a pcre's subject begins.
  std::int64_t subject_of(const PcreMatch& pcre, std::int64_t cursor) const noexcept;
  bool is_final(std::uint16_t place, Outcome& outcome) const noexcept;
  Outcome exhausted(std::uint16_t place, const Tried& tried, const Coming& coming) const noexcept;
  bool implies(const TestPlan& plan, const Tried& tried) const noexcept;
  /// False: no steps are left.
  bool charge(std::int64_t steps) noexcept {
    steps_ += steps;
    return steps_ <= std::int64_t{BufferMatcher::kStepsMax};
  }

  const CompiledTests& tests_;
  const TestText& text_;
  std::int64_t seen_end_;
  RuleVariables& variables_;
  WalkScratch& scratch_;
  std::int64_t steps_ = 0;
  bool may_decode_more_ = false;  ///< what was decoded has passed by bytes that were seen
};

}  // namespace millrace
