// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "services/events/event_json.hpp"
#include "shared/layout/event_record.hpp"

/// What a line says of flows and translations: keys of an object that is begun.

namespace millrace {

/// Of a record of kFlow: addresses, then the objects `flow` and, of TCP, `tcp`, as EVE has them.
/// `time_ns`: of the record, system clock.
void put_flow(const EventRecord& record, std::uint64_t time_ns, EventTimes& times,
              std::string& out);
/// Of a record of kTranslation: addresses as inside has them, then the object `nat`.
void put_translation(const EventRecord& record, std::string& out);

/// Of both, what EVE has no place for, for the object `millrace`: the identifier of ICMP, and that
/// a flow was translated.
void put_flow_own(const EventRecord& record, std::string& out);

/// Value of natEvent (RFC 8158, 4.4); 0: there is none for this pair of families.
std::uint8_t nat_event_of(const EventRecord& record);

}  // namespace millrace
