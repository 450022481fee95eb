// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

/// The environment is wrong (configuration, host, a file): an exception that says what was found,
/// what was expected, and the command that mends it where there is one. Thrown at construction and
/// by the control plane only; never in do_work.

namespace millrace {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Error for a failed system call: "<doing>: <text of errno>".
[[nodiscard]] Error system_error(const std::string& doing, int error_number);

/// Runs `work`; an Error that leaves it gets "<doing>: " in front, so a message gathers what each
/// caller did.
template <typename Work>
decltype(auto) while_doing(const std::string& doing, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(doing + ": " + error.what());
  }
}

}  // namespace millrace
