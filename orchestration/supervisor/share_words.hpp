// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shared/config/plan.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {

/// Which of a port's queues reads which share of its flows, and which shall (ActorEntry::
/// share_reader, share_wanted), which the supervisor writes. Maps the status file for as long as it
/// lives: while shares move. One thread.
class ShareWords {
 public:
  /// `plan` is borrowed. Throws Error as StatusSource.
  explicit ShareWords(const Plan& plan);
  /// Over memory that the caller holds (tests).
  ShareWords(const Plan& plan, const StatusView& view) : plan_(plan), view_(view) {}

  /// The shares of `port` are to be read by its first `queues` queues, each by as many as the
  /// others, and by what reads them now as far as can be. `port` may have none, or one queue only.
  void spread(std::uint32_t port, std::uint32_t queues);
  /// Every share of `port` is read by the wanted ingress.
  bool all_moved(std::uint32_t port) const;
  /// Shares of `port` that `reader` reads have no socket until it has opened one again.
  void forget_joined(std::uint32_t port, std::uint32_t reader);
  /// They will never have one: the port's others receive without them.
  void wait_no_more(std::uint32_t port, std::uint32_t reader);

 private:
  void set_joined(std::uint32_t port, std::uint32_t reader, bool joined);

  const Plan& plan_;
  Mapping mapping_;
  StatusView view_;
};

/// By share: the queue, of the first `queues`, that shall read it, when `readers` are the queues
/// that do: as evenly as can be, with the fewest changes.
std::vector<std::uint32_t> spread_shares(const std::vector<std::uint32_t>& readers,
                                         std::uint32_t queues);

}  // namespace millrace
