// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_build.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/ids/detect/buffer_matcher.hpp"
#include "services/functions/ids/ids_image.hpp"
#include "services/functions/ids/ids_settings.hpp"
#include "services/functions/ids/rules/rule_set.hpp"
#include "services/functions/ids/signature_names.hpp"
#include "services/functions/image_file.hpp"
#include "services/functions/rule_files.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// Hosts have packets in one lane of several paths, or in several lanes of one.
KeptBits kept_bits_of(std::span<const PlanPath> paths) {
  if (paths.size() != 1) return KeptBits::kNone;
  if (paths[0].lane_count == 1) return KeptBits::kOfHosts;
  return paths[0].lanes_by == LanesBy::kAddresses ? KeptBits::kOfPairs : KeptBits::kNone;
}

RuleSetup setup_of(const FunctionContext& context, const IdsSettings& settings,
                   std::vector<TableFile>& files) {
  const PlanFunction& function = context.function;
  RuleSetup setup = default_rule_setup();
  setup.kept_bits = kept_bits_of(context.paths);
  for (const auto& [name, value] : settings.variables) setup.variables[name] = value;
  const std::string& classes = settings.classification;
  if (!classes.empty()) {
    const std::size_t count = load_classification(classes, setup);
    files.push_back({classes, count, count == 0});
  }
  const std::vector<std::string> paths = values_of(function, "rules");
  if (!paths.empty()) setup.folder = std::filesystem::path(paths[0]).parent_path().string();
  return setup;
}

/// What a matcher does not take, the workers could not load.
std::string refusal_of(const Signature& signature) {
  try {
    for (const BufferTests& tests : signature.buffers) static_cast<void>(BufferMatcher(tests));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void leave_out_what_cannot_be_matched(RuleSet& rules) {
  std::erase_if(rules.signatures, [&](const Signature& signature) {
    const std::string reason = refusal_of(signature);
    if (reason.empty()) return false;
    rules.refusals.push_back({signature.place, signature.sid, "", reason});
    return true;
  });
}

/// Reads one file more.
TableFile load_file(const std::string& path, const RuleSetup& setup, RuleSet& into) {
  const std::size_t before = into.signatures.size();
  const std::size_t left_out = into.refusals.size() + into.disabled;
  read_rules(read_rule_file(path), path, setup, into);
  const std::size_t accepted = into.signatures.size() - before;
  return {path, accepted, accepted == 0 && into.refusals.size() + into.disabled == left_out};
}

TableFile file_of_lines(const std::string& path, std::string_view text) {
  const std::uint64_t count = count_entries(text);
  return {path, count, count == 0};
}

}  // namespace

LoadedRules load_ids_rules(const FunctionContext& context, const IdsSettings& settings) {
  LoadedRules loaded;
  loaded.setup = setup_of(context, settings, loaded.files);
  for (const std::string& path : values_of(context.function, "rules")) {
    loaded.files.push_back(load_file(path, loaded.setup, loaded.rules));
  }
  leave_out_what_cannot_be_matched(loaded.rules);
  for (const auto& [name, text] : loaded.rules.files) {  // of datasets
    const auto path = std::filesystem::path(loaded.setup.folder) / name;
    loaded.files.push_back(file_of_lines(path.string(), text));
  }
  return loaded;
}

BuildReport build_ids_image(const FunctionContext& context, std::uint32_t extra_counters) {
  const IdsSettings settings = ids_settings(context.function.settings);
  LoadedRules loaded = load_ids_rules(context, settings);
  IdsRules rules;
  rules.setup = std::move(loaded.setup);
  rules.rules = std::move(loaded.rules);
  sort_signatures(rules.rules, settings.actions);
  if (!settings.thresholds.empty()) {
    ThresholdFile file = load_threshold_file(settings.thresholds, rules.setup, rules.rules);
    rules.suppressions = std::move(file.suppressions);
    loaded.files.push_back({settings.thresholds, file.line_count, file.line_count == 0});
  }
  BuildReport report;
  report.accepted = rules.rules.signatures.size();
  report.counter_count = static_cast<std::uint32_t>(report.accepted) + extra_counters;
  write_signature_names(names_beside_image(context.function.image), rules.rules.signatures);
  write_ids_image(context.function.image, rules, report.counter_count);
  std::vector<std::string> refusals;
  for (const RuleRefusal& refusal : rules.rules.refusals) refusals.push_back(refusal.line());
  report_refusals(std::move(refusals), report);
  report_files(loaded.files, report);
  return report;
}

}  // namespace millrace
