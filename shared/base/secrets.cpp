// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/secrets.hpp"

#include <algorithm>

namespace millrace {

std::string without_secrets(std::string text, const std::vector<std::string>& secrets) {
  constexpr std::string_view kShown = "(secret)";
  // The longest first: one may be a part of another.
  std::vector<std::string> ordered = secrets;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (const std::string& secret : ordered) {
    if (secret.empty()) continue;
    for (std::size_t at = 0; (at = text.find(secret, at)) != text.npos; at += kShown.size()) {
      text.replace(at, secret.size(), kShown);
    }
  }
  return text;
}

}  // namespace millrace
