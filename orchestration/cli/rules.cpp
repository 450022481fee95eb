// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "services/functions/ids/rules/rule_draft.hpp"
#include "services/functions/ids/rules/rule_set.hpp"
#include "services/functions/ids/rules/rule_words.hpp"
#include "services/functions/rule_files.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

struct RulesOptions {
  std::vector<std::string> files, variables;
  std::string classification, threshold;
  bool json = false, options = false;
};

constexpr const char* kTeaching = R"(
Each refused rule is a line "file:line: sid: keyword: reason"; what follows counts them by keyword.
Rules of Snort 2, Snort 3 and Suricata may stand beside each other in a file. A refused rule is
never read in part: a function that is given the files leaves it out whole and says so.

A rule that no literal gates has no content that the search for many patterns could look for; each
packet, stream or transaction of its protocol and ports is tested against it.

threshold and detection_filter that track by_src, by_dst or by_rule count in each lane by itself:
where a path has N lanes, up to N times as much may pass. by_both and by_flow count all.

Variables have Suricata's defaults; --variable changes them or adds some:
  millrace rules local.rules --variable HOME_NET=10.0.0.0/8 --variable 'HTTP_PORTS=[80,8080]'
  millrace rules --classification classification.config *.rules
  millrace rules *.rules --json | jq .keywords

Exit status: 0 when every rule loads, 1 when some are refused, 2 when a file cannot be read.)";

RuleSetup setup_of(const RulesOptions& options) {
  RuleSetup setup = default_rule_setup();
  for (const std::string& word : options.variables) {
    const std::size_t equals = std::min(word.find('='), word.size());
    std::string name = word.substr(0, equals);
    if (name.starts_with('$')) name.erase(0, 1);
    if (name.empty() || equals == word.size()) {
      throw Error("--variable " + quoted_word(word) + " is no NAME=VALUE");
    }
    setup.variables[name] = word.substr(equals + 1);
  }
  if (!options.classification.empty()) load_classification(options.classification, setup);
  return setup;
}

struct Summary {
  std::vector<std::pair<std::string, std::size_t>> keywords;  ///< the most frequent first
  std::size_t ungated = 0;
  std::size_t counted_by_lane = 0;
};

/// Hosts that are counted by one address, and rules, have packets in several lanes.
bool is_counted_by_lane(const Signature& rule) {
  const auto is_split = [](const std::optional<Threshold>& count) {
    return count && count->by != TrackBy::kBoth && count->by != TrackBy::kFlow;
  };
  return is_split(rule.threshold) || is_split(rule.detection_filter);
}

Summary summary_of(const RuleSet& rules) {
  std::map<std::string, std::size_t> counts;
  for (const RuleRefusal& refusal : rules.refusals) ++counts[refusal.keyword];
  Summary summary{.keywords = {counts.begin(), counts.end()}};
  std::ranges::stable_sort(summary.keywords, std::ranges::greater(),
                           &std::pair<std::string, std::size_t>::second);
  summary.ungated = static_cast<std::size_t>(std::ranges::count_if(
      rules.signatures, [](const Signature& rule) { return !rule.fast_pattern; }));
  summary.counted_by_lane =
      static_cast<std::size_t>(std::ranges::count_if(rules.signatures, is_counted_by_lane));
  return summary;
}

void print_text(const RuleSet& rules, const Summary& summary) {
  constexpr std::size_t kCountWidth = 6;
  for (const RuleRefusal& refusal : rules.refusals) std::cout << refusal.line() << '\n';
  if (!summary.keywords.empty()) std::cout << "\nrefused by keyword:\n";
  for (const auto& [keyword, count] : summary.keywords) {
    std::string number = std::to_string(count);
    number.insert(0, kCountWidth - std::min(kCountWidth, number.size()), ' ');
    std::cout << number << "  " << (keyword.empty() ? "(head or form)" : keyword) << '\n';
  }
  if (!rules.refusals.empty()) std::cout << '\n';
  std::cout << rules.signatures.size() << " rules loaded, " << rules.refusals.size() << " refused, "
            << rules.disabled << " disabled; " << summary.ungated
            << " of those loaded are gated by no literal\n";
  if (summary.counted_by_lane == 0) return;
  std::cout
      << "warning: " << summary.counted_by_lane
      << " of those loaded have threshold or detection_filter by source, destination or rule: "
         "each lane counts by itself what it sees\n";
}

