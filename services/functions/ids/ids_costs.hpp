// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/function.hpp"
#include "services/functions/ids/detect/detector.hpp"
#include "services/functions/ids/detect/packet_view.hpp"
#include "services/functions/ids/protocols/app_session.hpp"
#include "services/functions/ids/rules/signature.hpp"
#include "services/functions/ids/work_budget.hpp"

namespace millrace {

/// What becomes of packets that want more work than their sources have (WorkBudget). One a worker,
/// one thread.
class IdsCosts {
 public:
  enum class Fate : std::uint8_t {
    kPasses,      ///< nothing was given up, or nothing that can change a verdict
    kPacket,      ///< it is to be dropped: others have used up the worker's units
    kConnection,  ///< likewise, and all that follows in its connection: by its own fault
  };

  struct Verdict {
    Fate fate = Fate::kPasses;
    std::uint32_t first = UINT32_MAX;  ///< signature from which on verdicts are not known
    /// Nothing reads on what the packet's flow carries, and a rule may drop: the flow is to be
    /// dropped also where the packet has a verdict of its own.
    bool is_lost = false;
    /// `pass`: the signature by which the packet passes, if one says so.
    bool drops(std::optional<std::uint32_t> pass) const noexcept {
      return fate != Fate::kPasses && first < pass.value_or(UINT32_MAX);
    }
  };

  /// `detector` is borrowed, and takes its units from here on. `drops`: rules may. `counter`: that
  /// of IdsCounter::kGivenUp.
  IdsCosts(Detector& detector, std::span<const Signature> signatures, bool drops,
           std::size_t counter);

  /// The same limits, with bodies that take units; good as long as this is.
  AppLimits bounded(AppLimits limits) noexcept {
    limits.work = &budget_.share();
    return limits;
  }
  /// In front of everything that is looked at with a packet. `is_of_batch`: its flow is one of
  /// `flow`; connections in tunnels may be made up by one end of the tunnel.
  void begin_packet(const FinishContext& call, const PacketView& packet, bool is_of_batch) noexcept;
  /// Behind all looks: counts what was given up.
  Verdict end_packet(const FinishContext& call) noexcept;

 private:
  Detector& detector_;
  bool drops_;  ///< there is a rule that does
  std::size_t counter_;
  WorkBudget budget_;
};

}  // namespace millrace
