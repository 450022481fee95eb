// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "services/events/event_json.hpp"
#include "shared/layout/event_record.hpp"

/// The part of a line about flows and translations: adds keys to the object that was begun last.

namespace millrace {

/// For a record of kFlow: adds addresses, then the objects `flow` and, for TCP, `tcp`, as EVE has
/// them. `time_ns`: of the record, system clock.
void put_flow(const EventRecord& record, std::uint64_t time_ns, EventTimes& times,
              std::string& out);
/// For a record of kTranslation: adds the addresses as seen from inside, then the object `nat`.
void put_translation(const EventRecord& record, std::string& out);

/// For both: adds to the object `millrace` what EVE has no key for: the identifier of ICMP, and
/// that a flow was translated.
void put_flow_own(const EventRecord& record, std::string& out);

/// The value of natEvent (RFC 8158, 4.4); 0: there is none for this pair of families.
std::uint8_t nat_event_of(const EventRecord& record);

}  // namespace millrace
