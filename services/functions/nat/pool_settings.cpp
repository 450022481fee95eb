// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/pool_settings.hpp"

#include "shared/base/error.hpp"

namespace millrace {

void refuse_key(std::string_view type, const std::string& key,
                std::span<const KnownSetting> known) {
  std::string names;
  for (const KnownSetting& one : known) {
    names.append(names.empty() ? "" : ", ").append(one.name);
  }
  throw Error(key + ": " + std::string(type) + " has no such setting; there are " + names);
}

}  // namespace millrace
