// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/compiled_tests.hpp"

#include <algorithm>
#include <utility>

#include "services/functions/ids/detect/test_traits.hpp"
#include "services/functions/ids/rules/regex_literal.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// What is known of the cursor in front of a test, while tests are gone through in their order.
class Cursor {
 public:
  enum class Kind {
    kFixed,      ///< no choice has a say in it
    kAscending,  ///< the first way to get there is the one with the lowest cursor
    kAny,
  };

  Kind kind() const noexcept { return kind_; }

  void plan_content(const ContentMatch& content, std::uint16_t place, TestPlan& plan) noexcept {
    if (!content.is_relative() || kind_ == Kind::kFixed) {
      kind_ = Kind::kAscending;
      head_ = place;
      is_forward_ = true;
      plan.commits = true;
    } else {
      plan.commits = kind_ == Kind::kAscending && !content.within && !content.depth;
      is_forward_ = is_forward_ && goes_forward(content);
    }
    plan.head = head_;
    plan.is_forward = is_forward_;
  }

  void plan_regex(const PcreMatch& pcre, std::uint16_t place, TestPlan& plan) noexcept {
    plan.commits = !pcre.relative || kind_ == Kind::kFixed;
    plan.head = head_ = place;
    plan.is_forward = is_forward_ = true;
    kind_ = Kind::kAny;
  }

  void plan_other(const Match& test, TestPlan& plan) noexcept {
    const bool relative = is_relative(test);
    plan.is_fixed = !relative || kind_ == Kind::kFixed;
    if (const auto* data = std::get_if<IsDataAt>(&test)) {
      plan.is_fixed = plan.is_fixed || (!data->negated && kind_ == Kind::kAscending);
    }
    if (!sets_cursor(test)) return;
    if (!relative) kind_ = Kind::kFixed;
    if (kind_ == Kind::kFixed) return;
    if (!moves_by_constant(test)) kind_ = Kind::kAny;
    is_forward_ = is_forward_ && goes_forward(test);
  }

 private:
  static bool moves_by_constant(const Match& test) noexcept {
    if (const auto* extract = std::get_if<ByteExtract>(&test)) return !extract->format.is_text;
    if (const auto* math = std::get_if<ByteMath>(&test)) return !math->format.is_text;
    return false;
  }

  Kind kind_ = Kind::kFixed;
  std::uint16_t head_ = 0;
  bool is_forward_ = true;
};

/// What follows a choice.
void plan_chain_behind(const std::vector<Match>& tests, std::size_t place, TestPlan& plan) {
  for (std::size_t i = place + 1; i < tests.size(); ++i) {
    const bool relative = is_relative(tests[i]);
    if (relative) plan.is_depended = true;
    if (!sets_cursor(tests[i])) continue;
    const auto number = static_cast<std::uint16_t>(i);
    if (!relative) {
      plan.reset_at = number;
      return;
    }
    if (plan.backward_at == kNoTest && !goes_forward(tests[i])) plan.backward_at = number;
  }
}

bool comes_in_pieces(RuleBuffer buffer) noexcept {
  return buffer == RuleBuffer::kPayload || traits_of(buffer).grows;
}

std::optional<ContentMatch> literal_of(const PcreMatch& pcre) {
  std::optional<RegexLiteral> literal = required_literal(pcre);
  if (!literal) return std::nullopt;
  ContentMatch content;
  content.bytes = std::move(literal->bytes);
  content.nocase = literal->nocase;
  return content;
}

/// CompiledTests::span().
std::int64_t span_of(const std::vector<Match>& tests) noexcept {
  std::int64_t span = 0;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const auto* content = std::get_if<ContentMatch>(&tests[i]);
    if (content == nullptr || content->negated || uses_variables(tests[i])) return 0;
    if (i == 0) {
      span = static_cast<std::int64_t>(content->bytes.size());
      continue;
    }
    if (!content->within || !goes_forward(tests[i])) return 0;
    span += content->within->value + (content->distance ? content->distance->value : 0);
  }
  return span;
}

}  // namespace

CompiledTests::CompiledTests(const BufferTests& tests)
    : tests_(tests), transforms_(tests.transforms), plans_(tests.tests.size()) {
  if (tests.tests.size() > kTestsMax) {
    throw Error("more than " + std::to_string(kTestsMax) + " tests of one buffer");
  }
  Cursor cursor;
  for (std::size_t place = 0; place < plans_.size(); ++place) {
    const Match& test = tests.tests[place];
    TestPlan& plan = plans_[place];
    if (const auto* pcre = std::get_if<PcreMatch>(&test)) {
      plan.regex = regexes_.size();
      plan.literal = literal_of(*pcre);
      while_doing("pcre /" + pcre->expression + "/", [&] {
        regexes_.emplace_back(pcre->expression, pcre->flags,
                              plan.literal && comes_in_pieces(tests.buffer));
      });
      is_always_new_ = is_always_new_ || regexes_.back().minds_what_follows();
    }
    if (const auto* decode = std::get_if<Base64Decode>(&test); decode && decode->decoded) {
      plan.decoded = decoded_.size();
      decoded_.push_back(std::make_unique<CompiledTests>(*decode->decoded));
      is_always_new_ = is_always_new_ || decoded_.back()->is_always_new();
    }
    uses_variables_ = uses_variables_ || millrace::uses_variables(test);
    is_always_new_ = is_always_new_ || is_about_absence(test);
    const auto number = static_cast<std::uint16_t>(place);
    if (!is_choice(test)) {
      cursor.plan_other(test, plan);
      continue;
    }
    if (const auto* content = std::get_if<ContentMatch>(&test)) {
      cursor.plan_content(*content, number, plan);
    } else {
      cursor.plan_regex(std::get<PcreMatch>(test), number, plan);
    }
    plan_chain_behind(tests.tests, place, plan);
  }
  span_ = span_of(tests.tests);
  if (!uses_variables_) return;
  for (TestPlan& plan : plans_) plan.is_fixed = plan.commits = false;
}

}  // namespace millrace
