// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/test_walk.hpp"

#include <algorithm>

#include "services/functions/ids/detect/byte_tests.hpp"
#include "services/functions/ids/detect/datasets.hpp"

namespace millrace {
namespace {

// Searches cost a step for so many bytes.
constexpr std::int64_t kContentBytesAStep = 4096;
constexpr std::int64_t kRegexBytesAStep = 1024;
constexpr std::int64_t kBase64BytesAStep = 256;

constexpr std::int64_t kAllIsNew = -1;  ///< TestWalk::seen_end_

TestEnd passed_if(bool passes, std::int64_t cursor) noexcept {
  return {.passed = passes ? Passed::kYes : Passed::kNo, .cursor = cursor};
}

}  // namespace

Look TestWalk::go() noexcept {
  const Outcome outcome = go(0, 0, 0);
  if (!charge(0) && outcome.kind != Outcome::Kind::kYes) scratch_.regex.exceed();
  switch (outcome.kind) {
    case Outcome::Kind::kYes:
      return {.found = Found::kYes};
    case Outcome::Kind::kLater:
      return {.found = Found::kNotYet, .missing = outcome.missing};
    case Outcome::Kind::kNo:
    case Outcome::Kind::kGivenUp:
      break;
  }
  return {.found = Found::kNo};
}

TestWalk::Outcome TestWalk::go(std::uint16_t place, std::int64_t cursor,
                               std::int64_t furthest) noexcept {
  using Kind = Outcome::Kind;
  const std::vector<Match>& tests = tests_.tests().tests;
  const auto count = static_cast<std::uint16_t>(tests.size());  // CompiledTests::kTestsMax
  for (; place < count; ++place) {
    if (!charge(1)) return {.kind = Kind::kGivenUp};
    const Match& test = tests[place];
    if (const auto* content = std::get_if<ContentMatch>(&test); content && !content->negated) {
      return try_content(place, cursor, furthest);
    }
    if (const auto* pcre = std::get_if<PcreMatch>(&test); pcre && !pcre->negated) {
      return try_regex(place, cursor, furthest);
    }
    const TestEnd end = run_single(place, cursor);
    if (end.passed != Passed::kYes) {
      return {.kind = end.passed == Passed::kLater ? Kind::kLater : Kind::kNo,
              .back_to = tests_.plan(place).is_fixed ? std::uint16_t{0} : place};
    }
    cursor = end.cursor;
    furthest = std::max(furthest, end.furthest);
  }
  if (furthest > seen_end_) return {.kind = Kind::kYes};
  return {.kind = may_decode_more_ ? Kind::kLater : Kind::kNo, .is_stale = true, .back_to = place};
}

void TestWalk::Tried::add(const Outcome& outcome) noexcept {
  is_stale = is_stale || outcome.is_stale;
  if (outcome.kind != Outcome::Kind::kLater) return;
  missing = is_later && missing != outcome.missing ? kNoTest : outcome.missing;
  is_later = true;
}

/// The tests behind a choice have ended so that another place of the choice changes nothing.
bool TestWalk::is_final(std::uint16_t place, Outcome& outcome) const noexcept {
  if (outcome.is_over() || outcome.back_to <= place) return true;
  if (tests_.plan(place).is_depended || outcome.is_stale) return false;
  // Those tests do not depend on this one, nor, but for variables, on any in front of it.
  outcome.back_to = tests_.uses_variables() ? place : std::uint16_t{0};
  return true;
}

/// Another place of the choice among bytes that follow is of no use without the content that is
/// missing behind the places that it has.
bool TestWalk::implies(const TestPlan& plan, const Tried& tried) const noexcept {
  if (tried.missing == kNoTest || tests_.uses_variables()) return false;
  if (tried.missing < std::min(plan.backward_at, plan.reset_at)) return true;
  return !tried.is_stale && tried.missing >= plan.reset_at;
}

TestWalk::Outcome TestWalk::exhausted(std::uint16_t place, const Tried& tried,
                                      const Coming& coming) const noexcept {
  const TestPlan& plan = tests_.plan(place);
  Outcome outcome{.is_stale = tried.is_stale, .back_to = place};
  if (tried.is_later) {
    outcome.kind = Outcome::Kind::kLater;
    outcome.missing = !coming.can_come || implies(plan, tried) ? tried.missing : kNoTest;
  } else if (coming.can_come) {
    outcome.kind = Outcome::Kind::kLater;
    outcome.missing = coming.missing;
  }
  if (plan.commits && !tried.is_stale) outcome.back_to = 0;
  if (plan.commits && tried.is_stale && plan.is_forward) outcome.back_to = plan.head;
  return outcome;
}

TestWalk::Outcome TestWalk::try_content(std::uint16_t place, std::int64_t cursor,
                                        std::int64_t furthest) noexcept {
  const auto& content = std::get<ContentMatch>(tests_.tests().tests[place]);
  const auto length = static_cast<std::int64_t>(content.bytes.size());
  const ContentRange range = range_of(content, cursor, variables_);
  const RuleVariables before = variables_;
  Tried tried;
  std::int64_t from = range.low;
  if (place == 0 && tests_.span() > 0) from = std::max(from, seen_end_ + 1 - tests_.span());
  while (!content.ends_with || text_.ends_here) {
    const std::int64_t at = find_in_range(content, range, from, text_);
    const std::int64_t stop = at < 0 ? std::min(range.high, text_.end()) : at;
    if (!charge(1 + std::max<std::int64_t>(stop - from, 0) / kContentBytesAStep)) {
      return {.kind = Outcome::Kind::kGivenUp};
    }
    if (at < 0) break;
    Outcome outcome = go(place + 1, at + length, std::max(furthest, at + length));
    const bool is_last = is_final(place, outcome);
    if (is_last && (!tried.is_stale || outcome.is_over())) return outcome;
    tried.add(outcome);
    variables_ = before;
    if (is_last) break;  // but choices in front of this one may make a new match of an old place
    from = at + 1;
    // The tests behind have passed and do not depend on this one: only new bytes help.
    if (!tests_.plan(place).is_depended) from = std::max(from, seen_end_ + 1 - length);
  }
  // The end of the buffer can come without further bytes.
  const std::uint16_t missing = content.ends_with ? kNoTest : place;
  return exhausted(place, tried, {.can_come = can_come(content, range, text_), .missing = missing});
}

std::int64_t TestWalk::subject_of(const PcreMatch& pcre, std::int64_t cursor) const noexcept {
  return pcre.relative ? std::max(cursor, text_.begin) : text_.begin;
}

RegexMatch TestWalk::find_regex(const TestPlan& plan, std::int64_t subject,
                                std::int64_t from) noexcept {
  const RegexText text{.bytes = text_.bytes.subspan(text_.index(subject)),
                       .from = static_cast<std::size_t>(from - subject),
                       .begins_here = subject > text_.begin || text_.begin == 0,
                       .ends_here = text_.ends_here,
                       .may_grow = !text_.is_complete};
  const Regex& regex = tests_.regex(plan);
  const RegexMatch match = regex.find(text, scratch_.regex);
  const std::int64_t bytes = match.found == RegexMatch::Found::kYes
                                 ? static_cast<std::int64_t>(match.end - text.from)
                                 : text_.end() - from;
  const bool is_cheap = regex.is_anchored() && match.found == RegexMatch::Found::kNo;
  if (!charge(is_cheap ? 1 : 1 + std::max<std::int64_t>(bytes, 0) / kRegexBytesAStep)) {
    return {.found = RegexMatch::Found::kFailed};
  }
  return match;
}

TestWalk::Outcome TestWalk::try_regex(std::uint16_t place, std::int64_t cursor,
                                      std::int64_t furthest) noexcept {
  const auto& pcre = std::get<PcreMatch>(tests_.tests().tests[place]);
  const TestPlan& plan = tests_.plan(place);
  const Regex& regex = tests_.regex(plan);
  const std::int64_t subject = subject_of(pcre, cursor);
  const RuleVariables before = variables_;
  Tried tried;
  bool passes_by_seen = false;  // and the tests behind do not depend on this one
  std::uint16_t missing = kNoTest;
  for (std::int64_t from = subject; from <= text_.end();) {
    const RegexMatch match = find_regex(plan, subject, from);
    if (match.found == RegexMatch::Found::kFailed) return {.back_to = place};
    if (match.found == RegexMatch::Found::kOpen) tried.is_later = true;
    // A match that is to come begins behind these bytes.
    const bool has_none = match.found == RegexMatch::Found::kNo && from == subject;
    if (has_none && regex.tells_begins()) missing = place;
    if (match.found != RegexMatch::Found::kYes) break;
    const std::int64_t end = subject + static_cast<std::int64_t>(match.end);
    from = subject + static_cast<std::int64_t>(match.begin) + 1;
    if (passes_by_seen && end <= seen_end_) continue;
    Outcome outcome = go(place + 1, end, std::max(furthest, end));
    const bool is_last = is_final(place, outcome);
    if (is_last && (!tried.is_stale || outcome.is_over())) return outcome;
    tried.add(outcome);
    variables_ = before;
    if (is_last) break;  // but choices in front of this one may make a new match of an old place
    passes_by_seen = outcome.is_stale && !plan.is_depended;
    if (regex.is_anchored()) break;
  }
  if (regex.minds_what_follows()) tried.missing = kNoTest;
  const bool is_out_of_reach = regex.is_anchored() && subject == text_.begin && text_.begin > 0;
  return exhausted(place, tried,
                   {.can_come = !text_.is_complete && !is_out_of_reach, .missing = missing});
}

TestEnd TestWalk::run_negated_regex(std::uint16_t place, std::int64_t cursor) noexcept {
  const auto& pcre = std::get<PcreMatch>(tests_.tests().tests[place]);
  const std::int64_t subject = subject_of(pcre, cursor);
  if (subject > text_.end()) return passed_if(text_.ends_here, cursor);
  const RegexMatch match = find_regex(tests_.plan(place), subject, subject);
  switch (match.found) {
    case RegexMatch::Found::kNo:
      return {.passed = text_.ends_here ? Passed::kYes : Passed::kLater, .cursor = cursor};
    case RegexMatch::Found::kOpen:
      return {.passed = Passed::kLater};
    case RegexMatch::Found::kYes:
    case RegexMatch::Found::kFailed:
      break;
  }
  return {};
}

/// What is decoded is a text of its own, which is looked at twice where bytes have been seen: does
/// it pass, and by something that is new.
TestEnd TestWalk::run_base64(std::uint16_t place, std::int64_t cursor) noexcept {
  const auto& test = std::get<Base64Decode>(tests_.tests().tests[place]);
  const std::int64_t from = (test.relative ? cursor : 0) + std::int64_t{test.offset};
  const TestEnd later{.passed = text_.is_complete ? Passed::kNo : Passed::kLater};
  if (from >= text_.end()) return later;
  if (from < text_.begin) return {};
  const std::int64_t bytes = std::min<std::int64_t>(text_.end() - from, test.bytes);
  const auto encoded = text_.bytes.subspan(text_.index(from), static_cast<std::size_t>(bytes));
  const bool is_all = text_.is_complete || bytes == std::int64_t{test.bytes};
  if (!charge(1 + bytes / kBase64BytesAStep)) return {};
  const auto seen = static_cast<std::size_t>(std::clamp<std::int64_t>(seen_end_ - from, 0, bytes));
  const std::size_t old =
      decode_base64(encoded.first(seen), test.form, false, scratch_.decoded).written;
  const Base64Text decoded = decode_base64(encoded, test.form, is_all, scratch_.decoded);
  if (decoded.written == 0) return is_all || decoded.has_ended ? TestEnd{} : later;
  const TestText text{.bytes = std::span(scratch_.decoded).first(decoded.written),
                      .is_complete = is_all || decoded.has_ended,
                      .ends_here = text_.ends_here || is_all || decoded.has_ended};
  TestEnd end{.passed = Passed::kYes, .cursor = cursor};
  if (const auto* const tests = tests_.decoded(tests_.plan(place))) {
    const Found found = look_at(*tests, text, kAllIsNew);
    if (found == Found::kNotYet) return later;
    if (found == Found::kNo) return {};
    if (old != 0 && look_at(*tests, text, static_cast<std::int64_t>(old)) != Found::kYes) {
      may_decode_more_ = may_decode_more_ || !text.is_complete;
      return end;
    }
  }
  if (old < decoded.written) {
    end.furthest = from + bytes;
  } else {
    may_decode_more_ = may_decode_more_ || !text.is_complete;
  }
  return end;
}

/// By the steps that are left.
Found TestWalk::look_at(const CompiledTests& tests, const TestText& text,
                        std::int64_t seen_end) noexcept {
  TestWalk walk(tests, text, seen_end, variables_, scratch_);
  walk.steps_ = steps_;
  const Look look = walk.go();
  steps_ = walk.steps_;
  return look.found;
}

TestEnd TestWalk::run_single(std::uint16_t place, std::int64_t cursor) noexcept {
  const Match& test = tests_.tests().tests[place];
  if (const auto* content = std::get_if<ContentMatch>(&test)) {
    const ContentRange range = range_of(*content, cursor, variables_);
    return {.passed = run_negated_content(*content, range, text_), .cursor = cursor};
  }
  if (std::holds_alternative<PcreMatch>(test)) return run_negated_regex(place, cursor);
  if (const auto* one = std::get_if<ByteTest>(&test)) {
    return run_byte_test(*one, text_, cursor, variables_);
  }
  if (const auto* one = std::get_if<ByteJump>(&test)) {
    return run_byte_jump(*one, text_, cursor, variables_);
  }
  if (const auto* one = std::get_if<ByteExtract>(&test)) {
    return run_byte_extract(*one, text_, cursor, variables_);
  }
  if (const auto* one = std::get_if<ByteMath>(&test)) {
    return run_byte_math(*one, text_, cursor, variables_);
  }
  if (const auto* one = std::get_if<IsDataAt>(&test)) {
    return run_is_data_at(*one, text_, cursor, variables_);
  }
  if (const auto* one = std::get_if<BufferSize>(&test)) {
    return run_buffer_size(*one, text_, cursor);
  }
  if (std::holds_alternative<Base64Decode>(test)) return run_base64(place, cursor);
  if (!text_.ends_here) return {.passed = Passed::kLater};
  const auto& dataset = std::get<DatasetMatch>(test);
  return passed_if(is_in_dataset(dataset, text_.bytes) != dataset.negated, cursor);
}

}  // namespace millrace
