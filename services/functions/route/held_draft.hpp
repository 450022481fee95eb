// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/function.hpp"
#include "services/functions/route/next_hops.hpp"

namespace millrace {

class Ipv4Router;
class Ipv6Router;

/// A HeldReport that is being written. It quotes the packet that waits, or, where that is not as
/// its sender has sent it, has a short quote of its own.
class HeldDraft {
 public:
  /// `back`: HeldReport::back while there is no report.
  explicit HeldDraft(std::uint8_t back) noexcept : report_{.front = {}, .back = back} {}

  /// The report quotes what is not the packet that waits; it has at most so many bytes.
  void quote_by_itself(std::size_t bytes_max) noexcept { bytes_max_ = bytes_max; }
  /// Bytes that a report with `front_bytes` in front quotes where `wanted` are there to be quoted.
  /// 0: there is no room for `needed`, and thus no report.
  std::size_t quote_bytes(std::size_t front_bytes, std::size_t needed,
                          std::size_t wanted) const noexcept;
  /// What stands in front of the quote; to be written.
  std::span<std::byte> front(std::size_t bytes) noexcept { return std::span(bytes_).first(bytes); }
  /// front() is written. `quote`: of quote_bytes(). `back`: the port that it leaves by.
  void finish(std::size_t front_bytes, std::span<const std::byte> quote,
              std::uint8_t back) noexcept;

  /// Valid as long as the draft.
  const HeldReport& report() const noexcept { return report_; }

 private:
  std::array<std::byte, kHoldBytesMax> bytes_;
  std::size_t bytes_max_ = 0;  ///< 0: the packet is what is quoted
  HeldReport report_;
};

/// The packet waits at the egress for its neighbour (NextHops::hold()) with the report that says to
/// its sender that none answers: in the IP version of the sender, about what that has sent. `ipv4`,
/// `ipv6`: write it; null: there is none, and no report.
void hold_packet(const FinishContext& call, const Departure& at, NextHops& hops, Ipv4Router* ipv4,
                 Ipv6Router* ipv6) noexcept;

}  // namespace millrace
