// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "services/functions/ids/signature_names.hpp"
#include "shared/layout/event_record.hpp"

/// What a line says of alerts: keys of an object that is begun, as EVE has them.

namespace millrace {

/// Of a record of kAlert: the object `alert`. The rule's number stands for the signature's.
void put_alert(const AlertEvent& alert, std::string& out);

/// Of a record of kSignature: app_proto, direction and tx_id as far as they are known, and the
/// object `alert`. `name`: null when nothing is known of the signature; then it has no message.
void put_signature(const SignatureEvent& event, const SignatureName* name, std::string& out);

/// Of a record of kDrop: direction, the object `drop` and, where a rule did it, `alert`.
void put_drop(const DropEvent& event, const SignatureName* name, std::string& out);

/// app_proto and direction, as far as they are known. `app`: zeros behind it.
void put_app(std::span<const char> app, FlowDirection direction, std::string& out);

}  // namespace millrace
