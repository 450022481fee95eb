// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/prefilter/prefilter.hpp"

#include <string>
#include <utility>
#include <vector>

#include "services/functions/function_rows.hpp"
#include "services/functions/ids/detect/prefilter.hpp"
#include "services/functions/ids/ids_build.hpp"
#include "services/functions/ids/ids_settings.hpp"
#include "services/functions/match/image.hpp"
#include "services/functions/match/match_gpu.hpp"
#include "services/functions/match/scanner.hpp"
#include "services/functions/rule_files.hpp"
#include "services/functions/setting_values.hpp"
#include "shared/base/error.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/layout/payload_hint.hpp"

namespace millrace {
namespace {

class PrefilterFunction final : public Function {
 public:
  explicit PrefilterFunction(const PlanFunction& function)
      : image_(function.image), scanner_(image_) {}

  void compute(const Batch& batch, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    for (const std::uint16_t packet : selected.packets) {
      results[packet] = scanner_.strongest_rule(batch.bytes(packet));
    }
  }

  void finish(const FinishContext& call) noexcept override {
    SlotHeader& header = *call.batch.header;
    begin_hint(header, image_.origin());
    for (const std::uint16_t packet : call.selected.packets) {
      const PrefilterCounter found = what_is(call.results[packet]);
      call.counters.hit(static_cast<std::size_t>(found));
      if (found == PrefilterCounter::kClean) hint_clean(header, packet);
    }
  }

 private:
  static PrefilterCounter what_is(std::uint32_t word) noexcept {
    if (word == 0) return PrefilterCounter::kClean;
    return word == kMatchHidden ? PrefilterCounter::kHidden : PrefilterCounter::kHit;
  }

  MatchImage image_;
  MatchScanner scanner_;
};

constexpr KnownSetting kSettings[] = {
    {.name = "rules", .kind = SettingKind::kInputFile, .list = true, .required = true},
    {.name = "variables", .list = true},
    {.name = "classification", .kind = SettingKind::kInputFile}};

void check_prefilter(const PlanFunction& function) {
  check_keys(function, kSettings);
  ids_settings(function.settings);
  check_rule_files(function, "prefilter");
  check_input_files(function, "classification");
}

void add(const std::vector<PayloadLiterals::Literal>& literals, std::uint8_t protocol,
         std::vector<MatchRule>& rules) {
  for (const PayloadLiterals::Literal& literal : literals) {
    rules.push_back({.nocase = literal.nocase,
                     .protocol = protocol,
                     .port = literal.port,
                     .name = std::to_string(rules.size()),
                     .literal = literal.bytes});
  }
}

BuildReport build_prefilter_image(const FunctionContext& context) {
  check_prefilter(context.function);
  LoadedRules loaded = load_ids_rules(context, ids_settings(context.function.settings));
  const PayloadLiterals literals = payload_literals(loaded.rules.signatures);
  std::vector<MatchRule> rules;
  add(literals.tcp, ip_protocol::kTcp, rules);
  add(literals.udp, ip_protocol::kUdp, rules);
  const std::vector<std::string> left_out = write_match_image(
      context.function.image, std::move(rules), MatchPlaces::kOne, literals.fingerprint);
  // Without a literal, payloads that hold it would count as clean.
  if (!left_out.empty()) throw Error("Vectorscan does not take a fast pattern: " + left_out[0]);
  BuildReport report;
  report.accepted = loaded.rules.signatures.size();
  report.counter_count = static_cast<std::uint32_t>(PrefilterCounter::kCount);
  std::vector<std::string> refusals;
  for (const RuleRefusal& refusal : loaded.rules.refusals) refusals.push_back(refusal.line());
  report_refusals(std::move(refusals), report);
  report_files(loaded.files, report);
  return report;
}

std::unique_ptr<Function> make_prefilter(const FunctionContext& context) {
  return std::make_unique<PrefilterFunction>(context.function);
}

}  // namespace

FunctionType prefilter_type() {
  FunctionType type;
  type.traits = {.type = "prefilter",
                 .summary = "fast patterns of an ids behind it, looked for on a GPU",
                 .regions = kReadsWholePackets,
                 .runs_on_gpu = true,
                 .has_image = true,
                 .settings = kSettings};
  type.make = make_prefilter;
  type.build = build_prefilter_image;
  type.check = check_prefilter;
  type.upload = upload_match;
  return type;
}

}  // namespace millrace
