// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace {

/// A word that was found in an operator's file, for a message: in quotes, of its first 40 bytes,
/// what cannot be printed as '?'.
inline std::string quoted_word(std::string_view word) {
  constexpr std::size_t kShownMax = 40;
  std::string shown = "'";
  for (const char c : word.substr(0, kShownMax)) shown += (c >= ' ' && c <= '~') ? c : '?';
  return shown + (word.size() > kShownMax ? "...'" : "'");
}

}  // namespace millrace
