// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/limits.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/batch.hpp"

namespace millrace {

/// Packets of a batch that came in with VLAN tags: without these, by the port that they belong to
/// (device `vlan`). A priority tag (IEEE 802.1Q, VLAN 0) belongs to the port itself. Private memory
/// of a worker; data thread.
class RouterVlans {
 public:
  /// `ports`: all of the plan.
  explicit RouterVlans(std::span<const PlanPort> ports);

  /// True: its tags are those of a port here; they are off, and the packet waits in next(). False,
  /// and nothing done: not so. `port_in`: by which it came in.
  bool strip(const Batch& batch, std::uint16_t packet, std::uint8_t port_in) noexcept;
  /// The packets of one port that wait, ascending; empty: there are none. They stay until the next
  /// call, and wait no more.
  struct Group {
    std::uint8_t port = 0;
    std::span<const std::uint16_t> packets;
  };
  Group next() noexcept;
  bool empty() const noexcept { return count_ == 0; }

 private:
  struct Tagged {
    std::uint8_t port_in;
    std::uint16_t outer, id;
    std::uint8_t port;
  };

  std::vector<Tagged> known_;
  std::uint32_t count_ = 0;
  std::array<std::uint16_t, kBatchCapacityMax> packets_;
  std::array<std::uint8_t, kBatchCapacityMax> ports_;
  std::array<std::uint16_t, kBatchCapacityMax> group_;
};

}  // namespace millrace
