// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/setting_values.hpp"

#include <charconv>

#include "shared/base/error.hpp"

namespace millrace {

std::uint64_t setting_number(const std::string& key, const std::string& value) {
  std::uint64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || at != end) throw Error(key + ": '" + value + "' is no number");
  return number;
}

bool setting_flag(const std::string& key, const std::string& value) {
  if (value != "true" && value != "false") {
    throw Error(key + ": '" + value + "' is neither true nor false");
  }
  return value == "true";
}

}  // namespace millrace
