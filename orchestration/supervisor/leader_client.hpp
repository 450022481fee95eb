// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "shared/control/endpoint.hpp"

namespace millrace {

struct LeaderLimits {
  std::chrono::milliseconds there{5000};   ///< until hub or standby listens
  std::chrono::milliseconds answer{5000};  ///< until one that listens has answered
};

/// Asks the leader: the hub, or the standby, which listens once the hub's exit is certain. A
/// hub that dies with the question in its hands has a successor a moment later, which is asked
/// again: `question` has to be one that may be heard twice. Blocks. Throws Error that says what was
/// tried.
ControlBody ask_leader_within(const std::string& run_dir, const ControlBody& question,
                              LeaderLimits limits);

template <class Answer>
Answer ask_leader(const std::string& run_dir, const ControlBody& question,
                  LeaderLimits limits = {}) {
  ControlBody answer = ask_leader_within(run_dir, question, limits);
  if (auto* wanted = std::get_if<Answer>(&answer)) return std::move(*wanted);
  throw Error(std::string("`") + message_name(question) + "` was answered with `" +
              message_name(answer) + "`");
}

}  // namespace millrace
