// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "orchestration/planner/loader.hpp"
#include "orchestration/planner/planner.hpp"

/// Functions and topologies for the tests of this folder; no file is read.

namespace millrace {

inline constexpr KnownSetting kRouteKeys[] = {
    {.name = "table", .kind = SettingKind::kInputFile, .list = true, .required = true}};
inline constexpr KnownSetting kMatchKeys[] = {
    {.name = "rules", .kind = SettingKind::kInputFile, .list = true, .required = true},
    {.name = "limit", .kind = SettingKind::kInteger, .low = 1, .high = 10},
    {.name = "strict", .kind = SettingKind::kFlag},
    {.name = "ratio", .kind = SettingKind::kNumber, .high = 1}};

inline constexpr DeclaredReason kRouteReasons[] = {
    {"malformed", ReasonCause::kPolicy, "named as one of the core is"},
    {"no_way", ReasonCause::kPolicy, "nowhere to go"},
    {"unwanted", ReasonCause::kPolicy, "a route says drop"}};
inline constexpr DeclaredReason kMatchReasons[] = {
    {"unwanted", ReasonCause::kPolicy, "a rule says drop"},
    {"odd", ReasonCause::kPacket, "not as it should be"}};

inline std::vector<KnownFunction> test_functions() {
  return {{.type = "route",
           .runs_on_gpu = true,
           .has_image = true,
           .reasons = kRouteReasons,
           .settings = kRouteKeys},
          {.type = "match",
           .runs_on_gpu = true,
           .has_image = true,
           .reasons = kMatchReasons,
           .settings = kMatchKeys},
          {.type = "record",
           .stateful = true,
           .lane_needs =
               [](const LaneRequest&) {
                 return LaneNeeds{96, 0};
               },
           .settings = {}},
          {.type = "plain", .settings = {}}};
}

inline Topology parse(const std::string& text) {
  return parse_topology(text, "/etc/millrace/t.yaml", test_functions());
}

inline Plan plan_of(const std::string& text, const Host& host = {}) {
  return make_plan(parse(text), test_functions(), host);
}

/// All that is wrong with the text: one line a problem, the file's name left out. Empty: nothing.
inline std::string wrong(const std::string& text) {
  try {
    plan_of(text);
    return "";
  } catch (const TopologyError& error) {
    std::string lines = error.what();
    const std::string file = "/etc/millrace/t.yaml:";
    for (std::size_t at = 0; (at = lines.find(file, at)) != std::string::npos;) {
      lines.erase(at, file.size());
    }
    return lines;
  }
}

struct WrongFile {
  const char* text;
  const char* message;
};

/// Every text of the table is refused with exactly its message.
template <std::size_t kCount>
void expect_refused(const WrongFile (&table)[kCount]) {
  for (const WrongFile& row : table) EXPECT_EQ(wrong(row.text), row.message) << row.text;
}

/// Two null ports and the sections of `rest`.
inline std::string with_ports(const std::string& rest) {
  return "millrace: 1\nports: {a: {device: null}, b: {device: null}}\n" + rest;
}

}  // namespace millrace
