// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/regex.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "services/functions/ids/detect/content_search.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::size_t kStackBytesMin = 32u << 10;
constexpr std::size_t kStackBytesMax = 512u << 10;
constexpr std::uint32_t kPairs = 2;  // the match and its first group
constexpr std::uint32_t kOptions = PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_USE_OFFSET_LIMIT;

/// An escape or an assertion anywhere in the text, also one that is not meant as such: then a match
/// is looked at more closely than it needs.
bool mentions_what_follows(std::string_view expression) noexcept {
  constexpr std::array<std::string_view, 10> kSigns = {"$",   "\\b", "\\B", "\\z", "\\Z",
                                                       "(?=", "(?!", "(*",  "\\X", "(?<"};
  return std::any_of(kSigns.begin(), kSigns.end(), [expression](std::string_view sign) {
    return expression.find(sign) != std::string_view::npos;
  });
}

/// `\G` is where a search begins, and verbs may end it as a whole.
bool minds_where_search_begins(std::string_view expression) noexcept {
  return expression.find("\\G") != std::string_view::npos ||
         expression.find("(*") != std::string_view::npos;
}

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR subject_of(std::span<const std::byte> bytes) noexcept {
  static constexpr PCRE2_UCHAR kNothing = 0;
  return bytes.empty() ? &kNothing : reinterpret_cast<PCRE2_SPTR>(bytes.data());
}

/// Of each of so many places, that one try of all may take.
std::uint32_t steps_of(std::size_t places) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(RegexScratch::kStepsOfTry / places, RegexScratch::kMatchLimit));
}

RegexMatch matched(int result, const PCRE2_SIZE* places) noexcept {
  using Found = RegexMatch::Found;
  if (result == PCRE2_ERROR_NOMATCH) return {.found = Found::kNo};
  if (result == PCRE2_ERROR_PARTIAL) return {.found = Found::kOpen};
  if (result < 0) return {.found = Found::kFailed};
  // \K can put the begin behind the end.
  RegexMatch match{.found = Found::kYes,
                   .begin = std::min(places[0], places[1]),
                   .end = places[1],
                   .group_begin = kNotFound,
                   .group_end = kNotFound};
  if (result != 1 && places[2] != PCRE2_UNSET) {
    match.group_begin = places[2];
    match.group_end = places[3];
  }
  return match;
}

}  // namespace

RegexScratch::RegexScratch()
    : context_(pcre2_match_context_create(nullptr)),
      data_(pcre2_match_data_create(kPairs, nullptr)),
      stack_(pcre2_jit_stack_create(kStackBytesMin, kStackBytesMax, nullptr)) {
  if (context_ == nullptr || data_ == nullptr) throw Error("no memory for PCRE2's matching");
  pcre2_set_depth_limit(context_.get(), kDepthLimit);
  pcre2_set_heap_limit(context_.get(), kHeapLimitKib);
  if (stack_ != nullptr) pcre2_jit_stack_assign(context_.get(), nullptr, stack_.get());
}

Regex::Regex(const std::string& expression, std::uint32_t options, bool tells_begins)
    : tells_begins_(tells_begins) {
  int error = 0;
  PCRE2_SIZE at = 0;
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                            kOptions | options, &error, &at, nullptr));
  if (code_ == nullptr) {
    throw Error("the expression is refused at byte " + std::to_string(at) + ": " +
                message_of(error));
  }
  std::uint32_t all_options = 0;
  pcre2_pattern_info(code_.get(), PCRE2_INFO_ALLOPTIONS, &all_options);
  is_anchored_ = (all_options & PCRE2_ANCHORED) != 0;
  minds_what_follows_ = (options & PCRE2_ENDANCHORED) != 0 || mentions_what_follows(expression);
  has_pieces_ = !is_anchored_ && !minds_where_search_begins(expression);
  has_jit_ = pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE) == 0;
  if (has_jit_ && minds_what_follows_) {
    pcre2_jit_compile(code_.get(), PCRE2_JIT_PARTIAL_HARD);  // without it the interpreter does it
  }
  if (has_jit_ && tells_begins_) pcre2_jit_compile(code_.get(), PCRE2_JIT_PARTIAL_SOFT);
}

