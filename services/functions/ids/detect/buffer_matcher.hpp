// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "services/functions/ids/detect/buffer_value.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// Looks whether one buffer has what a rule asks of it: the exact test behind the prefilter.

namespace millrace {

inline constexpr std::size_t kRuleVariablesMax = 16;

/// What byte_extract and byte_math have read for one rule.
struct RuleVariables {
  std::array<std::int64_t, kRuleVariablesMax> values{};
};

enum class Found : std::uint8_t {
  kNo,  ///< and no bytes that may follow can change that
  kYes,
  kNotYet,  ///< bytes that may follow can make it match
};
inline constexpr std::uint16_t kNoTest = UINT16_MAX;
struct Look {
  Found found = Found::kNo;
  /// With kNotYet: place of a positive, absolute or relative, ContentMatch that is nowhere in the
  /// bytes where it could stand: there is no use in looking again before its bytes come. Or of a
  /// positive PcreMatch no match of which has begun: its literal has to come. kNoTest: any byte may
  /// be what is missing.
  std::uint16_t missing = kNoTest;
};

/// Compiled regular expressions and the like of one BufferTests.
class CompiledTests;
class WorkShare;

/// Memory that looking needs: texts behind transforms, match data of PCRE2. One a thread.
class MatcherScratch {
 public:
  MatcherScratch();
  ~MatcherScratch();
  MatcherScratch(const MatcherScratch&) = delete;  // PCRE2's match data have one owner
  MatcherScratch& operator=(const MatcherScratch&) = delete;

  /// As RegexScratch has them.
  void use(WorkShare& share) noexcept;
  std::uint32_t take_given_up() noexcept;
  bool take_exceeded() noexcept;

 private:
  friend class BufferMatcher;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// One thread at a time; changes nothing of itself.
class BufferMatcher {
 public:
  /// `tests` is borrowed. Throws Error: PCRE2 refuses an expression (what, and where in it), a
  /// transform cannot be done, or there are more than 256 tests.
  explicit BufferMatcher(const BufferTests& tests);
  ~BufferMatcher();
  BufferMatcher(BufferMatcher&&) noexcept;
  BufferMatcher& operator=(BufferMatcher&&) noexcept;

  const BufferTests& tests() const noexcept;
  /// What has to come where a Look names that test as missing. Null: it is not known.
  const ContentMatch* literal_of(std::uint16_t test) const noexcept;

  /// All tests in their order; a relative one goes on where the one before ended, and the one
  /// before is tried at its later places if the relative one fails (bounded: of PCRE2 match and
  /// depth limits; kStepsMax in all, then kNo, which MatcherScratch::take_given_up() counts). With
  /// `value.seen` > 0 and no transforms, only a match counts of which at least one test ends behind
  /// the seen bytes, or that is negative or about the end of a buffer. Writes `variables`.
  ///
  /// While a buffer is not complete, tests about its end and negated contents without bounds take
  /// what there is of a payload for the whole, as Suricata does of streams; of other buffers they
  /// wait (kNotYet) until their answer cannot change. Contents that are negated within bounds wait
  /// for the bytes within them, of a payload too.
  Look look(const BufferValue& value, RuleVariables& variables,
            MatcherScratch& scratch) const noexcept;

  /// A test is a step; so are 4 KiB that a content, and 1 KiB that an expression goes through.
  static constexpr std::uint32_t kStepsMax = 20'000;

 private:
  std::unique_ptr<CompiledTests> compiled_;
};

}  // namespace millrace
