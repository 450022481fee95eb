// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/end_of_input.hpp"

#include <algorithm>
#include <utility>

#include "orchestration/supervisor/leader_client.hpp"
#include "shared/base/patience.hpp"

namespace millrace {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAuditTurn{20};
constexpr milliseconds kAuditLimit{2000};   // counts settle within some turns of the actors
constexpr milliseconds kReasonLimit{2000};  // an event takes one turn of its ingress

}  // namespace

EndOfInput::EndOfInput(const Plan& plan, const Fleet& fleet, std::string run_dir, Means means)
    : plan_(plan), fleet_(fleet), run_dir_(std::move(run_dir)), means_(std::move(means)) {}

/// Asks several times in a row: counts of different lanes are not read at one moment.
bool EndOfInput::is_reached() {
  constexpr int kTurns = 5;
  const StatusSource* status = fleet_.status();
  const bool quiet = status != nullptr && status->all_exhausted() && status->in_flight() == 0;
  quiet_turns_ = quiet ? quiet_turns_ + 1 : 0;
  return quiet_turns_ >= kTurns;
}

/// Slots and buffers return to their ingress a moment after their packets were counted.
void EndOfInput::take_audit() {
  unread_ = unread_inputs(
      plan_, [&](std::uint32_t actor) { return fleet_.status()->receive_errors(actor); });
  Patience patience(kAuditLimit);
  do {
    audit_ = ask_leader<AuditReply>(run_dir_, AuditRequest{});
    if (audit_->exact && audit_->quiet) return;
    means_.turn(kAuditTurn);
  } while (!patience.is_over());
}

/// Waits for the events that say why a capture was not read whole.
void EndOfInput::await_reasons() {
  Patience patience(kReasonLimit);
  const auto told = [&](const UnreadInput& input) { return means_.is_told(input.port); };
  while (!std::ranges::all_of(unread_, told) && !patience.is_over()) means_.turn(kAuditTurn);
}

}  // namespace millrace