/// Every rule of the files, loaded, refused or disabled, as its options are split.
Json options_json(const std::vector<std::string>& files) {
  auto rules = Json::array();
  for (const std::string& path : files) {
    for (const RuleText& rule : split_rules(read_rule_file(path))) {
      Json json = {{"file", path}, {"line", rule.line}, {"disabled", rule.disabled}};
      try {
        auto options = Json::array();
        for (const RuleOption& option : split_rule(rule.text).options) {
          options.push_back({option.name, option.has_value ? Json(option.value) : Json()});
        }
        json["options"] = std::move(options);
      } catch (const RuleRefused& refused) {
        json["reason"] = refused.reason;
      }
      rules.push_back(std::move(json));
    }
  }
  return rules;
}

Json json_of(const RuleSet& rules, const Summary& summary) {
  auto refusals = Json::array(), keywords = Json::array();
  for (const RuleRefusal& refusal : rules.refusals) {
    refusals.push_back({{"place", refusal.place},
                        {"sid", refusal.sid},
                        {"keyword", refusal.keyword},
                        {"reason", refusal.reason}});
  }
  for (const auto& [keyword, count] : summary.keywords) {
    keywords.push_back({{"keyword", keyword}, {"rules", count}});
  }
  return {{"ok", rules.refusals.empty()},      {"loaded", rules.signatures.size()},
          {"refused", rules.refusals.size()},  {"disabled", rules.disabled},
          {"ungated", summary.ungated},        {"counted_by_lane", summary.counted_by_lane},
          {"flowbits", rules.flowbits.size()}, {"keywords", std::move(keywords)},
          {"refusals", std::move(refusals)}};
}

void run_rules(const RulesOptions& options) {
  RuleSet rules;
  Json rule_options;
  try {
    const RuleSetup setup = setup_of(options);
    rules = load_rule_files(options.files, setup);
    if (!options.threshold.empty()) load_threshold_file(options.threshold, setup, rules);
    if (options.options) rule_options = options_json(options.files);
  } catch (const Error& error) {
    const Format format = options.json ? Format::kJson : Format::kText;
    print_failure(error, format, false, options.json ? std::cout : std::cerr);
    throw CLI::RuntimeError(kExitUsage);
  }
  const Summary summary = summary_of(rules);
  if (options.json) {
    Json json = json_of(rules, summary);
    if (options.options) json["rules"] = std::move(rule_options);
    std::cout << json_text(json) << '\n';
  } else {
    print_text(rules, summary);
  }
  if (!rules.refusals.empty()) throw CLI::RuntimeError(kExitInvalid);
}

}  // namespace

void add_rules(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "rules", "read rules of Snort and Suricata: which load, which do not and why");
  auto options = std::make_shared<RulesOptions>();
  command->add_option("file", options->files, "rule files")->required();
  command
      ->add_option("--variable", options->variables,
                   "NAME=VALUE in place of a default; may be repeated")
      ->expected(1)
      ->take_all();
  command->add_option("--classification", options->classification,
                      "a classification.config: names, descriptions and priorities of classes");
  command->add_option("--threshold", options->threshold,
                      "check a threshold.config (suppress, threshold)");
  CLI::Option* json = command->add_flag("--json", options->json, "the result as JSON");
  command
      ->add_flag("--options", options->options, "with --json: list the options of every rule too")
      ->needs(json);
  command->footer(kTeaching);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { run_rules(*options); });
  });
}

}  // namespace millrace
