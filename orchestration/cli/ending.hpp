// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <csignal>

namespace millrace {

// A signal reaches a process, not an object.
inline std::atomic<bool> g_ended{false};

/// From now on g_ended says that a signal asks the command to end, which it does in order. A reader
/// of its output that goes ends no process: writing fails.
inline void end_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_ended = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

}  // namespace millrace
