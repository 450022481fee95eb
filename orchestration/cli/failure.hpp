// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdlib>
#include <exception>
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
  const auto fail = [format](const Error& error) {
    const bool colour = isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    print_failure(error, format, colour, format == Format::kJson ? std::cout : std::cerr);
    throw CLI::RuntimeError(kExitInvalid);
  };
  try {
    work();
  } catch (const CLI::Error&) {
    throw;
  } catch (const Error& error) {
    fail(error);
  } catch (const std::exception& error) {  // of the standard library
    fail(Error(error.what()));
  }
}

/// The same where no caller catches what it throws. Returns the exit status, which `work` gives
/// when it does not fail.
template <typename Work>
int status_of_command(Format format, Work&& work) {
  int status = kExitInvalid;
  try {
    run_command(format, [&] { status = work(); });
  } catch (const CLI::RuntimeError& failure) {
    status = failure.get_exit_code();
  }
  return status;
}

}  // namespace millrace
