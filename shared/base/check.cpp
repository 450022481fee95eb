// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace millrace {

void check_failed(const char* file, int line, const char* expression) noexcept {
  std::fprintf(stderr, "%s:%d: CHECK(%s) failed\n", file, line, expression);
  std::abort();
}

}  // namespace millrace
