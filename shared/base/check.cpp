// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/check.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "shared/base/say.hpp"

namespace millrace {

void check_failed(const char* file, int line, const char* expression) noexcept {
  char text[512];
  std::snprintf(text, sizeof text, "%s:%d: CHECK(%s) failed", file, line, expression);
  say(program_invocation_short_name, text);
  std::abort();
}

}  // namespace millrace
