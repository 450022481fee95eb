// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "services/functions/ids/protocols/app_parser.hpp"
#include "services/functions/ids/protocols/dns_message.hpp"

/// DNS over UDP and TCP: a transaction for each query of direction 0, which its answer of
/// direction 1 completes. Names stand in kDnsQuery of the query.

namespace millrace {

/// The queries of a flow that wait for their answers, whatever brings the messages.
class DnsExchange {
 public:
  /// Where a message stands among the bytes of its direction. Of datagrams: anywhere.
  struct Place {
    std::uint64_t begin = 0, end = 0;
  };

  DnsExchange(const AppLimits& limits, std::uint64_t transactions)
      : waiting_max_(limits.transactions),
        keeps_messages_(limits.keeps_messages),
        tells_events_(limits.tells_events),
        next_(transactions) {}

  /// Messages of the other kind than their direction's, and answers without a query, are passed
  /// over but for their events: these are told by transactions without a number (kNoTransaction).
  /// Throws std::bad_alloc.
  void message(std::uint8_t direction, std::span<const std::byte> bytes, Place place,
               TransactionSink& sink);
  /// No answer follows.
  void end(TransactionSink& sink) noexcept;

  std::uint64_t settled(std::uint8_t direction) const noexcept;
  /// Number of the oldest transaction that is not through: those behind it may be answered.
  std::uint64_t transactions() const noexcept { return next_ - asked_.size(); }
  /// As AppParser::held().
  std::size_t held() const noexcept;

 private:
  struct Query {
    std::uint16_t id;
    std::unique_ptr<Transaction> transaction;  ///< none: it is answered
    std::uint64_t begin;                       ///< of the query
    std::uint64_t answer;                      ///< begin of the answer
  };

  void ask(const DnsHeader& header, std::span<const std::byte> bytes, Place place,
           TransactionSink& sink);
  void answer(const DnsHeader& header, std::span<const std::byte> bytes, Place place,
              TransactionSink& sink);
  void pop_answered() noexcept;
  void tell_events(std::uint8_t direction, std::span<const std::string_view> events,
                   TransactionSink& sink) const;
  void make_room(TransactionSink& sink) noexcept;
  /// Begin of the first answer to one of the queries from number `from` of asked_ on.
  std::uint64_t first_answer(std::size_t from) const noexcept;

  std::uint32_t waiting_max_;
  bool keeps_messages_;
  bool tells_events_;
  std::uint64_t next_;       ///< number of the next query
  std::deque<Query> asked_;  ///< oldest first, numbers without gaps
  std::array<std::uint64_t, 2> read_{};
};

/// Over TCP.
class DnsParser final : public AppParser {
 public:
  DnsParser(const AppLimits& limits, std::uint64_t transactions)
      : exchange_(limits, transactions), message_bytes_max_(limits.header_bytes) {}

  void read(std::uint8_t direction, std::span<const std::byte> bytes,
            TransactionSink& sink) override;
  void end(std::uint8_t direction, TransactionSink& sink) override;

  std::uint64_t settled(std::uint8_t direction) const noexcept override {
    return exchange_.settled(direction);
  }
  std::uint64_t transactions() const noexcept override { return exchange_.transactions(); }
  std::size_t held() const noexcept override {
    return sizeof *this + exchange_.held() + sides_[0].pending.capacity() +
           sides_[1].pending.capacity();
  }
  bool is_done() const noexcept override { return is_broken(0) && is_broken(1); }
  bool is_broken(std::uint8_t direction) const noexcept override {
    return sides_[direction].is_broken;
  }

 private:
  struct Side {
    std::string pending;      ///< of a message that is not whole, with its length
    std::uint64_t begin = 0;  ///< of it
    bool is_broken = false;
  };

  DnsExchange exchange_;
  std::size_t message_bytes_max_;
  std::array<Side, 2> sides_;
};

}  // namespace millrace
