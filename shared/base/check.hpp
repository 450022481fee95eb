// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// CHECK: a broken promise inside our own code is a bug; the process ends and is restarted.
/// Bad packets, bad configuration and a bad host are never CHECKed (see shared/README.md, errors by
/// plane).

namespace millrace {

/// Prints "file:line: CHECK(expression) failed" to standard error and aborts. Never returns.
[[noreturn, gnu::cold]] void check_failed(const char* file, int line,
                                          const char* expression) noexcept;

}  // namespace millrace

#define MILLRACE_CHECK(expression)                               \
  do {                                                           \
    if (!(expression)) [[unlikely]]                              \
      ::millrace::check_failed(__FILE__, __LINE__, #expression); \
  } while (false)
