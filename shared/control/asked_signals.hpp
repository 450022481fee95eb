// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <ctime>
#include <initializer_list>

namespace millrace {

/// Signals that are taken by asking: no handler runs anywhere. To be made before the process has
/// threads.
class AskedSignals {
 public:
  AskedSignals(std::initializer_list<int> numbers) {
    sigemptyset(&signals_);
    for (const int number : numbers) sigaddset(&signals_, number);
    sigprocmask(SIG_BLOCK, &signals_, nullptr);
  }
  /// One that has come; 0: none has.
  int next() const {
    const timespec none{};
    const int number = sigtimedwait(&signals_, nullptr, &none);
    return number > 0 ? number : 0;
  }

 private:
  sigset_t signals_;
};

}  // namespace millrace
