// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/match.hpp"

#include "services/functions/function_rows.hpp"
#include "services/functions/match/image.hpp"
#include "services/functions/match/match_gpu.hpp"
#include "services/functions/match/match_verdicts.hpp"
#include "services/functions/match/scanner.hpp"
#include "services/functions/rule_files.hpp"
#include "services/functions/setting_values.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

class MatchFunction final : public Function {
 public:
  explicit MatchFunction(const PlanFunction& function)
      : image_(function.image), scanner_(image_), verdicts_(image_, match_tells(function)) {}

  void compute(const Batch& batch, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    for (const std::uint16_t packet : selected.packets) {
      results[packet] = scanner_.strongest_rule(batch.bytes(packet));
    }
  }

  void finish(const FinishContext& call) noexcept override {
    for (const std::uint16_t packet : call.selected.packets) {
      verdicts_.apply(call, packet, call.results[packet]);
    }
  }

 private:
  MatchImage image_;
  MatchScanner scanner_;
  MatchVerdicts verdicts_;
};

constexpr KnownSetting kSettings[] = {
    {.name = "rules", .kind = SettingKind::kInputFile, .list = true, .required = true},
    {.name = "events", .kind = SettingKind::kFlag}};

void check_match(const PlanFunction& function) {
  check_keys(function, kSettings, true);
  match_tells(function);
  check_rule_files(function, "match");
}

BuildReport build_match(const FunctionContext& context) {
  check_match(context.function);
  return build_match_image(context, MatchPlaces::kOne, kMatchExtraCount);
}

std::unique_ptr<Function> make_match(const FunctionContext& context) {
  return std::make_unique<MatchFunction>(context.function);
}

}  // namespace

FunctionType match_type() {
  FunctionType type;
  type.traits = {.type = "match",
                 .summary = "literal strings over payloads: drop, class, alert",
                 .regions = kReadsWholePackets,
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
