// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "services/functions/ids/protocols/app_session.hpp"

/// One protocol above TCP in one flow: what AppSession asks of it.

namespace millrace {

class AppParser;
/// What a flow carries behind a parser that is done.
struct AppRest {
  std::unique_ptr<AppParser> parser;  ///< that reads it; null: it is to be recognised, as a flow is
  AppProtocol protocol = AppProtocol::kUnknown;  ///< of the parser
  std::uint64_t transactions = 0;                ///< number of the first one that is recognised
  std::array<std::string, 2> bytes;  ///< that came behind what the parser before has read
};

/// One thread. Its begin is the begin of a transaction. read() and end() throw std::bad_alloc, and
/// what they have told by then counts; a parser that has thrown is not called again.
class AppParser {
 public:
  AppParser() = default;
  AppParser(const AppParser&) = delete;
  AppParser& operator=(const AppParser&) = delete;
  virtual ~AppParser() = default;

  /// The bytes that follow those before in `direction`. Each transaction that has something new is
  /// told to `sink`, once for a direction of it.
  virtual void read(std::uint8_t direction, std::span<const std::byte> bytes,
                    TransactionSink& sink) = 0;
  /// Nothing follows in `direction`.
  virtual void end(std::uint8_t direction, TransactionSink& sink) = 0;

  /// Of the bytes that read() was given in `direction`, those at the begin that a parser which is
  /// made anew does not need. Never falls.
  virtual std::uint64_t settled(std::uint8_t direction) const noexcept = 0;
  /// Number of the first transaction whose bytes are not settled. Never falls.
  virtual std::uint64_t transactions() const noexcept = 0;
  /// Bytes of memory that it keeps, itself among them: about as many, or fewer.
  virtual std::size_t held() const noexcept = 0;
  /// Nothing more will come of it.
  virtual bool is_done() const noexcept = 0;
  /// With is_done(), once: what follows. Nothing: no more is read.
  virtual std::optional<AppRest> rest() { return std::nullopt; }
  /// The direction is not understood: nothing more will come of it.
  virtual bool is_broken(std::uint8_t direction) const noexcept = 0;
};

}  // namespace millrace
