// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/buffer_matcher.hpp"

#include "services/functions/ids/detect/compiled_tests.hpp"
#include "services/functions/ids/detect/test_walk.hpp"

namespace millrace {
namespace {

constexpr std::int64_t kAllIsNew = -1;

}  // namespace

struct MatcherScratch::Parts {
  TransformScratch texts;
  WalkScratch walk;
};

MatcherScratch::MatcherScratch() : parts_(std::make_unique<Parts>()) {}
MatcherScratch::~MatcherScratch() = default;

void MatcherScratch::use(WorkShare& share) noexcept { parts_->walk.regex.use(share); }
bool MatcherScratch::take_exceeded() noexcept { return parts_->walk.regex.take_exceeded(); }
std::uint32_t MatcherScratch::take_given_up() noexcept {
  return parts_->walk.regex.take_given_up();
}

BufferMatcher::BufferMatcher(const BufferTests& tests)
    : compiled_(std::make_unique<CompiledTests>(tests)) {}
BufferMatcher::~BufferMatcher() = default;
BufferMatcher::BufferMatcher(BufferMatcher&&) noexcept = default;
BufferMatcher& BufferMatcher::operator=(BufferMatcher&&) noexcept = default;

const BufferTests& BufferMatcher::tests() const noexcept { return compiled_->tests(); }

const ContentMatch* BufferMatcher::literal_of(std::uint16_t test) const noexcept {
  if (test >= tests().tests.size()) return nullptr;
  const auto* content = std::get_if<ContentMatch>(&tests().tests[test]);
  const std::optional<ContentMatch>& literal = compiled_->plan(test).literal;
  return content == nullptr && literal ? &*literal : content;
}

Look BufferMatcher::look(const BufferValue& value, RuleVariables& variables,
                         MatcherScratch& scratch) const noexcept {
  MatcherScratch::Parts& parts = *scratch.parts_;
  const Transforms& transforms = compiled_->transforms();
  const bool ends_here = value.is_complete || compiled_->tests().buffer == RuleBuffer::kPayload;
  if (transforms.needs_all() && !ends_here) return {.found = Found::kNotYet};
  const BufferValue text = transforms.apply(value, parts.texts, parts.walk.regex);
  const auto begin = static_cast<std::int64_t>(text.base);
  const bool is_all_new = text.seen == 0 || compiled_->is_always_new();
  const TestText test_text{
      .bytes = text.bytes, .begin = begin, .is_complete = text.is_complete, .ends_here = ends_here};
  TestWalk walk(*compiled_, test_text, is_all_new ? kAllIsNew : begin + text.seen, variables,
                parts.walk);
  return walk.go();
}

}  // namespace millrace
