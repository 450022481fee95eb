// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "services/functions/firewall/tcp_options.hpp"
#include "services/functions/flow/flow_tuple.hpp"

/// SYN cookies: the beginning of a connection in the number and in the timestamp of a SYN+ACK,
/// instead of in a table (RFC 4987 3.6, after D. J. Bernstein). Only a host that gets the SYN+ACK
/// can send what acknowledges it. The layout is that of Linux's: in the number 8 bits of the minute
/// and 24 bits of a keyed hash, to which the index of the MSS is added; in the timestamp the
/// shift of the window and SACK: a host that sends back another one harms itself alone.

namespace millrace {

/// `secret`: no sender can guess it. Times are of one clock for all that share a secret.
class SynCookies {
 public:
  explicit SynCookies(const std::array<std::uint64_t, 2>& secret) noexcept : secret_(secret) {}

  /// The number of the SYN+ACK for a SYN of `tuple` with `sequence` and the option `mss`, 0: none.
  std::uint32_t number(const FlowTuple& tuple, std::uint32_t sequence, std::uint16_t mss,
                       std::uint64_t now_ns) const noexcept;
  /// The MSS that the SYN had, or the next lower one of eight; nothing: `number` is no cookie of
  /// ours for that SYN, or it is older than kAgeMax minutes. Of a number that is off by less than
  /// eight, another MSS may come out: its sender has seen the right one.
  std::optional<std::uint16_t> mss_of(const FlowTuple& tuple, std::uint32_t sequence,
                                      std::uint32_t number, std::uint64_t now_ns) const noexcept;

  static constexpr std::uint32_t kAgeMax = 2;

 private:
  std::uint32_t hash(const FlowTuple& tuple, std::uint32_t minute) const noexcept;

  std::array<std::uint64_t, 2> secret_;
};

/// The value of the SYN+ACK's timestamp: milliseconds, the last bits of which say what `options` of
/// the SYN has of window scale and SACK.
std::uint32_t syn_cookie_timestamp(const TcpOptions& options, std::uint64_t now_ns) noexcept;
/// Sets scale and may_sack by what comes back as its echo.
void read_syn_cookie_timestamp(std::uint32_t echo, TcpOptions& options) noexcept;

}  // namespace millrace
