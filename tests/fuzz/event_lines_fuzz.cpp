// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any records as a consumer finds them in a ring: each belongs to one line or to none, and each
// line is JSON.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "services/events/event_json.hpp"
#include "shared/base/check.hpp"
#include "shared/layout/event_text.hpp"

namespace millrace {
namespace {

void check_line(const EventLine& line, EventTimes& times) {
  static const Plan plan;
  std::string out;
  put_event(line.record, {.actor = "a", .text = line.text()}, plan, times, out);
  MILLRACE_CHECK(std::ranges::count(out, '\n') == 1 && out.back() == '\n');
  const auto json = nlohmann::json::parse(out, nullptr, false);
  MILLRACE_CHECK(!json.is_discarded());
  const std::uint64_t records = json["millrace"].value("records", 1);
  MILLRACE_CHECK(records == 1u + texts_for(line.text()));
}

void check_records(std::span<const EventRecord> records) {
  static EventLine line;
  static EventTimes times;
  const std::uint32_t whole = whole_lines(records);
  MILLRACE_CHECK(whole <= records.size());
  MILLRACE_CHECK(records.size() - whole < kEventLineRecordsMax);
  while (!records.empty()) {
    const std::size_t before = records.size();
    next_line(records, line);
    const std::size_t taken = before - records.size();
    MILLRACE_CHECK(taken >= 1 && taken <= kEventLineRecordsMax);
    MILLRACE_CHECK(line.is_whole || taken == 1);
    if (!line.is_whole) continue;
    MILLRACE_CHECK(taken == 1u + texts_for(line.text()));
    check_line(line, times);
  }
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<millrace::EventRecord> records(size / sizeof(millrace::EventRecord));
  if (records.empty()) return 0;
  std::memcpy(records.data(), data, records.size() * sizeof records[0]);
  millrace::check_records(records);
  return 0;
}
