// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <string_view>

#include "services/functions/ids/signature_names.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/event_record.hpp"

/// A record as a line of JSON, in the form of Suricata's EVE: programs that read eve.json read
/// this. Values for which EVE has no key are in an object `millrace`.

namespace millrace {

/// Times as EVE writes them: local time with microseconds and zone,
/// "2026-11-22T08:24:46.123456+0000".
class EventTimes {
 public:
  /// `time_ns`: system clock.
  void put(std::uint64_t time_ns, std::string& out);

 private:
  std::time_t second_ = -1;
  std::string text_, zone_;  ///< of that second
};

/// What a line needs and the record does not hold.
struct EventPlace {
  std::string_view actor;                    ///< of the ring that it lay in
  std::uint64_t number = 0;                  ///< in that ring, counted from the topology's start
  std::uint64_t time_ns = 0;                 ///< system clock
  const SignatureName* signature = nullptr;  ///< of the record's signature; null: not known
  std::span<const std::byte> text = {};      ///< of the event (event_text.hpp)
};

/// Adds the line with its line end. Whatever the record holds (another process wrote it), the line
/// is valid JSON; numbers without a name in the plan are shown as numbers. `plan`: names functions,
/// paths and ports.
void put_event(const EventRecord& record, const EventPlace& place, const Plan& plan,
               EventTimes& times, std::string& out);

/// The name of an IP protocol, as EVE writes it; the number in three digits if it has none.
std::string protocol_name(std::uint8_t protocol);

/// Adds `text` between quotes; bytes that are no UTF-8 become U+FFFD.
void put_json_text(std::string_view text, std::string& out);

/// Whole lines in `text`.
inline std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

}  // namespace millrace
