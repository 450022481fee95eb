// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/regex_literal.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "shared/base/ascii.hpp"
#include "shared/base/hex_digit.hpp"

namespace millrace {
namespace {

constexpr std::size_t kBytesMin = 2;
constexpr int kDepthMax = 50;  ///< of groups in groups

bool is_digit(char byte) noexcept { return byte >= '0' && byte <= '9'; }

/// Goes through an expression once. What it does not understand ends it: then it knows nothing.
class LiteralFinder {
 public:
  explicit LiteralFinder(std::string_view expression) : left_(expression) {}

  std::optional<std::string> find() {
    std::string best = alternatives(0);
    if (!is_understood_ || !left_.empty() || best.size() < kBytesMin) return std::nullopt;
    return best;
  }

 private:
  /// What is between two operators.
  struct Atom {
    enum class Kind : std::uint8_t { kByte, kOther, kGroup } kind = Kind::kOther;
    char byte = 0;
    std::string best = {};  ///< of a group: bytes that each match of it has
  };
  static Atom byte_of(char byte) { return {.kind = Atom::Kind::kByte, .byte = byte}; }
  enum class Times : std::uint8_t { kOnce, kMany, kPerhaps };

  bool is_next(std::string_view text) const noexcept { return left_.starts_with(text); }
  bool take(std::string_view text) noexcept {
    if (!is_next(text)) return false;
    left_.remove_prefix(text.size());
    return true;
  }
  char take_byte() noexcept {
    if (left_.empty()) return give_up();
    const char byte = left_.front();
    left_.remove_prefix(1);
    return byte;
  }
  char give_up() noexcept {
    is_understood_ = false;
    left_ = {};
    return 0;
  }

  /// Up to the end or to the parenthesis that closes them. Of several, no bytes stand in all.
  std::string alternatives(int depth) {
    std::string best = sequence(depth);
    while (take("|")) {
      sequence(depth);
      best.clear();
    }
    return best;
  }

  std::string sequence(int depth) {
    std::string best, run;
    const auto end_run = [&] {
      if (run.size() > best.size()) best = run;
      run.clear();
    };
    while (!left_.empty() && !is_next("|") && !is_next(")")) {
      Atom atom = next_atom(depth);
      const Times times = next_times();
      if (!is_understood_) return {};
      if (atom.kind == Atom::Kind::kByte && times != Times::kPerhaps) run += atom.byte;
      if (atom.kind == Atom::Kind::kByte && times == Times::kOnce) continue;
      end_run();
      if (times != Times::kPerhaps && atom.best.size() > best.size()) best = std::move(atom.best);
    }
    end_run();
    return best;
  }

  Atom next_atom(int depth) {
    const char byte = take_byte();
    switch (byte) {
      case '.':
      case '^':
      case '$':
        return {};
      case '[':
        skip_class();
        return {};
      case '(':
        return group(depth);
      case '\\':
        return escaped();
      case '*':
      case '+':
      case '?':
        give_up();
        return {};
      default:
        return byte_of(byte);
    }
  }

  Atom group(int depth) {
    const bool looks_around = take("?=") || take("?!") || take("?<=") || take("?<!");
    const bool is_plain = looks_around || take("?:") || (!is_next("?") && !is_next("*"));
    if (!is_plain || depth >= kDepthMax) {
      give_up();
      return {};
    }
    Atom atom{.kind = Atom::Kind::kGroup, .best = alternatives(depth + 1)};
    if (!take(")")) give_up();
    if (looks_around) atom.best.clear();  // what it looks at may lie outside of the match
    return atom;
  }

  Atom escaped() {
    constexpr std::string_view kClasses = "dDwWsShHvVRNX", kPlaces = "bBAzZG";
    const char letter = take_byte();
    if (letter == 'x') return hexadecimal();
    if (letter == 't') return byte_of('\t');
    if (letter == 'n') return byte_of('\n');
    if (letter == 'r') return byte_of('\r');
    if (letter == 'f') return byte_of('\f');
    if (kClasses.find(letter) != std::string_view::npos && !is_next("{")) return {};
    if (kPlaces.find(letter) != std::string_view::npos) return {};
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) give_up();
    return byte_of(letter);
  }

  /// `\xh`, `\xhh`.
  Atom hexadecimal() {
    constexpr std::size_t kDigitsMax = 2;
    constexpr unsigned kBase = 16;
    unsigned value = 0;
    std::size_t digits = 0;
    for (; digits < kDigitsMax && !left_.empty(); ++digits) {
      const auto digit = hex_digit(left_.front());
      if (!digit) break;
      value = value * kBase + *digit;
      left_.remove_prefix(1);
    }
    if (digits == 0) give_up();
    return byte_of(static_cast<char>(value));
  }

  void skip_class() {
    take("^");
    take("]");
    while (!take("]")) {
      const char byte = take_byte();
      if (byte == '\\' && (is_next("Q") || is_next("E") || is_next("c"))) give_up();
      if (byte == '\\') take_byte();
      if (byte == '[' && (is_next(":") || is_next(".") || is_next("="))) skip_named_class();
      if (!is_understood_) return;
    }
  }
  void skip_named_class() {
    const std::size_t end = left_.find(":]");
    if (!is_next(":") || end == 0 || end == std::string_view::npos) {
      give_up();
      return;
    }
    left_.remove_prefix(end + 2);
  }

  Times next_times() {
    Times times = Times::kOnce;
    if (take("?") || take("*")) {
      times = Times::kPerhaps;
    } else if (take("+")) {
      times = Times::kMany;
    } else if (is_next("{")) {
      times = counted();
    } else {
      return times;
    }
    if (!take("?")) take("+");
    if (is_next("{") || is_next("*") || is_next("?") || is_next("+")) give_up();
    return times;
  }

  /// `{n}`, `{n,}`, `{n,m}`.
  Times counted() {
    const std::size_t end = left_.find('}');
    if (end == std::string_view::npos) return give_up(), Times::kOnce;
    const std::string_view inside = left_.substr(1, end - 1);
    const bool is_count =
        !inside.empty() && is_digit(inside.front()) &&
        std::ranges::all_of(inside, [](char byte) { return is_digit(byte) || byte == ','; });
    if (!is_count) return give_up(), Times::kOnce;
    left_.remove_prefix(end + 1);
    const std::string_view least = inside.substr(0, inside.find(','));
    const bool is_none = std::ranges::all_of(least, [](char byte) { return byte == '0'; });
    return is_none ? Times::kPerhaps : Times::kMany;
  }

  std::string_view left_;
  bool is_understood_ = true;
};

}  // namespace

std::optional<RegexLiteral> required_literal(const PcreMatch& pcre) {
  if (pcre.negated || (pcre.flags & PCRE2_EXTENDED) != 0) return std::nullopt;
  std::optional<std::string> bytes = LiteralFinder(pcre.expression).find();
  if (!bytes) return std::nullopt;
  RegexLiteral literal{.bytes = std::move(*bytes), .nocase = (pcre.flags & PCRE2_CASELESS) != 0};
  if (literal.nocase) {
    for (char& byte : literal.bytes) byte = ascii_lower(byte);
  }
  return literal;
}

}  // namespace millrace
