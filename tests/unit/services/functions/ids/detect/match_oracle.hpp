// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/detect/buffer_matcher.hpp"

/// Whether a text has what tests ask for, by trying every place of every content.

namespace millrace::match_oracle {

struct Text {
  std::string bytes;
  bool is_complete = true;
  bool ends_here = true;
  std::int64_t seen = -1;  ///< a match counts if it ends behind that
};

class Walk {
 public:
  Walk(const std::vector<Match>& tests, const Text& text) : tests_(tests), text_(text) {}
  bool matches() { return from(0, {}); }

 private:
  struct State {
    std::int64_t cursor = 0, furthest = 0;
    RuleVariables variables{};
  };

  std::int64_t size() const { return static_cast<std::int64_t>(text_.bytes.size()); }
  static std::int64_t number(const RuleNumber& number, const State& state) {
    if (number.variable == RuleNumber::kNoVariable) return number.value;
    return state.variables.values[number.variable];
  }

  bool from(std::size_t place, const State& state) {
    if (place == tests_.size()) return state.furthest > text_.seen;
    return std::visit([&](const auto& test) { return pass(test, place + 1, state); },
                      tests_[place]);
  }
  bool moved(std::size_t next, State state, std::int64_t cursor, std::int64_t needed) {
    state.cursor = cursor;
    state.furthest = std::max(state.furthest, needed);
    return from(next, state);
  }

  struct Range {
    std::int64_t low = 0, high = INT64_MAX;
  };
  Range range_of(const ContentMatch& content, const State& state) const {
    Range range;
    if (content.offset) range.low = number(*content.offset, state);
    if (content.depth) range.high = range.low + number(*content.depth, state);
    if (content.starts_with) range.high = static_cast<std::int64_t>(content.bytes.size());
    if (!content.is_relative()) return range;
    const std::int64_t distance = content.distance ? number(*content.distance, state) : 0;
    range.low = state.cursor + distance;
    if (content.within) range.high = range.low + number(*content.within, state);
    range.low = std::max<std::int64_t>(range.low, 0);
    return range;
  }
  bool is_at(const ContentMatch& content, std::int64_t at) const {
    for (std::size_t i = 0; i < content.bytes.size(); ++i) {
      char byte = text_.bytes[static_cast<std::size_t>(at) + i];
      if (content.nocase && byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte + 32);
      if (byte != content.bytes[i]) return false;
    }
    return true;
  }
  bool pass(const ContentMatch& content, std::size_t next, const State& state) {
    const Range range = range_of(content, state);
    const auto length = static_cast<std::int64_t>(content.bytes.size());
    bool is_there = false;
    for (std::int64_t at = 0; at + length <= size(); ++at) {
      if (at < range.low || at + length > range.high || !is_at(content, at)) continue;
      if (content.ends_with && (at + length != size() || range.high < size())) continue;
      is_there = true;
      if (content.negated || (content.ends_with && !text_.ends_here)) continue;
      if (moved(next, state, at + length, at + length)) return true;
    }
    if (!content.negated || is_there) return false;
    if (!is_decided(content, range)) return false;
    return from(next, state);
  }
  /// Of a negated content that is not there.
  bool is_decided(const ContentMatch& content, const Range& range) const {
    if (text_.is_complete) return true;
    if (range.high - range.low < static_cast<std::int64_t>(content.bytes.size())) return true;
    if (content.ends_with) return text_.ends_here || range.high < size();
    return range.high <= size() || (text_.ends_here && range.high == INT64_MAX);
  }

