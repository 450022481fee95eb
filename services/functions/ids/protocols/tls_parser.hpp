// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "services/functions/ids/protocols/app_parser.hpp"

/// The handshake of TLS 1.0 to 1.3 (and SSL 3.0), as far as it is not encrypted: one transaction.

namespace millrace {

/// Handshake messages of a direction beyond AppLimits::header_bytes are not read: what is whole of
/// the message that passes the limit is still told. A direction is through at its first record that
/// is encrypted (or not TLS). Bytes are settled when both are.
class TlsParser final : public AppParser {
 public:
  /// `transactions`: if there has been one, the handshake is over.
  TlsParser(const AppLimits& limits, std::uint64_t transactions);

  void read(std::uint8_t direction, std::span<const std::byte> bytes,
            TransactionSink& sink) override;
  void end(std::uint8_t direction, TransactionSink& sink) override;

  std::uint64_t settled(std::uint8_t direction) const noexcept override {
    return is_done() ? sides_[direction].bytes : 0;
  }
  std::uint64_t transactions() const noexcept override { return is_done() ? 1 : 0; }
  std::size_t held() const noexcept override {
    return sizeof *this + transaction_.held() + sides_[0].message.capacity() +
           sides_[1].message.capacity();
  }
  bool is_done() const noexcept override { return sides_[0].is_through && sides_[1].is_through; }
  bool is_broken(std::uint8_t direction) const noexcept override {
    return sides_[direction].is_broken;
  }

 private:
  static constexpr std::size_t kRecordHeaderBytes = 5;

  struct Side {
    std::array<std::byte, kRecordHeaderBytes> header{};  ///< of the record
    std::size_t header_bytes = 0;                        ///< of it that have come
    std::size_t record_rest = 0;                         ///< bytes of the record that have not come
    std::string message;  ///< of the handshake, not whole, with its header
    std::size_t handshake_bytes = 0;
    std::uint64_t bytes = 0;
    bool has_hello = false, has_certificates = false;
    bool has_news = false;
    bool is_through = false, is_broken = false;
  };

  std::size_t read_some(std::uint8_t direction, std::span<const std::byte> bytes);
  void begin_record(std::uint8_t direction);
  void read_handshake(std::uint8_t direction, std::span<const std::byte> bytes);
  void tell_message(std::uint8_t direction);
  bool may_say_hello_again(std::uint8_t direction) const noexcept;
  void tell_client_hello(std::span<const std::byte> body);
  void tell_next_hello(std::span<const std::byte> body);
  void tell_server_hello(std::span<const std::byte> body);
  void tell_certificates(std::uint8_t direction, std::span<const std::byte> body);
  void put(std::uint8_t direction, RuleBuffer buffer, std::string_view bytes);
  void finish(std::uint8_t direction, bool is_broken);

  std::size_t handshake_bytes_max_;
  Transaction transaction_{AppProtocol::kTls, 0};
  std::array<Side, 2> sides_;
  std::string server_name_;      ///< of the last ClientHello
  std::size_t passed_over_ = 0;  ///< bytes of records in front of another ClientHello
  bool is_asked_again_ = false;  ///< by a HelloRetryRequest, and none has come
};

}  // namespace millrace
