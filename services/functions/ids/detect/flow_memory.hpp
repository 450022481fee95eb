// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// What rules keep between packets. It lies in the lane's state: a worker that dies loses what the
/// batch in hand has changed of it, and no more.

namespace millrace {

class RuleMemory {
 public:
  virtual ~RuleMemory() = default;

  /// What is looked at from here on, as packets of its sender have it. Hosts and counts are by it.
  virtual void set_tuple(const FlowTuple& tuple) noexcept = 0;

  // Of the packet's flow. A packet without a flow has no bits: set_flowbit() does nothing.
  virtual bool flowbit(std::uint16_t bit) const noexcept = 0;
  virtual void set_flowbit(std::uint16_t bit, bool value) noexcept = 0;

  /// Of the packet's hosts: it is set, and its time is not over. Without room it is not kept.
  virtual bool host_bit(const HostBit& bit) const noexcept = 0;
  virtual void set_host_bit(const HostBit& bit, bool value) noexcept = 0;

  /// Counts one more match of the rule for the packet's address by `threshold.by`, and says whether
  /// it counts as one (kLimit, kThreshold, kBoth: is to be told of; kDetectionFilter: matches).
  /// `use` tells apart the several thresholds of a rule. Without room: true.
  virtual bool count(std::uint32_t signature, std::uint8_t use,
                     const Threshold& threshold) noexcept = 0;
};

}  // namespace millrace
