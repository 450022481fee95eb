// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/ids/rules/signature.hpp"
#include "shared/layout/event_record.hpp"

namespace millrace {

/// What a record says of signature `number` whatever it matched; the caller adds direction, scope,
/// transaction and app.
inline SignatureEvent signature_event(std::uint32_t number, const Signature& signature,
                                      EventAction action) noexcept {
  SignatureEvent event{};
  event.rule = number;
  event.sid = signature.sid;
  event.gid = signature.gid;
  event.revision = signature.revision;
  event.action = action;
  event.priority = signature.priority;
  return event;
}

}  // namespace millrace
