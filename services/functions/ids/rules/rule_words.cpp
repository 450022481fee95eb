// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "services/functions/ids/rules/rule_buffer.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

constexpr std::string_view kBlanks = " \t\r";

[[noreturn]] void refuse(std::string reason) { throw RuleRefused{"", std::move(reason)}; }

/// Takes the next word of a rule's head. Blanks between brackets belong to it.
std::string_view take_word(std::string_view& rest) {
  rest = without_blanks(rest);
  std::size_t end = 0;
  int depth = 0;
  for (; end < rest.size(); ++end) {
    if (depth <= 0 && kBlanks.find(rest[end]) != std::string_view::npos) break;
    if (rest[end] == '[') ++depth;
    if (rest[end] == ']') --depth;
  }
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

RuleHead split_head(std::string_view text) {
  std::vector<std::string> words;
  while (!without_blanks(text).empty()) words.emplace_back(take_word(text));
  constexpr std::size_t kShort = 2, kWhole = 7;
  RuleHead head;
  if (words.size() != kShort && words.size() != kWhole) {
    refuse("its head has " + std::to_string(words.size()) +
           " words, not 7: action protocol addresses ports -> addresses ports");
  }
  head.action = words[0];
  head.protocol = words[1];
  if (words.size() == kShort) return head;
  head.has_addresses = true;
  head.source = words[2];
  head.source_ports = words[3];
  head.direction = words[4];
  head.destination = words[5];
  head.destination_ports = words[6];
  return head;
}

/// The end of the option that `rest` starts with: its semicolon, or npos. A backslash takes the
/// next byte's meaning; between quotes a semicolon is one of the value.
std::size_t option_end(std::string_view rest) {
  bool quoted = false;
  for (std::size_t at = 0; at < rest.size(); ++at) {
    if (rest[at] == '\\') {
      ++at;
    } else if (rest[at] == '"') {
      quoted = !quoted;
    } else if (rest[at] == ';' && !quoted) {
      return at;
    }
  }
  return std::string_view::npos;
}

RuleOption split_option(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  RuleOption option;
  option.name = without_blanks(text.substr(0, colon));
  option.has_value = colon < text.size();
  if (option.has_value) option.value = without_blanks(text.substr(colon + 1));
  return option;
}

/// Of Suricata too, "content:"a",..." is wrong: behind the quotes nothing stands there.
bool has_words_behind_quotes(std::string_view value) {
  if (value.starts_with('!')) value = without_blanks(value.substr(1));
  if (!value.starts_with('"')) return false;
  for (std::size_t at = 1; at < value.size(); ++at) {
    if (value[at] == '\\') {
      ++at;
    } else if (value[at] == '"') {
      return without_blanks(value.substr(at + 1)).starts_with(',');
    }
  }
  return false;
}

constexpr std::array<std::string_view, 21> kOnlySnort3 = {
    "bufferlen",     "http_num_cookies", "http_num_headers", "http_num_trailers", "http_param",
    "http_raw_body", "http_raw_request", "http_raw_status",  "http_raw_trailer",  "http_trailer",
    "http_true_ip",  "http_version",     "js_data",          "raw_data",          "regex",
    "rem",           "script_data",      "sd_pattern",       "service",           "so",
    "vba_data"};

}  // namespace

std::string_view without_blanks(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

RuleWords split_rule(std::string_view text) {
  if (text.size() > kRuleBytesMax) {
    refuse("it has more than " + std::to_string(kRuleBytesMax) + " bytes");
  }
  text = without_blanks(text);
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) refuse("it has no '(' in front of options");
  RuleWords words;
  words.head = split_head(text.substr(0, open));
  if (!text.ends_with(')')) refuse("it does not end in ')'");
  std::string_view rest = without_blanks(text.substr(open + 1, text.size() - open - 2));
  while (!rest.empty()) {
    const std::size_t end = option_end(rest);
    if (end == std::string_view::npos) {
      refuse("no ';' ends the option " + quoted_word(rest));
    }
    const RuleOption option = split_option(rest.substr(0, end));
    // Two semicolons beside each other are in public rules.
    if (!option.name.empty()) words.options.push_back(option);
    if (option.name.empty() && option.has_value) refuse("an option has no name");
    rest = without_blanks(rest.substr(end + 1));
  }
  return words;
}

bool is_of_snort3(const RuleWords& words) {
  if (!words.head.has_addresses) return true;
  bool content_stands = false;
  for (const RuleOption& option : words.options) {
    if (std::ranges::find(kOnlySnort3, option.name) != kOnlySnort3.end()) return true;
    if (option.name == "content" || option.name == "uricontent") {
      content_stands = true;
      if (has_words_behind_quotes(option.value)) return true;
    }
    if (!content_stands && find_content_modifier(option.name)) return true;
  }
  return false;
}

}  // namespace millrace
