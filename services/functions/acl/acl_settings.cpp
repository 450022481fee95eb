// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/acl/acl_settings.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

#include "services/functions/rate.hpp"
#include "services/functions/rule_files.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// Number of the setting's value among `allowed`; 0 without it.
std::size_t choice(const PlanFunction& function, std::string_view key,
                   std::initializer_list<std::string_view> allowed) {
  std::size_t chosen = 0;
  for (const std::string& value : values_of(function, key)) {
    std::string names;
    bool found = false;
    std::size_t number = 0;
    for (const std::string_view name : allowed) {
      if (name == value) {
        chosen = number;
        found = true;
      }
      names += (names.empty() ? "" : ", ") + std::string(name);
      ++number;
    }
    if (!found) throw Error(std::string(key) + " is '" + value + "'; allowed: " + names);
  }
  return chosen;
}

std::uint32_t reject_rate(const PlanFunction& function) {
  std::uint32_t rate = AclSettings{}.reject_rate;
  for (const std::string& value : values_of(function, "reject_rate")) {
    rate = parse_rate("reject_rate", value);
  }
  return rate;
}

}  // namespace

AclSettings acl_settings(const PlanFunction& function) {
  return {.default_drops = choice(function, "default", {"pass", "drop"}) == 1,
          .non_ip_drops = choice(function, "non_ip", {"pass", "drop"}) == 1,
          .method = static_cast<AclMethod>(choice(function, "method", {"auto", "tries", "bits"})),
          .reject_rate = reject_rate(function)};
}

}  // namespace millrace
