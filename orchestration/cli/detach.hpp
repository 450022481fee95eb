// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// The caller's terminal, held by a process that goes on in the background until it says that it
/// runs.
class Starter {
 public:
  explicit Starter(UniqueFd status) : status_(std::move(status)) {}
  /// Lets the waiting foreground process end with status 0. Output goes nowhere from here on.
  void running();

 private:
  UniqueFd status_;
};

/// Runs `work` in a child process of a session of its own. Returns in the parent only, with its
/// exit status: 0 once the child has called Starter::running(), the child's own status when it
/// ended before. Call before any thread is started. Throws Error.
int run_detached(const std::function<int(Starter&)>& work);

}  // namespace millrace
