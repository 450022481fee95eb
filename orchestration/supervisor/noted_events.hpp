// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "shared/control/messages.hpp"

namespace millrace {

/// What has happened to a topology: all of it in the supervisor's log file, the latest also here.
/// One thread.
class NotedEvents {
 public:
  /// `tell` also hears of each; may be empty.
  NotedEvents(std::string run_dir, std::function<void(const Event&)> tell);

  /// An event without a time is of this moment.
  void add(Event event);
  /// The latest ones, at most so many, oldest first.
  std::vector<Event> latest(std::size_t count) const;
  /// Of the latest ones, some say what is wrong with what the port reads.
  bool has_trouble_of(const std::string& port) const;

 private:
  std::string run_dir_;
  std::function<void(const Event&)> tell_;
  std::deque<Event> events_;
};

}  // namespace millrace
