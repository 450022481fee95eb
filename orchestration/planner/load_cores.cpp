// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "orchestration/planner/sections.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

constexpr std::string_view kCoresRule = "core numbers like 3, '8-15' or [1, 4-7], each once";
constexpr int kCoreMax = kCoreCountMax - 1;

std::optional<int> parse_core(std::string_view text) {
  int core = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  if (core < 0 || core > kCoreMax) return std::nullopt;
  return core;
}

/// Adds "7" or "4-7"; false when it is neither.
bool add_cores(std::string_view text, std::vector<int>& cores) {
  const std::size_t dash = text.find('-');
  const auto first = parse_core(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_core(text.substr(dash + 1));
  if (!first || !last || *first > *last) return false;
  for (int core = *first; core <= *last; ++core) {
    if (std::find(cores.begin(), cores.end(), core) != cores.end()) return false;
    cores.push_back(core);
  }
  return true;
}

}  // namespace

Marked<std::vector<int>> read_cores(const YamlValue& value) {
  Marked<std::vector<int>> cores{{}, value.mark()};
  for (const YamlValue& element : value.elements()) {
    const std::optional<std::string> text = element.text(kCoresRule);
    if (!text) continue;
    std::string_view rest = *text;
    bool right = true;
    while (right && !rest.empty()) {
      const std::size_t comma = rest.find(',');
      right = add_cores(rest.substr(0, comma), cores.value) && comma + 1 != rest.size();
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
    if (!right) element.refuse(kCoresRule);
  }
  return cores;
}

}  // namespace millrace
