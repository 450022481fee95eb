// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <string>

#include "services/functions/function_rows.hpp"
#include "services/functions/ids/ids.hpp"
#include "services/functions/ids/ids_build.hpp"
#include "services/functions/ids/ids_lane.hpp"
#include "services/functions/ids/ids_settings.hpp"
#include "services/functions/rule_files.hpp"
#include "services/functions/stream/tcp_streams.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kExtraCounters = static_cast<std::uint32_t>(IdsCounter::kCount) +
                                         static_cast<std::uint32_t>(StreamCounter::kCount);
constexpr DeclaredReason kCostly = {
    "too_costly", ReasonCause::kPolicy,
    "packets that a rule which may drop could not be looked at for: they cost too much, their body "
    "inflates to too much, their parser cannot read on, or others took its memory"};
constexpr std::array kReasons = {kRuleReasons[0], kStreamConflict, kStreamFull,
                                 kCostly};  // as IdsReason

void check_ids(const PlanFunction& function) {
  ids_settings(function.settings);
  check_rule_files(function, "ids");
  check_input_files(function, "classification");
  check_input_files(function, "thresholds");
}

LaneNeeds needs_of(const LaneRequest& request) {
  return IdsLane::needs_of(ids_settings(request.settings).room, request);
}

BuildReport build_ids(const FunctionContext& context) {
  check_ids(context.function);
  return build_ids_image(context, kExtraCounters);
}

std::string ids_asks_for_events(const PlanFunction& function) {
  const IdsSettings settings = ids_settings(function.settings);
  if (settings.tells) return "events: true";
  return settings.log.has_any() ? "log" : "";
}

}  // namespace

FunctionType ids_type() {
  FunctionType type;
  type.traits = {.type = "ids",
                 .summary = "rules of Suricata and Snort over streams and protocols: drop, alert",
                 .regions = kReadsWholePackets,
                 .stateful = true,
                 .lane_needs = needs_of,
                 .flows = FlowUse::kNeeds,
                 .has_image = true,
                 .reasons = kReasons,
                 .rewrites = Rewrites::kHeaders,
                 .settings = known_ids_settings()};
  type.make = make_ids;
  type.build = build_ids;
  type.check = check_ids;
  type.asks_for_events = ids_asks_for_events;
  return type;
}

}  // namespace millrace
