// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/error.hpp"

#include <system_error>

namespace millrace {

Error system_error(const std::string& doing, int error_number) {
  return Error(doing + ": " + std::generic_category().message(error_number));
}

}  // namespace millrace
