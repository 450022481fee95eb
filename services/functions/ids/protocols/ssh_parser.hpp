// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "services/functions/ids/protocols/app_parser.hpp"

/// The lines by which the sides of SSH say their versions (RFC 4253 4.2): one transaction.

namespace millrace {

/// A direction is through behind its line, or when AppLimits::header_bytes bring none. Bytes are
/// settled when both are through.
class SshParser final : public AppParser {
 public:
  /// `transactions`: if there has been one, the versions have been said.
  SshParser(const AppLimits& limits, std::uint64_t transactions);

  void read(std::uint8_t direction, std::span<const std::byte> bytes,
            TransactionSink& sink) override;
  void end(std::uint8_t direction, TransactionSink& sink) override;

  std::uint64_t settled(std::uint8_t direction) const noexcept override {
    return is_done() ? sides_[direction].bytes : 0;
  }
  std::uint64_t transactions() const noexcept override { return is_done() ? 1 : 0; }
  std::size_t held() const noexcept override {
    return sizeof *this + transaction_.held() + sides_[0].line.capacity() +
           sides_[1].line.capacity();
  }
  bool is_done() const noexcept override { return sides_[0].is_through && sides_[1].is_through; }
  bool is_broken(std::uint8_t direction) const noexcept override {
    return sides_[direction].is_broken;
  }

 private:
  struct Side {
    std::string line;
    std::size_t looked_at = 0;  ///< bytes of all lines
    std::uint64_t bytes = 0;
    bool is_through = false, is_broken = false;
  };

  bool tell_line(std::uint8_t direction);
  void finish(std::uint8_t direction, bool is_broken);

  std::size_t bytes_max_;
  Transaction transaction_{AppProtocol::kSsh, 0};
  std::array<Side, 2> sides_;
};

}  // namespace millrace
