// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/supervisor/fleet.hpp"
#include "orchestration/supervisor/unread_inputs.hpp"
#include "shared/control/messages.hpp"

namespace millrace {

/// When a topology with finite input has nothing left to do, and what has become of its packets.
/// One thread.
class EndOfInput {
 public:
  struct Means {
    /// Waits that long for something to happen, and deals with it.
    std::function<void(std::chrono::milliseconds)> turn;
    /// An event has said why the port's capture was not read whole.
    std::function<bool(const std::string& port)> is_told;
  };
  /// `plan` and `fleet` are borrowed.
  EndOfInput(const Plan& plan, const Fleet& fleet, std::string run_dir, Means means);

  /// Asked once a turn: every ingress is exhausted and nothing is in flight.
  bool is_reached();
  /// From the hub, which must be there. Throws Error; takes 2 s at most where packets are under
  /// way.
  void take_audit();
  /// At most 2 s.
  void await_reasons();

  const std::optional<AuditReply>& audit() const { return audit_; }
  /// Captures that were not read whole, at the time of the audit.
  const std::vector<UnreadInput>& unread() const { return unread_; }

 private:
  const Plan& plan_;
  const Fleet& fleet_;
  std::string run_dir_;
  Means means_;
  std::optional<AuditReply> audit_;
  std::vector<UnreadInput> unread_;
  int quiet_turns_ = 0;  ///< in a row that found nothing left to do
};

}  // namespace millrace
