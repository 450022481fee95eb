// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/match_verdicts.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "services/functions/rule_files.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

bool drops_by(const MatchRuleEntry& rule) {
  return rule.action == static_cast<std::uint8_t>(MatchAction::kDrop);
}

}  // namespace

bool MatchVerdicts::may_drop() const noexcept {
  const std::span<const MatchRuleEntry> rules = image_.rules();
  return !rules.empty() && drops_by(rules[0]);  // the strongest ones come first
}

void MatchVerdicts::apply(const FinishContext& call, std::uint16_t packet,
                          std::uint32_t word) const noexcept {
  const std::span<const MatchRuleEntry> rules = image_.rules();
  if (word == 0) return;
  if (word == kMatchHidden) {
    call.counters.hit(rules.size() + kMatchHitsHidden);
    if (may_drop()) call.batch.drop(packet, call.reason(RuleReason::kRule));
    return;
  }
  const std::size_t number = std::min<std::size_t>(word - 1, rules.size());
  call.counters.hit(number);
  if (number == rules.size() + kMatchHitsWrong) return;
  const MatchRuleEntry& rule = rules[number];
  call.batch.classes[packet] |= rule.class_mask;
  call.counters.classed(rule.class_mask);
  if (rule.action == static_cast<std::uint8_t>(MatchAction::kAlert)) call.counters.alert();
  if (tells_) {
    const auto place = static_cast<std::uint32_t>(number);
    call.events.alert(packet, place, image_.name(place),
                      drops_by(rule) ? EventAction::kBlocked : EventAction::kAllowed);
  }
  if (drops_by(rule)) call.batch.drop(packet, call.reason(RuleReason::kRule));
}

bool match_tells(const PlanFunction& function) {
  for (const auto& [key, value] : function.settings) {
    if (key != "events") continue;
    if (value == "true") return true;
    if (value != "false") {
      throw Error("events: '" + value + "' is no flag; there are: true, false");
    }
  }
  return false;
}

std::string match_asks_for_events(const PlanFunction& function) {
  return match_tells(function) ? "events: true" : "";
}

BuildReport build_match_image(const FunctionContext& context, MatchPlaces places,
                              std::uint32_t extra_counters) {
  const std::vector<RuleClass> classes = classes_of(context.function);
  std::vector<MatchRule> rules;
  std::vector<std::string> refusals;
  std::vector<TableFile> files;
  for (const std::string& path : values_of(context.function, "rules")) {
    MatchRuleFile file = parse_match_rules(read_rule_file(path), path, classes);
    if (rules.size() + file.rules.size() > kMatchRuleCountMax) {
      throw Error("rules: more than " + std::to_string(kMatchRuleCountMax) + " rules with " + path);
    }
    files.push_back({path, file.rules.size(), file.rules.empty() && file.refusals.empty()});
    std::move(file.rules.begin(), file.rules.end(), std::back_inserter(rules));
    std::move(file.refusals.begin(), file.refusals.end(), std::back_inserter(refusals));
  }
  const std::size_t parsed = rules.size();
  const std::vector<std::string> left_out =
      write_match_image(context.function.image, std::move(rules), places);
  refusals.insert(refusals.end(), left_out.begin(), left_out.end());
  BuildReport report;
  report.accepted = parsed - left_out.size();
  report.counter_count = static_cast<std::uint32_t>(report.accepted) + extra_counters;
  report_refusals(std::move(refusals), report);
  report_files(files, report);
  return report;
}

}  // namespace millrace
