// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "services/functions/ids/signature_names.hpp"
#include "shared/layout/event_record.hpp"

/// The part of a line about alerts: adds keys, as EVE has them, to the object that was begun last.

namespace millrace {

/// For a record of kAlert: adds the object `alert`. The rule's number stands for the signature's.
void put_alert(const AlertEvent& alert, std::string& out);

/// For a record of kSignature: adds app_proto, direction and tx_id, if they are known, and the
/// object `alert`. `name`: null when the signature is unknown; then the alert has no message.
void put_signature(const SignatureEvent& event, const SignatureName* name, std::string& out);

/// For a record of kDrop: adds direction, the object `drop` and, when a rule dropped it, `alert`.
void put_drop(const DropEvent& event, const SignatureName* name, std::string& out);

/// Adds app_proto and direction, if they are known. `app`: padded with zeros.
void put_app(std::span<const char> app, FlowDirection direction, std::string& out);

}  // namespace millrace
