// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_alerts.hpp"

#include "services/functions/ids/signature_event.hpp"

namespace millrace {

void tell_alert(const FinishContext& call, const AlertedPacket& packet, const MatchedRule& rule,
                const Signature& signature, EventAction action) noexcept {
  SignatureEvent event = signature_event(rule.signature, signature, action);
  event.direction = packet.direction;
  event.scope = rule.by_stream ? SignatureScope::kStream : SignatureScope::kPacket;
  if (rule.transaction != kNoTransaction) {
    event.scope = SignatureScope::kTransaction;
    event.transaction = EventCount(rule.transaction);
  }
  if (packet.app != AppProtocol::kUnknown) EventWriter::put_name(name_of(packet.app), event.app);
  call.events.signature(packet.packet, event);
}

}  // namespace millrace
