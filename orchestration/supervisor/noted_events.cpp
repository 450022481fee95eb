// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/noted_events.hpp"

#include <algorithm>
#include <utility>

#include "orchestration/supervisor/programs.hpp"
#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"
#include "shared/control/actor_control.hpp"

namespace millrace {
namespace {

constexpr std::size_t kEventsKept = 256;

}  // namespace

NotedEvents::NotedEvents(std::string run_dir, std::function<void(const Event&)> tell)
    : run_dir_(std::move(run_dir)), tell_(std::move(tell)) {}

void NotedEvents::add(Event event) {
  if (event.time_ns == 0) event.time_ns = system_clock_ns();
  if (tell_) tell_(event);
  append_to_log(run_dir_, "supervisor", event.time_ns, event.kind + ": " + event.text);
  events_.push_back(std::move(event));
  if (events_.size() > kEventsKept) events_.pop_front();
  MILLRACE_CHECK(events_.size() <= kEventsKept);
}

std::vector<Event> NotedEvents::latest(std::size_t count) const {
  const std::size_t shown = std::min(events_.size(), count);
  return {events_.end() - static_cast<std::ptrdiff_t>(shown), events_.end()};
}

bool NotedEvents::has_trouble_of(const std::string& port) const {
  return std::ranges::any_of(events_, [&](const Event& event) {
    return event.kind == kPortTrouble && event.text.starts_with("port '" + port + "'");
  });
}

}  // namespace millrace
