// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/quoted.hpp"

/// `threshold`, `detection_filter`.

namespace millrace {
namespace {

constexpr std::int64_t kNumberMax = std::numeric_limits<std::uint32_t>::max();

template <typename Value>
struct Word {
  std::string_view word;
  Value value;
};
constexpr Word<Threshold::Kind> kKinds[] = {{"limit", Threshold::Kind::kLimit},
                                            {"threshold", Threshold::Kind::kThreshold},
                                            {"both", Threshold::Kind::kBoth}};
constexpr Word<TrackBy> kTracks[] = {{"by_src", TrackBy::kSource},
                                     {"by_dst", TrackBy::kDestination},
                                     {"by_both", TrackBy::kBoth},
                                     {"by_rule", TrackBy::kRule},
                                     {"by_flow", TrackBy::kFlow}};

template <typename Value, std::size_t Count>
Value value_of(std::string_view word, const Word<Value> (&words)[Count]) {
  const auto* const found = std::ranges::find(words, word, &Word<Value>::word);
  if (found == std::end(words)) refuse_rule(quoted_word(word) + " is not known");
  return found->value;
}

/// Its words: each once, in any order.
struct ThresholdWords {
  std::string_view type, track, count, seconds;
};
struct ThresholdWord {
  std::string_view name;
  std::string_view ThresholdWords::*word;
};
constexpr ThresholdWord kWords[] = {{"type", &ThresholdWords::type},
                                    {"track", &ThresholdWords::track},
                                    {"count", &ThresholdWords::count},
                                    {"seconds", &ThresholdWords::seconds}};

ThresholdWords read_words(std::string_view value) {
  ThresholdWords words;
  for (const std::string_view part : split_list(value, ',')) {
    const NamedValue named = split_named(part);
    const auto* const found = std::ranges::find(kWords, named.name, &ThresholdWord::name);
    if (found == std::end(kWords)) refuse_rule(quoted_word(named.name) + " is not known");
    if (!(words.*(found->word)).empty()) refuse_rule(quoted_word(named.name) + " stands twice");
    words.*(found->word) = named.value;
  }
  if (words.track.empty()) refuse_rule("'track' is missing");
  if (words.count.empty()) refuse_rule("'count' is missing");
  if (words.seconds.empty()) refuse_rule("'seconds' is missing");
  return words;
}

Threshold threshold_of(const ThresholdWords& words) {
  Threshold threshold;
  threshold.by = value_of(words.track, kTracks);
  threshold.count = static_cast<std::uint32_t>(number_of(words.count, 1, kNumberMax));
  threshold.seconds = static_cast<std::uint32_t>(number_of(words.seconds, 1, kNumberMax));
  return threshold;
}

void check_alone(const RuleDraft& draft) {
  if (draft.signature.threshold || draft.signature.detection_filter) {
    refuse_rule("a rule has one threshold or detection_filter");
  }
}

void set_threshold(const RuleOption& option, RuleDraft& draft) {
  check_alone(draft);
  const ThresholdWords words = read_words(unquoted(option.value));
  if (words.type.empty()) refuse_rule("'type' is missing");
  Threshold threshold = threshold_of(words);
  threshold.kind = value_of(words.type, kKinds);
  draft.signature.threshold = threshold;
}

void set_detection_filter(const RuleOption& option, RuleDraft& draft) {
  check_alone(draft);
  const ThresholdWords words = read_words(unquoted(option.value));
  if (!words.type.empty()) refuse_rule("'type' goes with threshold only");
  Threshold threshold = threshold_of(words);
  threshold.kind = Threshold::Kind::kDetectionFilter;
  draft.signature.detection_filter = threshold;
}

constexpr std::array kKeywords = {
    RuleKeyword{"threshold", KeywordValue::kNeeded, set_threshold},
    RuleKeyword{"detection_filter", KeywordValue::kNeeded, set_detection_filter},
};

}  // namespace

RuleKeywords threshold_keywords() noexcept { return kKeywords; }

}  // namespace millrace
