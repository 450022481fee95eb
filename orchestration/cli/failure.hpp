// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <ostream>

#include "shared/base/error.hpp"

namespace millrace {

enum class Format : std::uint8_t { kText, kJson };

/// Exit statuses of `millrace`.
inline constexpr int kExitInvalid = 1;  ///< what was given is wrong, or the host is
inline constexpr int kExitUsage = 2;    ///< the command line is

/// Says why a command failed. Text: one line a problem, the place first; `colour` for terminals.
/// JSON: {"ok": false, "problems": [{"file", "line", "column", "found", "allowed", "nearest",
/// "text"}], "total"} for a topology that was refused, {"ok": false, "error"} for everything else.
void print_failure(const Error& error, Format format, bool colour, std::ostream& out);

/// Runs a command's `work`. A failure goes to standard error as text, to standard output as JSON,
/// and ends as CLI::RuntimeError(kExitInvalid). Colour only on a terminal, and never with NO_COLOR.
template <typename Work>
void run_command(Format format, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    const bool colour = isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    print_failure(error, format, colour, format == Format::kJson ? std::cout : std::cerr);
    throw CLI::RuntimeError(kExitInvalid);
  }
}

}  // namespace millrace
