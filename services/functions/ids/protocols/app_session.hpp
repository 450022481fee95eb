// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "services/functions/ids/protocols/transaction.hpp"

/// The parsers above TCP and UDP of one flow. What they know is a cache of the worker's: a session
/// is made anew from bytes that the stream keeps, and comes to the same.

namespace millrace {

class TransactionPool;
class WorkShare;

struct AppLimits {
  std::size_t body_bytes = 100u << 10;   ///< of a body, kept and looked at at a time
  std::size_t header_bytes = 64u << 10;  ///< of a request or response in front of its body
  std::size_t inflate_bytes = 4u << 20;  ///< that one body may decompress to
  std::uint32_t inflate_layers = 2;      ///< of content encodings
  std::uint32_t transactions = 64;       ///< of one flow at a time; the oldest one is given up
  /// Bytes that wait for what a server says of a CONNECT are read as requests at once, too: its
  /// server may take them for that, and have them by then. Through so many of these in a row less
  /// one; more break the direction. 0: they are not.
  std::uint32_t connects_ahead = 0;
  bool keeps_messages = false;      ///< Transaction::messages
  bool tells_events = false;        ///< of DNS, RuleBuffer::kAppEvent; of others always
  bool keeps_envelopes = false;     ///< Transaction::envelope
  TransactionPool* pool = nullptr;  ///< transactions to use again; borrowed; null: none
  WorkShare* work = nullptr;        ///< what bodies may inflate to; borrowed; null: no bound
};

/// What is told of a transaction: `direction` of it has something new. The reference is good during
/// the call.
class TransactionSink {
 public:
  virtual ~TransactionSink() = default;
  virtual void on_news(Transaction& transaction, std::uint8_t direction) noexcept = 0;
};

class AppParser;

/// One thread. Allocates: parsers above TCP keep text of any length within AppLimits. A session
/// that runs out of memory reads no further (kNone), and calls WorkShare::lose_parser().
class AppSession {
 public:
  /// Of a flow of which nothing is known.
  explicit AppSession(const AppLimits& limits);
  /// Of a flow that is known to carry `protocol`, whose bytes from here on begin a transaction.
  /// `transactions`: number of those that have been before.
  AppSession(const AppLimits& limits, AppProtocol protocol, std::uint64_t transactions);
  ~AppSession();

  /// Bytes of TCP that the receiver reads next. `server_port`: a hint.
  void read(std::uint8_t direction, std::span<const std::byte> bytes, std::uint16_t server_port,
            TransactionSink& sink) noexcept;
  /// The direction ends: FIN, or the flow's end.
  void end(std::uint8_t direction, TransactionSink& sink) noexcept;
  /// A datagram of UDP.
  void read_datagram(std::uint8_t direction, std::span<const std::byte> bytes,
                     std::uint16_t server_port, TransactionSink& sink) noexcept;

  AppProtocol protocol() const noexcept;
  /// Of the bytes of a direction that read() was given, those that a session which is made anew
  /// does not need: they belong to transactions that are through.
  std::uint64_t settled(std::uint8_t direction) const noexcept;
  /// Transactions that are through.
  std::uint64_t transactions() const noexcept;
  /// Bytes of memory that it keeps, as AppParser::held().
  std::size_t held() const noexcept;
  /// A direction is not understood: nothing more will come of it.
  bool is_broken(std::uint8_t direction) const noexcept;
  /// Nothing more will come of it: TLS behind its handshake, a protocol that is none of these.
  bool is_done() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace
