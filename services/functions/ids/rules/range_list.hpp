// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

/// Sets of values as ranges: what lists of addresses and ports with negations become.

namespace millrace {

/// Inclusive.
template <typename Value>
using Range = std::pair<Value, Value>;
template <typename Value>
using RangeList = std::vector<Range<Value>>;

/// Puts ranges in ascending order, and those that touch into one. `next`: the value behind another;
/// none behind the last.
template <typename Value, typename Next>
RangeList<Value> joined(RangeList<Value> ranges, const Next& next) {
  std::ranges::sort(ranges);
  RangeList<Value> result;
  for (const Range<Value>& range : ranges) {
    if (!result.empty()) {
      Range<Value>& last = result.back();
      const std::optional<Value> behind = next(last.second);
      if (!behind || range.first <= *behind) {
        last.second = std::max(last.second, range.second);
        continue;
      }
    }
    result.push_back(range);
  }
  return result;
}

/// `of` without the values of `without`, both joined. `previous` mirrors `next`.
template <typename Value, typename Next, typename Previous>
RangeList<Value> difference(const RangeList<Value>& of, const RangeList<Value>& without,
                            const Next& next, const Previous& previous) {
  RangeList<Value> result;
  auto cut = without.begin();
  for (Range<Value> range : of) {
    bool is_left = true;
    while (cut != without.end() && cut->second < range.first) ++cut;
    for (auto at = cut; is_left && at != without.end() && at->first <= range.second; ++at) {
      if (range.first < at->first) result.emplace_back(range.first, *previous(at->first));
      const std::optional<Value> behind = next(at->second);
      is_left = behind && *behind <= range.second;
      if (is_left) range.first = *behind;
    }
    if (is_left) result.push_back(range);
  }
  return result;
}

}  // namespace millrace