RegexMatch Regex::find(const RegexText& text, RegexScratch& scratch) const noexcept {
  if (text.from > text.bytes.size()) return {};
  if (is_anchored_ && !text.begins_here) return {};
  std::uint32_t options = text.begins_here ? 0 : PCRE2_NOTBOL;
  if (!text.ends_here && minds_what_follows_) {
    options |= PCRE2_PARTIAL_HARD;
  } else if (text.may_grow && tells_begins_) {
    options |= PCRE2_PARTIAL_SOFT;  // a match is the one that it is without
  }
  const std::size_t places = text.bytes.size() - text.from + 1;
  const Try first{text.from, places,
                  has_pieces_ ? std::max(steps_of(places), RegexScratch::kStepsMin)
                              : RegexScratch::kMatchLimit};
  if (!scratch.share_->may_search()) {
    scratch.give_up();
    return {.found = RegexMatch::Found::kFailed};
  }
  std::uint64_t now_ns = scratch.share_->now_ns();
  int result = match(text, options, first, scratch);
  now_ns = scratch.share_->spend({now_ns, 0, places * text.bytes.size()});
  if (result == PCRE2_ERROR_MATCHLIMIT && first.steps < RegexScratch::kMatchLimit) {
    result = match_in_pieces(text, options, scratch, now_ns);
  }
  return matched(result, pcre2_get_ovector_pointer(scratch.data_.get()));
}

int Regex::match(const RegexText& text, std::uint32_t options, const Try& one,
                 RegexScratch& scratch) const noexcept {
  pcre2_set_match_limit(scratch.context_.get(), one.steps);
  pcre2_set_offset_limit(scratch.context_.get(), one.from + one.places - 1);
  return pcre2_match(code_.get(), subject_of(text.bytes), text.bytes.size(), one.from, options,
                     scratch.data_.get(), scratch.context_.get());
}

/// What one search over all places finds. Pieces become shorter where PCRE2 takes more steps.
int Regex::match_in_pieces(const RegexText& text, std::uint32_t options, RegexScratch& scratch,
                           std::uint64_t now_ns) const noexcept {
  int found = PCRE2_ERROR_NOMATCH;
  std::size_t places = RegexScratch::kPieceMax;
  for (std::size_t from = text.from; from <= text.bytes.size();) {
    const Try one{from, places, steps_of(places)};
    const std::uint64_t reads = places * text.bytes.size();
    if (scratch.share_->left() == 0) {
      scratch.give_up();
      return PCRE2_ERROR_MATCHLIMIT;
    }
    const int result = match(text, options, one, scratch);
    if (result == PCRE2_ERROR_MATCHLIMIT && one.steps < RegexScratch::kMatchLimit) {
      places /= RegexScratch::kPieceStep;
      now_ns = scratch.share_->spend({now_ns, 0, reads});
      continue;
    }
    now_ns = scratch.share_->spend({now_ns, 1, reads});
    // A match that bytes behind could make counts only where there is none further behind.
    const bool goes_on = result == PCRE2_ERROR_PARTIAL && (options & PCRE2_PARTIAL_SOFT) != 0;
    if (goes_on) found = result;
    if (result != PCRE2_ERROR_NOMATCH && !goes_on) return result;
    from += places;
    places = std::min<std::size_t>(places * RegexScratch::kPieceStep, RegexScratch::kPieceMax);
  }
  return found;
}

std::uint32_t Regex::groups() const noexcept {
  std::uint32_t count = 0;
  pcre2_pattern_info(code_.get(), PCRE2_INFO_CAPTURECOUNT, &count);
  return count;
}

}  // namespace millrace
