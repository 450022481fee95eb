// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/nearest.hpp"

#include <algorithm>
#include <vector>

namespace millrace {

std::size_t name_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({change, cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

std::string nearest_of(std::string_view name, std::span<const std::string_view> names) {
  constexpr std::size_t kNameBytesMax = 64;  // longer ones were meant to be something else
  if (name.size() > kNameBytesMax) return {};
  std::string_view best;
  std::size_t best_distance = SIZE_MAX;
  for (const std::string_view candidate : names) {
    const std::size_t distance = name_distance(name, candidate);
    const std::size_t forgiven =
        std::max<std::size_t>(1, std::max(name.size(), candidate.size()) / 3);
    if (distance <= forgiven && distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return std::string(best);
}

std::string no_such(std::string_view what, std::string_view name,
                    std::span<const std::string_view> names) {
  std::string text = "no " + std::string(what) + " '" + std::string(name) + "'; there are: ";
  text += comma_list(names);
  const std::string nearest = nearest_of(name, names);
  return nearest.empty() ? text : text + "; did you mean '" + nearest + "'?";
}

std::string comma_list(std::span<const std::string_view> names) {
  if (names.empty()) return "nothing";
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace millrace
