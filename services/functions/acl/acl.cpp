// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "services/functions/acl/acl_gpu.hpp"
#include "services/functions/acl/acl_image.hpp"
#include "services/functions/acl/acl_key.hpp"
#include "services/functions/acl/acl_reject.hpp"
#include "services/functions/acl/acl_search.hpp"
#include "services/functions/acl/acl_settings.hpp"
#include "services/functions/acl/acl_text.hpp"
#include "services/functions/function_rows.hpp"
#include "services/functions/rule_files.hpp"
#include "services/functions/setting_values.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// The tries of rte_acl; null when the bit vectors are to be used, or the tries cannot be built.
/// Conditions are fields that make them grow: hundreds of such rules can be too many for rte_acl.
std::unique_ptr<AclSearch> make_search(const AclImage& image, AclMethod method) {
  const bool has_bits = image.bits() != nullptr;
  if (method == AclMethod::kAuto && has_bits && image.bits()->has_conditions()) return nullptr;
  if (method == AclMethod::kBits) {
    if (has_bits) return nullptr;
    throw Error("method: bits: the builder left the bit vectors out, they would be too large");
  }
  try {
    return std::make_unique<AclSearch>(image.rules());
  } catch (const Error&) {
    if (method == AclMethod::kTries || !has_bits) throw;
    return nullptr;
  }
}

class Acl final : public Function {
 public:
  explicit Acl(const FunctionContext& context)
      : image_(context.function.image),
        settings_(acl_settings(context.function)),
        rejecter_(settings_.reject_rate),
        conditions_(std::ranges::any_of(image_.rules(), acl_has_conditions)) {
    // A GPU's worker starts at once; its software device computes as the GPU would.
    const bool device = context.on_device && image_.bits() != nullptr;
    if (context.computes && !device) search_ = make_search(image_, settings_.method);
  }

  void compute(const Batch& batch, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    std::span<const std::uint16_t> rest = selected.packets;
    while (!rest.empty()) {
      const auto now = rest.first(std::min(rest.size(), kAclKeysMax));
      rest = rest.subspan(now.size());
      compute_some(batch, now, results);
    }
  }

  void finish(const FinishContext& call) noexcept override {
    const std::span<const AclRule> rules = image_.rules();
    for (const std::uint16_t packet : call.selected.packets) {
      const std::uint32_t word = call.results[packet];
      const bool drop = word - 1 < rules.size() ? finish_rule(call, packet, word - 1)
                        : word == kAclHidden    ? true
                        : word == kAclNotIp     ? settings_.non_ip_drops
                                                : settings_.default_drops;
      if (drop) call.batch.drop(packet, call.reason(RuleReason::kRule));
      call.counters.hit(counter_of(word, rules.size()));
    }
  }

 private:
  void compute_some(const Batch& batch, std::span<const std::uint16_t> packets,
                    std::span<std::uint32_t> results) noexcept {
    AclKey keys[kAclKeysMax];
    std::uint16_t places[kAclKeysMax];
    std::size_t count = 0;
    for (const std::uint16_t packet : packets) {
      places[count] = packet;
      count += acl_key_of(batch.bytes(packet), conditions_, keys[count], results[packet]) ? 1 : 0;
    }
    if (search_ == nullptr) {
      for (std::size_t i = 0; i < count; ++i) results[places[i]] = image_.bits()->look_up(keys[i]);
      return;
    }
    std::uint32_t words[kAclKeysMax];
    search_->look_up({keys, count}, words);
    for (std::size_t i = 0; i < count; ++i) results[places[i]] = words[i];
  }

  /// True when the packet is dropped.
  bool finish_rule(const FinishContext& call, std::uint16_t packet, std::uint32_t number) noexcept {
    const AclRule& rule = image_.rules()[number];
    call.batch.classes[packet] |= rule.class_mask;
    call.counters.classed(rule.class_mask);
    if (rule.action == static_cast<std::uint8_t>(AclAction::kAlert)) call.counters.alert();
    if (rule.action == static_cast<std::uint8_t>(AclAction::kReject)) {
      rejecter_.tell_sender(call, packet);
    }
    const bool drops = acl_drops(rule, settings_.default_drops);
    if (rule.log != 0) {
      call.events.alert(packet, number, image_.name(number),
                        drops ? EventAction::kBlocked : EventAction::kAllowed);
    }
    return drops;
  }

