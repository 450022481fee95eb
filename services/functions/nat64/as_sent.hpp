// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "services/functions/function.hpp"

namespace millrace {

/// False: no function in front has given the packet other addresses, ports, numbers of TCP or
/// another IP version. Of an ICMP error, which belongs to the flow that it quotes, nothing is
/// known: false.
bool may_be_translated(const FinishContext& call, std::uint16_t packet) noexcept;

/// For its lifetime a packet is as its sender has sent it, for an answer or a report that quotes
/// it: with the IP version, addresses, ports and TCP numbers of before. Behind it the packet is as
/// it was, for what is still to be told of it. A packet that no function in front has translated
/// stays as it is. Nothing allocates.
class AsSent {
 public:
  /// `call` outlives it.
  AsSent(const FinishContext& call, std::uint16_t packet) noexcept;
  ~AsSent();
  AsSent(const AsSent&) = delete;
  AsSent& operator=(const AsSent&) = delete;

  /// False: the packet cannot be given back what it has come with; it stays as it is, and its
  /// sender cannot be told of it.
  bool is_known() const noexcept { return known_; }
  /// It may be another one than before and behind.
  bool differs() const noexcept { return saved_ != 0; }

 private:
  /// Ethernet with two tags; IP with extension headers; TCP with options. Translation changes
  /// nothing behind that, and nothing of a packet with longer headers.
  static constexpr std::size_t kHeadBytesMax = 512;

  void save() noexcept;
  void restore() noexcept;

  const FinishContext& call_;
  std::uint16_t packet_;
  bool known_ = true;
  std::uint16_t offset_ = 0, length_ = 0;
  bool was_renumbered_ = false;
  std::size_t saved_ = 0;  ///< bytes of head_; 0: nothing has changed
  std::array<std::byte, kHeadBytesMax> head_;
};

}  // namespace millrace
