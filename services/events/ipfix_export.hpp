// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "services/events/ipfix_message.hpp"
#include "shared/base/tcp_address.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/event_rings.hpp"

namespace millrace {

/// Sends records of flows and translations to a collector of IPFIX, by UDP. Nothing waits for the
/// collector: a record that cannot be sent is lost, counted, and missing in the sequence numbers
/// that the collector sees. Only these numbers show what the network loses. One thread; no call
/// blocks.
///
/// Each record is sent at most once: it is counted as begun before it leaves its ring, and the
/// successor of a killed process counts as lost what was begun and not sent.
class IpfixExport {
 public:
  /// Templates are sent again with the first message after this time, or this many messages.
  static constexpr std::uint64_t kTemplatePauseNs = 60'000'000'000;
  static constexpr std::uint32_t kTemplatePauseMessages = 500;

  /// `sink`, borrowed, gets the counts. Throws Error when the kernel gives no socket; an
  /// unreachable collector is no error.
  IpfixExport(const PlanIpfix& settings, EventSink& sink);

  /// Called before `records` leave their ring: counts those that will be sent as begun.
  void begin(std::span<const EventRecord> records) noexcept;
  /// Sends the records of begin(). `times_ns`: of each record, Unix time. `now_ns`: Unix time.
  void send(std::span<const EventRecord> records, std::span<const std::uint64_t> times_ns,
            std::uint64_t now_ns) noexcept;

 private:
  void begin_message(std::uint64_t now_ns) noexcept;
  void send_message() noexcept;
  int try_to_send(std::span<const std::byte> message) noexcept;
  void note(int error, std::uint32_t records) noexcept;

  PlanIpfix settings_;
  EventSink& sink_;
  SocketAddress collector_;
  UniqueFd socket_;
  bool connected_ = false;
  IpfixMessage message_;
  std::uint64_t sequence_ = 0;                       ///< data records in earlier messages
  std::uint64_t templates_ns_ = 0;                   ///< when they were sent last
  std::uint32_t messages_ = kTemplatePauseMessages;  ///< since then
  std::uint64_t failed_ = 0;  ///< records lost since it was said; 0: all is well
  std::uint32_t well_ = 0;    ///< messages in a row that could be sent
};

}  // namespace millrace
