// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/rate.hpp"

#include "shared/base/error.hpp"

namespace millrace {

std::uint32_t parse_rate(std::string_view key, const std::string& value) {
  const bool digits = !value.empty() && value.size() <= 7 &&
                      value.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoul(value) > 1'000'000) {
    throw Error(std::string(key) + ": '" + value + "' is no rate; expected 0 to 1000000 a second");
  }
  return static_cast<std::uint32_t>(std::stoul(value));
}

}  // namespace millrace