  static std::size_t counter_of(std::uint32_t word, std::size_t rule_count) noexcept {
    if (word == kAclNoRule) return rule_count + kAclHitsDefault;
    if (word == kAclNotIp) return rule_count + kAclHitsNotIp;
    if (word == kAclHidden) return rule_count + kAclHitsHidden;
    return word <= rule_count ? word - 1 : rule_count + kAclHitsWrong;
  }

  AclImage image_;
  AclSettings settings_;
  AclRejecter rejecter_;
  bool conditions_;                    ///< some rule has them: keys say what they ask for
  std::unique_ptr<AclSearch> search_;  ///< null: compute() uses the bit vectors, or is not called
};

constexpr std::array kSettings = {
    KnownSetting{.name = "rules", .kind = SettingKind::kInputFile, .list = true, .required = true},
    KnownSetting{.name = "default"}, KnownSetting{.name = "non_ip"}, KnownSetting{.name = "method"},
    KnownSetting{.name = "reject_rate"}};

void check_acl(const PlanFunction& function) {
  check_keys(function, kSettings, true);
  acl_settings(function);
  check_rule_files(function, "acl");
}

/// Of the function's rule files, the first with a rule of which `is` is true; empty: none. `word`
/// stands in the text of each such rule.
template <typename Is>
std::string check_rules_for(const PlanFunction& function, std::string_view word, Is&& is) {
  for (const std::string& path : values_of(function, "rules")) {
    const std::string text = read_rule_file(path);
    if (text.find(word) == text.npos) continue;
    const AclRuleFile file = parse_acl_rules(text, path, classes_of(function));
    if (std::ranges::any_of(file.rules, [&](const AclNamedRule& one) { return is(one.rule); })) {
      return path;
    }
  }
  return "";
}

std::string check_acl_for_log(const PlanFunction& function) {
  const std::string path =
      check_rules_for(function, "log", [](const AclRule& rule) { return rule.log != 0; });
  return path.empty() ? "" : "log in " + path;
}

BuildReport build_acl(const FunctionContext& context) {
  check_acl(context.function);
  const std::vector<RuleClass> classes = classes_of(context.function);
  std::vector<AclNamedRule> rules;
  std::vector<std::string> refusals;
  std::vector<TableFile> files;
  for (const std::string& path : values_of(context.function, "rules")) {
    AclRuleFile file = parse_acl_rules(read_rule_file(path), path, classes);
    if (rules.size() + file.rules.size() > kAclRuleCountMax) {
      throw Error("rules: more than " + std::to_string(kAclRuleCountMax) + " rules with " + path);
    }
    files.push_back({path, file.rules.size(), file.rules.empty() && file.refusals.empty()});
    std::move(file.rules.begin(), file.rules.end(), std::back_inserter(rules));
    std::move(file.refusals.begin(), file.refusals.end(), std::back_inserter(refusals));
  }
  BuildReport report;
  report.accepted = rules.size();
  report.counter_count = static_cast<std::uint32_t>(rules.size()) + kAclExtraCount;
  report_refusals(std::move(refusals), report);
  report_files(files, report);
  const AclBitsReport bits = write_acl_image(context.function.image, rules, report.counter_count);
  if (!bits.built) {
    report.refusals.insert(report.refusals.begin(), "left out: the table for a GPU: " + bits.why);
  }
  return report;
}

/// Of what the function reads only the image: a worker starts though the rule files are away, or
/// are for the builder's eyes alone.
}  // namespace

std::string acl_file_that_rejects(const PlanFunction& function) {
  return check_rules_for(function, "reject", [](const AclRule& rule) {
    return rule.action == static_cast<std::uint8_t>(AclAction::kReject);
  });
}

FunctionType acl_type() {
  return {.traits = {.type = "acl",
                     .summary =
                         "rules over addresses, ports, protocol: drop, reject, pass, class, alert",
                     .regions = kReadsFlowKeys,
                     .runs_on_gpu = true,
                     .keys_suffice = true,
                     .has_image = true,
                     .reasons = kRuleReasons,
                     .drops_for_first = true,
                     .settings = kSettings},
          .make = make_function<Acl>,
          .build = build_acl,
          .check = check_acl,
          .upload = upload_acl,
          .asks_for_events = check_acl_for_log};
}

}  // namespace millrace
