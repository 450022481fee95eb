// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "services/functions/ids/rules/rule_words.hpp"

namespace millrace {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Words that start a rule of Snort or Suricata, understood here or not.
constexpr std::array<std::string_view, 16> kActions = {
    "alert", "drop",     "reject",  "rejectsrc", "rejectdst", "rejectboth", "pass",   "block",
    "log",   "activate", "dynamic", "sdrop",     "rewrite",   "react",      "config", "accept"};

bool starts_a_rule(std::string_view line) {
  const std::string_view word = line.substr(0, line.find_first_of(" \t("));
  return word.size() < line.size() && std::ranges::find(kActions, word) != kActions.end();
}

/// What is left of a comment that is a rule: "#alert ... (...)"; else empty.
std::string_view rule_in_comment(std::string_view line) {
  const std::size_t first = line.find_first_not_of("# \t");
  if (first == std::string_view::npos) return {};
  line.remove_prefix(first);
  const bool is_rule = starts_a_rule(line) && line.ends_with(')') && line.find('(') < line.size();
  return is_rule ? line : std::string_view{};
}

/// Gathers the lines of rules.
class RuleGatherer {
 public:
  void take(std::size_t number, std::string_view line) {
    // Behind a backslash blanks count: the line may go on inside of quotes.
    if (goes_on_) return append(line);
    line = without_blanks(line);
    if (line.starts_with(kByteOrderMark)) line = without_blanks(line.substr(kByteOrderMark.size()));
    if (in_comment_) {
      const std::size_t end = line.find("*/");
      if (end == std::string_view::npos) return;
      in_comment_ = false;
      line = without_blanks(line.substr(end + 2));
    }
    start(number, line);
  }
  std::vector<RuleText> finish() {
    end_rule();
    return std::move(rules_);
  }

 private:
  void start(std::size_t number, std::string_view line) {
    const bool is_open = !open_.text.empty();
    if (is_open && starts_a_rule(line)) end_rule();
    if (line.empty() || line.starts_with(';')) return;
    if (line.starts_with('#')) return comment(number, line);
    if (line.starts_with("/*")) {
      in_comment_ = line.find("*/") == std::string_view::npos;
      return;
    }
    if (open_.text.empty()) open_.line = number;
    append(line);
  }

  void comment(std::size_t number, std::string_view line) {
    const std::string_view rule = rule_in_comment(line);
    if (!rule.empty()) rules_.push_back({number, std::string(rule), true});
  }

  /// Takes a line into the rule that is open.
  void append(std::string_view line) {
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    goes_on_ = line.ends_with('\\');
    if (goes_on_) line.remove_suffix(1);
    open_.text += line;
    if (goes_on_) return;
    // A rule may go on without a sign; a line that is no rule stands by itself.
    if (open_.text.ends_with(')') || !starts_a_rule(open_.text)) return end_rule();
    open_.text += ' ';
  }

  void end_rule() {
    open_.text = without_blanks(open_.text);
    if (!open_.text.empty()) rules_.push_back(std::exchange(open_, {}));
  }

  std::vector<RuleText> rules_;
  RuleText open_{};
  bool goes_on_ = false;  ///< the next line belongs to it, whatever it is
  bool in_comment_ = false;
};

}  // namespace

std::vector<RuleText> split_rules(std::string_view text) {
  RuleGatherer gatherer;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    gatherer.take(++number, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return gatherer.finish();
}

}  // namespace millrace
