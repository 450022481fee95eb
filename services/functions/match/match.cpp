// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/match.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "services/functions/match/image.hpp"
#include "services/functions/match/match_gpu.hpp"
#include "services/functions/match/rules.hpp"
#include "services/functions/match/scanner.hpp"
#include "services/functions/rule_files.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// Counters behind those of the rules.
enum MatchExtra : std::uint8_t {
  kMatchHitsWrong = 0,  ///< result words that name no rule, from a device gone wrong
  kMatchHitsHidden = 1,
  kMatchExtraCount
};

bool drops_by(const MatchRuleEntry& rule) {
  return rule.action == static_cast<std::uint8_t>(MatchAction::kDrop);
}

bool tells_of(const PlanFunction& function) {
  return std::ranges::find(function.settings, std::pair<std::string, std::string>{
                                                  "events", "true"}) != function.settings.end();
}

class MatchFunction final : public Function {
 public:
  explicit MatchFunction(const PlanFunction& function)
      : image_(function.image), scanner_(image_), tells_(tells_of(function)) {}

  void compute(const Batch& batch, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    for (const std::uint16_t packet : selected.packets) {
      results[packet] = scanner_.strongest_rule(batch.bytes(packet));
    }
  }

  void finish(const FinishContext& call) noexcept override {
    const Batch& batch = call.batch;
    const FunctionCounters& counters = call.counters;
    const std::span<const std::uint32_t> results = call.results;
    const std::span<const MatchRuleEntry> rules = image_.rules();
    const bool drops = !rules.empty() && drops_by(rules[0]);  // the strongest ones come first
    for (const std::uint16_t packet : call.selected.packets) {
      if (results[packet] == 0) continue;
      if (results[packet] == kMatchHidden) {
        counters.hit(rules.size() + kMatchHitsHidden);
        if (drops) batch.drop(packet, call.reason(RuleReason::kRule));
        continue;
      }
      const std::size_t number = std::min<std::size_t>(results[packet] - 1, rules.size());
      counters.hit(number);
      if (number == rules.size() + kMatchHitsWrong) continue;
      const MatchRuleEntry& rule = rules[number];
      batch.classes[packet] |= rule.class_mask;
      counters.classed(rule.class_mask);
      if (rule.action == static_cast<std::uint8_t>(MatchAction::kAlert)) counters.alert();
      if (tells_) tell(call.events, packet, static_cast<std::uint32_t>(number));
      if (drops_by(rule)) batch.drop(packet, call.reason(RuleReason::kRule));
    }
  }

 private:
  void tell(const EventWriter& events, std::uint16_t packet, std::uint32_t rule) const noexcept {
    const bool drops = drops_by(image_.rules()[rule]);
    events.alert(packet, rule, image_.name(rule),
                 drops ? EventAction::kBlocked : EventAction::kAllowed);
  }

  MatchImage image_;
  MatchScanner scanner_;
  bool tells_;  ///< of each packet that a rule counts
};

void check_match(const PlanFunction& function) {
  for (const auto& [key, value] : function.settings) {
    if (key == "events" && value != "true" && value != "false") {
      throw Error("events: '" + value + "' is no flag; there are: true, false");
    }
    if (key != "rules" && key != "classes" && key != "events") {
      throw Error(key + ": match has no such setting; there are rules, classes, events");
    }
  }
  check_rule_files(function, "match");
}

std::string match_asks_for_events(const PlanFunction& function) {
  return tells_of(function) ? "events: true" : "";
}

BuildReport build_match(const FunctionContext& context) {
  check_match(context.function);
  const std::vector<RuleClass> classes = classes_of(context.function);
  std::vector<MatchRule> rules;
  std::vector<std::string> refusals, empty_files;
  for (const std::string& path : values_of(context.function, "rules")) {
    MatchRuleFile file = parse_match_rules(read_rule_file(path), path, classes);
    if (rules.size() + file.rules.size() > kMatchRuleCountMax) {
      throw Error("rules: more than " + std::to_string(kMatchRuleCountMax) + " rules with " + path);
    }
    if (file.rules.empty() && file.refusals.empty()) empty_files.push_back(path);
    std::move(file.rules.begin(), file.rules.end(), std::back_inserter(rules));
    std::move(file.refusals.begin(), file.refusals.end(), std::back_inserter(refusals));
  }
  const std::size_t parsed = rules.size();
  const std::vector<std::string> left_out =
      write_match_image(context.function.image, std::move(rules));
  refusals.insert(refusals.end(), left_out.begin(), left_out.end());
  BuildReport report;
  report.accepted = parsed - left_out.size();
  report.counter_count = static_cast<std::uint32_t>(report.accepted) + kMatchExtraCount;
  report_refusals(std::move(refusals), report);
  report_empty_files(empty_files, report);
  return report;
}

std::unique_ptr<Function> make_match(const FunctionContext& context) {
  return std::make_unique<MatchFunction>(context.function);
}

}  // namespace

FunctionType match_type() {
  static constexpr Region kRegions[] = {{Region::Start::kFrame, 128},
                                        {Region::Start::kPayload, kWholePacket}};
  static constexpr KnownSetting kSettings[] = {
      {.name = "rules", .kind = SettingKind::kInputFile, .list = true, .required = true},
      {.name = "events", .kind = SettingKind::kFlag}};
  FunctionType type;
  type.traits = {.type = "match",
                 .summary = "literal strings over payloads: drop, class, alert",
                 .regions = kRegions,
                 .runs_on_gpu = true,
                 .has_image = true,
                 .reasons = kRuleReasons,
                 .drops_for_first = true,
                 .settings = kSettings};
  type.make = make_match;
  type.build = build_match;
  type.check = check_match;
  type.upload = upload_match;
  type.asks_for_events = match_asks_for_events;
  return type;
}

}  // namespace millrace
