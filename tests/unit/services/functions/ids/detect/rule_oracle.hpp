// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/services/functions/ids/detect/rule_by_hand.hpp"

/// What contents mean, by trying each place of each of them; and rules and texts drawn at random.

namespace millrace::by_hand {

struct ContentOracle {
  std::string_view text;
  const std::vector<Match>& tests;

  bool matches() const { return matches_from(0, 0); }

 private:
  bool is_at(const ContentMatch& content, std::size_t at) const {
    if (at + content.bytes.size() > text.size()) return false;
    for (std::size_t i = 0; i < content.bytes.size(); ++i) {
      if (folded(text[at + i], content.nocase) != folded(content.bytes[i], content.nocase)) {
        return false;
      }
    }
    return true;
  }
  /// The content may stand at `at`, the match before it having ended at `before`.
  static bool may_stand(const ContentMatch& content, std::size_t at, std::size_t before) {
    const auto number = [](const std::optional<RuleNumber>& of) { return of ? of->value : 0; };
    const bool relative = content.is_relative();
    const std::int64_t begin = relative
                                   ? static_cast<std::int64_t>(before) + number(content.distance)
                                   : number(content.offset);
    const std::optional<RuleNumber>& room = relative ? content.within : content.depth;
    const auto end = static_cast<std::int64_t>(at + content.bytes.size());
    return static_cast<std::int64_t>(at) >= begin && (!room || end <= begin + room->value);
  }
  bool matches_from(std::size_t test, std::size_t before) const {
    if (test == tests.size()) return true;
    const auto& content = std::get<ContentMatch>(tests[test]);
    bool stands = false;
    for (std::size_t at = 0; at <= text.size(); ++at) {
      if (!is_at(content, at) || !may_stand(content, at, before)) continue;
      stands = true;
      if (!content.negated && matches_from(test + 1, at + content.bytes.size())) return true;
    }
    return content.negated && !stands && matches_from(test + 1, before);
  }
};

/// Letters of few kinds, so that literals overlap and nearly match.
inline std::string letters(std::mt19937& random, std::size_t length) {
  std::string text(length, ' ');
  for (char& letter : text) letter = "abcABz--"[random() % 8];
  return text;
}

inline ContentMatch random_content(std::mt19937& random, bool is_first, bool may_be_negated) {
  ContentMatch match = content(letters(random, 1 + random() % 4), random() % 3 == 0);
  if (match.nocase) std::ranges::transform(match.bytes, match.bytes.begin(), ::tolower);
  const auto number = [&](std::size_t below) {
    return RuleNumber{.value = static_cast<std::int64_t>(random() % below)};
  };
  const auto length = static_cast<std::int64_t>(match.bytes.size());
  if (!is_first && random() % 3 == 0) {
    match.distance = number(10);
    if (random() % 2 == 0) match.within = RuleNumber{.value = length + number(30).value};
  } else if (random() % 4 == 0) {
    match.offset = number(40);
    if (random() % 2 == 0) match.depth = RuleNumber{.value = length + number(60).value};
  }
  match.negated = may_be_negated && !is_first && random() % 5 == 0;
  return match;
}

/// Of payload contents; the fast pattern is one of the positive ones.
inline Signature random_rule(std::mt19937& random, RuleProtocol protocol, bool may_be_negated) {
  Rule rule(protocol);
  const std::size_t count = 1 + random() % 3;
  for (std::size_t place = 0; place < count; ++place) {
    rule.asks(random_content(random, place == 0, may_be_negated));
  }
  const auto place = static_cast<std::uint16_t>(random() % count);
  const auto& chosen = std::get<ContentMatch>(rule.signature.buffers[0].tests[place]);
  if (!chosen.negated) rule.fast(0, place);
  return rule;
}

}  // namespace millrace::by_hand
