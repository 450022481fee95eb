// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_set.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "services/functions/ids/rules/rule_draft.hpp"
#include "services/functions/ids/rules/rule_head.hpp"
#include "services/functions/ids/rules/rule_words.hpp"
#include "services/functions/rule_files.hpp"

namespace millrace {
namespace {

/// 0: it is no number.
std::uint32_t number_in(std::string_view text) {
  std::uint32_t number = 0;
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto [last, error] = std::from_chars(text.data(), text.data() + end, number);
  return error == std::errc() ? number : 0;
}

/// Of a rule whose words cannot be told; 0: none is seen.
std::uint32_t sid_in(std::string_view text) {
  constexpr std::string_view kName = "sid:";
  const std::size_t at = text.rfind(kName);
  if (at == std::string_view::npos) return 0;
  return number_in(without_blanks(text.substr(at + kName.size())));
}

std::uint32_t sid_of(const RuleWords& words) {
  const auto found = std::ranges::find(words.options, "sid", &RuleOption::name);
  return found == words.options.end() ? 0 : number_in(found->value);
}

/// Takes the rules of one text into a set.
class RuleReader {
 public:
  RuleReader(const std::string& name, const RuleSetup& setup, RuleSet& into)
      : name_(name), setup_(setup), set_(into) {
    for (std::size_t at = 0; at < set_.signatures.size(); ++at) {
      places_[key_of(set_.signatures[at])] = at;
    }
  }

  void take(const RuleText& rule) {
    const std::size_t bits = set_.flowbits.size();
    std::uint32_t sid = sid_in(rule.text);
    const std::string place = name_ + ":" + std::to_string(rule.line);
    try {
      const RuleWords words = split_rule(rule.text);
      sid = sid_of(words);
      keep(read(words, rule, place));
    } catch (const RuleRefused& refused) {
      // No rule that counts has the names that it brought.
      set_.flowbits.resize(bits);
      set_.refusals.push_back({place, sid, refused.keyword, refused.reason});
    }
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  static Key key_of(const Signature& rule) { return {rule.gid, rule.sid}; }

  Signature read(const RuleWords& words, const RuleText& rule, const std::string& place) {
    RuleDraft draft{setup_, set_.flowbits, set_.files};
    draft.signature.place = place;
    draft.signature.text = rule.text;
    draft.is_snort3 = is_of_snort3(words);
    read_rule_head(words.head, setup_.variables, draft.signature);
    for (const RuleOption& option : words.options) apply_option(option, draft);
    finish_draft(draft);
    return std::move(draft.signature);
  }

  void keep(Signature rule) {
    const auto [found, is_new] = places_.try_emplace(key_of(rule), set_.signatures.size());
    if (is_new) {
      set_.signatures.push_back(std::move(rule));
      return;
    }
    Signature& before = set_.signatures[found->second];
    if (rule.revision <= before.revision) {
      throw RuleRefused{"sid", "the rule at " + before.place + " has the same sid, and revision " +
                                   std::to_string(before.revision)};
    }
    before = std::move(rule);
  }

  const std::string& name_;
  const RuleSetup& setup_;
  RuleSet& set_;
  std::map<Key, std::size_t> places_;
};

}  // namespace

std::string RuleRefusal::line() const {
  std::string text = place + ": ";
  if (sid != 0) text += "sid " + std::to_string(sid) + ": ";
  if (!keyword.empty()) text += keyword + ": ";
  return text + reason;
}

void read_rules(std::string_view text, const std::string& name, const RuleSetup& setup,
                RuleSet& into) {
  RuleReader reader(name, setup, into);
  for (const RuleText& rule : split_rules(text)) {
    if (rule.disabled) {
      ++into.disabled;
    } else {
      reader.take(rule);
    }
  }
}

RuleSet load_rule_files(const std::vector<std::string>& paths, const RuleSetup& setup) {
  RuleSet rules;
  for (const std::string& path : paths) read_rules(read_rule_file(path), path, setup, rules);
  sort_signatures(rules);
  return rules;
}

}  // namespace millrace
