// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_list.hpp"

#include <utility>

#include "services/functions/ids/rules/rule_words.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

[[noreturn]] void refuse(std::string reason) { throw RuleRefused{"", std::move(reason)}; }

class ListReader {
 public:
  explicit ListReader(const RuleVariables& variables) : variables_(variables) {}

  /// One item or more with commas between them.
  void read(std::string_view text, std::vector<RuleListItem>& into) {
    if (++depth_ > kRuleListDepthMax) {
      refuse("lists and variables are more than " + std::to_string(kRuleListDepthMax) +
             " deep; does one name itself?");
    }
    std::size_t start = 0;
    int brackets = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
      const char c = at < text.size() ? text[at] : ',';
      if (c == '[') ++brackets;
      if (c == ']' && --brackets < 0) refuse("']' without '[' in " + quoted_word(text));
      if (at == text.size() && brackets > 0) refuse("no ']' closes " + quoted_word(text));
      if (c != ',' || brackets > 0) continue;
      item(without_blanks(text.substr(start, at - start)), text, into);
      start = at + 1;
    }
    --depth_;
  }

 private:
  void item(std::string_view word, std::string_view whole, std::vector<RuleListItem>& into) {
    bool negated = false;
    while (word.starts_with('!')) {
      negated = !negated;
      word = without_blanks(word.substr(1));
    }
    if (word.empty()) refuse("an item is missing in " + quoted_word(whole));
    if (++items_ > kRuleListItemsMax) {
      refuse("a list has more than " + std::to_string(kRuleListItemsMax) + " items");
    }
    if (word.front() == '[') {
      if (word.back() != ']') refuse("words stand behind ']' in " + quoted_word(word));
      group(word.substr(1, word.size() - 2), negated, into);
    } else if (word.front() == '$') {
      group(variable(word.substr(1)), negated, into);
    } else {
      into.push_back({std::string(word), negated, {}});
    }
  }

  void group(std::string_view text, bool negated, std::vector<RuleListItem>& into) {
    if (!negated) return read(text, into);
    RuleListItem list{"", true, {}};
    read(text, list.list);
    into.push_back(std::move(list));
  }

  std::string_view variable(std::string_view name) {
    const auto found = variables_.find(name);
    if (found == variables_.end()) {
      refuse("the variable " + quoted_word("$" + std::string(name)) + " has no value");
    }
    const std::string_view value = without_blanks(found->second);
    if (value.empty()) refuse("the variable " + quoted_word("$" + std::string(name)) + " is empty");
    return value;
  }

  const RuleVariables& variables_;
  std::size_t depth_ = 0, items_ = 0;
};

}  // namespace

std::vector<RuleListItem> read_rule_list(std::string_view text, const RuleVariables& variables) {
  std::vector<RuleListItem> items;
  ListReader(variables).read(text, items);
  return items;
}

}  // namespace millrace
