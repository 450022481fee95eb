// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/unique_fd.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// Says when the tables that follow the kernel's routes are to be built anew. It reads no route: a
/// builder asks for all of them, so a notification that the kernel had no room for costs nothing.
/// Routes that change in a row are taken together. A table that is changed in place is built anew
/// only when it has no room for a change. One thread; no call waits.
class RouteWatch {
 public:
  using Clock = std::chrono::steady_clock;
  /// From the first change to the build: what a routing daemon sends together is built together.
  static constexpr std::chrono::milliseconds kGather{20};
  /// At least between two builds, or as long as the last one took.
  static constexpr std::chrono::milliseconds kPause{100};

  /// `plan` is borrowed. The first build is due at once: routes may have changed since the tables
  /// were built, or before this supervisor took over.
  explicit RouteWatch(const Plan& plan);

  /// Readable when a route or an interface has changed; -1: no function follows the kernel, or a
  /// build is due already.
  int descriptor() const { return changed_ ? -1 : changes_.get(); }
  /// Tables are to be built soon.
  bool pending() const { return changed_; }
  /// The functions with tables to be built now; empty: none. To be called while nothing else
  /// is being built; the caller says by done() when these are in use.
  std::vector<std::string> due(Clock::time_point now);
  /// What due() asked for has ended. `again`: it failed, and has to be tried again.
  void done(Clock::time_point now, bool again);

 private:
  std::vector<std::string> followers(bool in_place) const;
  std::vector<std::string> changed(Clock::time_point now);
  std::vector<std::string> full(Clock::time_point now);
  bool read_changes();

  const Plan& plan_;
  UniqueFd changes_;
  bool changed_ = false;
  Clock::time_point changed_at_{};  ///< the first change since the last build began
  Clock::time_point began_{};       ///< of the last build
  Clock::time_point next_{};        ///< no build begins before
  Clock::time_point look_{};        ///< when tables that are changed in place are looked at next
};

}  // namespace millrace
