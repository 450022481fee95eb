// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "shared/config/plan_fields.hpp"

namespace millrace {

/// True when the two are equal in each field of the list, and in what these hold.
template <typename Value>
constexpr bool same_plan_value(const Value& a, const Value& b) {
  if constexpr (HasFields<Value>) {
    bool same = true;
    each_field<Value>(
        [&](const auto& row) { same = same && same_plan_value(a.*row.member, b.*row.member); });
    return same;
  } else {
    return a == b;
  }
}
template <typename Value>
constexpr bool same_plan_value(const std::optional<Value>& a, const std::optional<Value>& b) {
  return a && b ? same_plan_value(*a, *b) : a.has_value() == b.has_value();
}
template <typename Element>
constexpr bool same_plan_value(const std::vector<Element>& a, const std::vector<Element>& b) {
  return std::ranges::equal(
      a, b, [](const Element& x, const Element& y) { return same_plan_value(x, y); });
}

}  // namespace millrace
