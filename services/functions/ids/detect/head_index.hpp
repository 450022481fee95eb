// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/ids/detect/packet_view.hpp"
#include "services/functions/ids/detect/prefilter.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// Rules that look at headers alone, so that a packet does not meet all of them.

namespace millrace {

class HeadIndex {
 public:
  /// Of the signatures, those without buffers that look at packets.
  explicit HeadIndex(std::span<const Signature> signatures);

  /// Adds rules that may match: those of the packet's protocol, and of what its flow carries.
  void find(const PacketView& packet, Candidates& found) const noexcept;
  /// Those of the packet's protocol; of what its flow carries.
  std::span<const std::uint32_t> of_protocol(const PacketView& packet) const noexcept;
  std::span<const std::uint32_t> of_app(const PacketView& packet) const noexcept;

 private:
  /// Kinds of packets, by the protocols of rules.
  enum class Kind : std::uint8_t { kTcp, kUdp, kIcmp, kSctp, kOther, kCount };
  static Kind kind_of(std::uint8_t protocol) noexcept;
  void add(const Signature& signature, std::uint32_t number);

  static constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::kCount);
  std::array<Candidates, kKinds> by_kind_;
  std::array<Candidates, kAppProtocols> by_app_;
};

}  // namespace millrace