  /// Of the few expressions that tests use. -1: it does not match there.
  std::int64_t length_at(const std::string& expression, std::int64_t at,
                         std::int64_t subject) const {
    const auto run_of = [&](std::int64_t from, std::string_view bytes) {
      std::int64_t end = from;
      while (byte_at(end) >= 0 && bytes.find(static_cast<char>(byte_at(end))) != bytes.npos) ++end;
      return end - from;
    };
    if (expression == "A[aA]*") return byte_at(at) == 'A' ? run_of(at, "aA") : -1;
    const auto has_both = [&](std::int64_t from) {
      return byte_at(from) == 'a' && byte_at(from + 1) == 'A';
    };
    if (expression == "aA") return has_both(at) ? 2 : -1;
    if (expression == "[aA]aA") return run_of(at, "aA") > 0 && has_both(at + 1) ? 3 : -1;
    if (expression == "aA[aA]+") {
      return has_both(at) && run_of(at + 2, "aA") > 0 ? run_of(at, "aA") : -1;
    }
    if (byte_at(at) != 'a') return -1;
    if (expression == "a") return 1;
    if (expression == "a+") return run_of(at, "a");
    if (expression == "^a") return at == subject ? 1 : -1;
    // "a[^A]?A"
    if (byte_at(at + 1) == 'A') return 2;
    return byte_at(at + 2) == 'A' ? 3 : -1;
  }
  /// Each place has one match at most.
  bool pass(const PcreMatch& pcre, std::size_t next, const State& state) {
    const std::int64_t subject = pcre.relative ? state.cursor : 0;
    for (std::int64_t at = subject; at <= size(); ++at) {
      const std::int64_t length = length_at(pcre.expression, at, subject);
      if (length < 0) continue;
      if (pcre.negated) return false;
      if (moved(next, state, at + length, at + length)) return true;
    }
    return pcre.negated && text_.ends_here && from(next, state);
  }

  /// Numbers are single bytes. -1: it is not there.
  std::int64_t byte_at(std::int64_t at) const {
    if (at < 0 || at >= size()) return -1;
    return static_cast<unsigned char>(text_.bytes[static_cast<std::size_t>(at)]);
  }
  bool pass(const ByteTest& test, std::size_t next, const State& state) {
    const std::int64_t at = (test.relative ? state.cursor : 0) + number(test.offset, state);
    const std::int64_t byte = byte_at(at);
    if (byte < 0 || (byte > number(test.value, state)) == test.negated) return false;
    return moved(next, state, state.cursor, at + 1);
  }
  bool pass(const ByteJump& jump, std::size_t next, const State& state) {
    const std::int64_t at = (jump.relative ? state.cursor : 0) + number(jump.offset, state);
    const std::int64_t byte = byte_at(at);
    if (byte < 0) return false;
    const std::int64_t begin = jump.from_beginning ? 0 : at + 1;
    const std::int64_t target =
        std::max<std::int64_t>(0, begin + byte * jump.multiplier + jump.post_offset);
    return target < size() && moved(next, state, target, std::max(at, target) + 1);
  }
  bool pass(const ByteExtract& extract, std::size_t next, const State& state) {
    const std::int64_t at = (extract.relative ? state.cursor : 0) + number(extract.offset, state);
    if (byte_at(at) < 0) return false;
    State then = state;
    then.variables.values[extract.variable] = byte_at(at) * extract.multiplier;
    return moved(next, then, at + 1, at + 1);
  }
  bool pass(const ByteMath&, std::size_t, const State&) { return false; }
  bool pass(const IsDataAt& test, std::size_t next, const State& state) {
    const std::int64_t needed =
        test.relative ? state.cursor + number(test.at, state) : number(test.at, state) + 1;
    if (needed <= size()) return !test.negated && moved(next, state, state.cursor, needed);
    return test.negated && text_.ends_here && from(next, state);
  }
  bool pass(const BufferSize& test, std::size_t next, const State& state) {
    const bool is_within = test.low <= size() && size() <= test.high;
    const bool stays = size() > test.high || (is_within && test.high == UINT32_MAX);
    return (text_.is_complete || stays) && is_within != test.negated && from(next, state);
  }
  bool pass(const DatasetMatch&, std::size_t, const State&) { return false; }
  bool pass(const Base64Decode&, std::size_t, const State&) { return false; }

  const std::vector<Match>& tests_;
  const Text& text_;
};

inline bool matches(const std::vector<Match>& tests, const Text& text) {
  return Walk(tests, text).matches();
}

}  // namespace millrace::match_oracle
