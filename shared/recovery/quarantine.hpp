// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "shared/links/outbox.hpp"
#include "shared/recovery/recovery_event.hpp"

namespace millrace {

/// A process that cannot be killed keeps its slots for good, and its rings with their contents. For
/// each sequence number that would be missing at the egress, a stand-in slot goes on in its place.
/// Called by the leader, from one thread.
class StandIns {
 public:
  /// All are borrowed.
  StandIns(const ActorContext& context, Outbox& outbox, const TellRecovery& tell)
      : context_(context), outbox_(outbox), tell_(tell) {}

  /// Called when all producers and acceptors have acknowledged that the actor is quarantined.
  /// Returns how many stand-ins have gone on.
  std::uint32_t fill_holes_of(std::uint32_t actor);

 private:
  bool replaced(std::uint32_t slot) const;
  void stand_in_for(std::uint32_t slot);

  const ActorContext& context_;
  Outbox& outbox_;
  const TellRecovery& tell_;
};

}  // namespace millrace
