// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"
#include "services/functions/ids/detect/detector.hpp"
#include "services/functions/ids/rules/signature.hpp"
#include "shared/layout/event_record.hpp"

namespace millrace {

/// The packet by which a rule has matched.
struct AlertedPacket {
  std::uint16_t packet;  ///< in its batch
  FlowDirection direction = FlowDirection::kUnknown;
  AppProtocol app = AppProtocol::kUnknown;
};

/// Tells that a rule has matched, and takes `action`.
void tell_alert(const FinishContext& call, const AlertedPacket& packet, const MatchedRule& rule,
                const Signature& signature, EventAction action) noexcept;

}  // namespace millrace
