// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "shared/layout/event_text.hpp"

namespace millrace {

/// Values of a text's fields; of several alike the last.
inline std::map<EventField, std::string> values_of(std::span<const std::byte> text) {
  std::map<EventField, std::string> values;
  while (const auto field = next_field(text)) values[field->field] = field->text();
  EXPECT_TRUE(text.empty());
  return values;
}

struct ToldLine {
  EventRecord record;
  std::map<EventField, std::string> values;
};

inline std::vector<ToldLine> lines_of(const std::vector<EventRecord>& records) {
  std::vector<ToldLine> lines;
  std::span<const EventRecord> rest(records);
  EventLine line;
  while (!rest.empty()) {
    next_line(rest, line);
    EXPECT_TRUE(line.is_whole);
    lines.push_back({line.record, values_of(line.text())});
  }
  return lines;
}

}  // namespace millrace
