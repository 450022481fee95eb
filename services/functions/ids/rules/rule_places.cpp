// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_places.hpp"

#include <optional>
#include <utility>
#include <variant>

#include "services/functions/ids/rules/rule_values.hpp"

namespace millrace {
namespace {

using Place = RuleDraft::Place;

/// The last of these buffers, or a new one behind all.
std::size_t buffer_for(RuleDraft& draft, RuleBuffer buffer,
                       const std::vector<Transform>& transforms) {
  std::vector<BufferTests>& buffers = draft.signature.buffers;
  for (std::size_t at = buffers.size(); at-- > 0;) {
    if (buffers[at].buffer == buffer && buffers[at].transforms == transforms) return at;
  }
  buffers.push_back({.buffer = buffer, .transforms = transforms, .tests = {}});
  return buffers.size() - 1;
}

void append(RuleDraft& draft, std::size_t buffer, Match test) {
  std::vector<Match>& tests = draft.signature.buffers[buffer].tests;
  const bool is_content = std::holds_alternative<ContentMatch>(test);
  tests.push_back(std::move(test));
  draft.last_test = Place{buffer, tests.size() - 1};
  if (is_content) draft.last_content = draft.last_test;
}

bool is_at(const std::optional<Place>& place, const Place& other) noexcept {
  return place && place->buffer == other.buffer && place->test == other.test;
}

/// Where `place` is when the test at `gone` is somewhere else: at `there`.
void follow(std::optional<Place>& place, const Place& gone, const Place& there) {
  if (is_at(place, gone)) {
    place = there;
  } else if (place && place->buffer == gone.buffer && place->test > gone.test) {
    --place->test;
  }
}

}  // namespace

void add_test(RuleDraft& draft, Match test) {
  if (draft.begins_value) {
    draft.begins_value = false;
    draft.signature.buffers.push_back(
        {.buffer = draft.buffer, .transforms = draft.transforms, .tests = {}});
    return append(draft, draft.signature.buffers.size() - 1, std::move(test));
  }
  append(draft, buffer_for(draft, draft.buffer, draft.transforms), std::move(test));
}

void add_relative_test(RuleDraft& draft, Match test) {
  const bool is_free = draft.buffer == RuleBuffer::kPayload && !draft.is_snort3;
  if (is_free && draft.last_test) return append(draft, draft.last_test->buffer, std::move(test));
  add_test(draft, std::move(test));
}

void add_test_to(RuleDraft& draft, RuleBuffer buffer, Match test) {
  append(draft, buffer_for(draft, buffer, {}), std::move(test));
}

ContentMatch& last_content_of(RuleDraft& draft) {
  if (!draft.last_content) refuse_rule("no content stands in front of it");
  const Place place = *draft.last_content;
  return std::get<ContentMatch>(draft.signature.buffers[place.buffer].tests[place.test]);
}

void move_last_content(RuleDraft& draft, RuleBuffer buffer) {
  const Match content = last_content_of(draft);
  const Place gone = *draft.last_content;
  const std::size_t to = buffer_for(draft, buffer, {});
  if (to == gone.buffer) return;
  std::vector<Match>& from = draft.signature.buffers[gone.buffer].tests;
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(gone.test));
  std::vector<Match>& tests = draft.signature.buffers[to].tests;
  tests.push_back(content);
  const Place there{to, tests.size() - 1};
  follow(draft.last_test, gone, there);
  follow(draft.wanted_fast_pattern, gone, there);
  draft.last_content = there;
}

void drop_empty_buffers(RuleDraft& draft) {
  std::vector<BufferTests>& buffers = draft.signature.buffers;
  for (std::size_t at = buffers.size(); at-- > 0;) {
    if (!buffers[at].tests.empty()) continue;
    buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(at));
    for (auto* place : {&draft.last_content, &draft.last_test, &draft.wanted_fast_pattern}) {
      if (*place && (*place)->buffer > at) --(*place)->buffer;
    }
  }
}

}  // namespace millrace
