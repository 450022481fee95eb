// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "shared/control/endpoint.hpp"

namespace millrace {

/// Asks whoever recovers: the hub, or the standby when the hub is gone. Blocks up to a second for
/// the hub to be there, then up to five for an answer. Throws Error that says what was tried.
template <class Answer>
Answer ask_leader(const std::string& run_dir, const ControlBody& question) {
  constexpr std::chrono::milliseconds kThere{1000};
  constexpr std::chrono::milliseconds kAnswer{5000};
  ControlClient hub(run_dir, kHubEndpoint);
  if (hub.connected_within(kThere)) return hub.request_for<Answer>(question, kAnswer);
  ControlClient standby(run_dir, kStandbyEndpoint);
  if (standby.connected_within(kThere)) return standby.request_for<Answer>(question, kAnswer);
  throw Error(std::string("neither hub nor standby is there to hear `") + message_name(question) +
              "` in " + run_dir);
}

}  // namespace millrace
