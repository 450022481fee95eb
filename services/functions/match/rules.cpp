// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/rules.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "shared/base/hex_digit.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

/// Why a line is refused. Caught in this file: one line's end is not the file's.
struct Refusal {
  std::string reason;
};

bool is_blank(char byte) { return byte == ' ' || byte == '\t'; }
bool is_printable(char byte) { return byte >= 0x20 && byte < 0x7f; }

/// A cursor over one line: words and quoted texts, blanks between them.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) { skip_blanks(); }

  bool at_end() const { return text_.empty() || text_.front() == '#'; }
  bool at_quote() const { return !text_.empty() && text_.front() == '"'; }

  std::string_view word() {
    std::size_t bytes = 0;
    while (bytes < text_.size() && !is_blank(text_[bytes]) && text_[bytes] != '"') ++bytes;
    const std::string_view found = text_.substr(0, bytes);
    text_.remove_prefix(bytes);
    skip_blanks();
    return found;
  }

  /// The bytes between quotes: `|7f 45|` is hex, a backslash takes the next character out of its
  /// role.
  std::string quoted(const char* what) {
    if (!at_quote()) throw Refusal{std::string(what) + " in double quotes is missing"};
    text_.remove_prefix(1);
    std::string bytes;
    for (;;) {
      const char next = take(what);
      if (next == '"') break;
      if (next == '|') {
        take_hex(bytes);
      } else {
        bytes.push_back(next == '\\' ? take_escape(what) : next);
      }
    }
    if (!text_.empty() && !is_blank(text_.front()) && text_.front() != '#') {
      throw Refusal{"no blank behind the closing quote"};
    }
    skip_blanks();
    return bytes;
  }

 private:
  void skip_blanks() {
    while (!text_.empty() && is_blank(text_.front())) text_.remove_prefix(1);
  }

  char take(const char* what) {
    if (text_.empty()) throw Refusal{std::string(what) + " has no closing quote"};
    const char byte = text_.front();
    text_.remove_prefix(1);
    return byte;
  }

  unsigned take_hex_digit() {
    const char byte = take("hex");
    if (const auto digit = hex_digit(byte)) return *digit;
    throw Refusal{std::string("'") + (is_printable(byte) ? byte : '?') + "' is no hex digit"};
  }

  char take_hex_byte() {
    const unsigned high = take_hex_digit();
    return static_cast<char>(high << 4 | take_hex_digit());
  }

  void take_hex(std::string& bytes) {
    for (;;) {
      skip_blanks();
      if (text_.empty()) throw Refusal{"hex has no closing '|'"};
      if (text_.front() == '|') break;
      bytes.push_back(take_hex_byte());
    }
    text_.remove_prefix(1);
  }

  char take_escape(const char* what) {
    const char byte = take(what);
    switch (byte) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'x':
        return take_hex_byte();
      case '"':
      case '\\':
      case '|':
      case ';':
      case ':':
        return byte;
      default:
        throw Refusal{std::string("'\\") + (is_printable(byte) ? byte : '?') +
                      "' is unknown; there are \\n \\r \\t \\xHH \\\" \\\\ \\| \\; \\:"};
    }
  }

  std::string_view text_;
};

std::uint32_t class_mask_of(std::string_view name, std::span<const MatchClass> classes) {
  std::string known;
  for (const MatchClass& row : classes) {
    if (row.name == name) return row.mask;
    known += (known.empty() ? "" : ", ") + row.name;
  }
  throw Refusal{"class " + quoted_word(name) + " is none of the function's `classes:` (" +
                (known.empty() ? "it has none" : known) + ")"};
}

void read_action(Line& line, std::span<const MatchClass> classes, MatchRule& rule) {
  const std::string_view action = line.word();
  if (action == "drop") {
    rule.action = MatchAction::kDrop;
  } else if (action == "alert") {
    rule.action = MatchAction::kAlert;
  } else if (action == "class") {
    rule.action = MatchAction::kClass;
    rule.class_mask = class_mask_of(line.word(), classes);
  } else {
    throw Refusal{quoted_word(action) + " is no action; there are drop, class NAME, alert"};
  }
}

std::uint16_t port_of(std::string_view word) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), port);
  if (error != std::errc() || end != word.data() + word.size() || port == 0) {
    throw Refusal{"port " + quoted_word(word) + " is no number from 1 to 65535"};
  }
  return port;
}

std::uint8_t protocol_of(std::string_view word) {
  if (word == "tcp") return 6;
  if (word == "udp") return 17;
  if (word == "any") return 0;
  throw Refusal{"proto " + quoted_word(word) + " is none of tcp, udp, any"};
}

std::string name_of(Line& line) {
  std::string name = line.quoted("the name");
  bool printable = !name.empty() && name.size() <= kMatchNameBytesMax;
  for (const char byte : name) printable = printable && is_printable(byte);
  if (!printable) {
    throw Refusal{"a name has 1 to " + std::to_string(kMatchNameBytesMax) +
                  " printable characters"};
  }
  return name;
}

/// Each option once.
void read_options(Line& line, MatchRule& rule) {
  std::string seen = " ";
  while (!line.at_end()) {
    const std::string option(line.word());
    if (option == "nocase") {
      rule.nocase = true;
    } else if (option == "proto") {
      rule.protocol = protocol_of(line.word());
    } else if (option == "port") {
      rule.port = port_of(line.word());
    } else if (option == "name") {
      rule.name = name_of(line);
    } else {
      throw Refusal{quoted_word(option) + " is no option; there are nocase, proto, port, name"};
    }
    if (seen.find(" " + option + " ") != std::string::npos) {
      throw Refusal{quoted_word(option) + " stands twice"};
    }
    seen += option + " ";
  }
}

MatchRule read_rule(Line line, std::span<const MatchClass> classes) {
  MatchRule rule;
  read_action(line, classes, rule);
  rule.literal = line.quoted("the literal");
  if (rule.literal.empty()) throw Refusal{"the literal is empty: it would match every packet"};
  if (rule.literal.size() > kMatchLiteralBytesMax) {
    throw Refusal{"the literal has " + std::to_string(rule.literal.size()) + " bytes, at most " +
                  std::to_string(kMatchLiteralBytesMax) + " are allowed"};
  }
  read_options(line, rule);
  return rule;
}

std::string_view without_line_end(std::string_view text) {
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

}  // namespace

MatchRuleFile parse_match_rules(std::string_view text, const std::string& file,
                                std::span<const MatchClass> classes) {
  MatchRuleFile out;
  const std::string base_name = file.substr(file.find_last_of('/') + 1);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const Line line(without_line_end(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.at_end()) continue;
    try {
      if (out.rules.size() == kMatchRuleCountMax) {
        throw Refusal{"more than " + std::to_string(kMatchRuleCountMax) + " rules"};
      }
      MatchRule rule = read_rule(line, classes);
      if (rule.name.empty()) rule.name = base_name + ":" + std::to_string(number);
      out.rules.push_back(std::move(rule));
    } catch (const Refusal& refusal) {
      out.refusals.push_back(file + ":" + std::to_string(number) + ": " + refusal.reason);
    }
  }
  return out;
}

}  // namespace millrace
