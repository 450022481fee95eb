// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "shared/base/unique_fd.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// Lines of events as they come by the socket of the process `events`, from now on. One thread.
class EventStream {
 public:
  /// Throws Error: the topology has no events, or the process does not answer.
  EventStream(const Plan& plan, const std::string& run_dir);

  /// The next line, without its end; waits for it. False: the topology has ended.
  bool next(std::string& line);
  /// No line is there without waiting: the time to flush what was printed.
  bool is_quiet() const { return text_.find('\n', at_) == std::string::npos; }

 private:
  UniqueFd client_;
  std::string text_;    ///< what came
  std::size_t at_ = 0;  ///< where in it the next line begins
};

}  // namespace millrace
