// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/function.hpp"
#include "services/functions/ids/detect/detector.hpp"
#include "services/functions/ids/ids_log.hpp"
#include "services/functions/ids/rules/signature.hpp"
#include "shared/layout/event_record.hpp"

namespace millrace {

/// The packet by which a rule has matched.
struct AlertedPacket {
  std::uint16_t packet;  ///< in its batch
  FlowDirection direction = FlowDirection::kUnknown;
  AppProtocol app = AppProtocol::kUnknown;
  std::span<const std::byte> payload = {};  ///< bytes that it carries
  const IdsLog* log = nullptr;              ///< it may have texts of transactions
  /// Of what was looked at, where that is not the packet of the batch itself. Null: it is.
  const PacketView* inner = nullptr;
  std::uint8_t depth = 0;  ///< packets around `inner`
};

/// Bytes that an alert has of the packet at most; 0: it has none.
struct AlertBytes {
  std::uint32_t payload = 0;
  std::uint32_t packet = 0;  ///< of the whole frame
};

/// The rule has matched by data of the other direction than the packet's, which has decided it.
bool is_turned(const AlertedPacket& packet, const MatchedRule& rule) noexcept;

/// Tells that a rule has matched, and takes `action`. With addresses and direction of the data that
/// match: is_turned() ones are told without `payload`.
void tell_alert(const FinishContext& call, const AlertedPacket& packet, const MatchedRule& rule,
                const Signature& signature, EventAction action,
                const AlertBytes& bytes = {}) noexcept;

}  // namespace millrace
