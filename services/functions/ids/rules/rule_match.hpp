// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "services/functions/ids/rules/rule_buffer.hpp"

/// What a rule asks of the bytes of one buffer.

namespace millrace {

/// A number that stands in a rule, or the value of a variable of the rule.
struct RuleNumber {
  static constexpr std::uint8_t kNoVariable = UINT8_MAX;
  std::int64_t value = 0;
  std::uint8_t variable = kNoVariable;  ///< 0..: of the rule's variables, in their order
  bool operator==(const RuleNumber&) const = default;
};

/// `content`. Bytes are at `offset` or behind; with `depth` within so many bytes from there.
/// `distance`, `within`: the same from the end of the match before.
struct ContentMatch {
  std::string bytes;  ///< 1..; with nocase in lower case
  bool nocase = false, negated = false;
  bool raw = false;  ///< rawbytes: of no effect, as in Suricata
  bool starts_with = false, ends_with = false;
  std::optional<RuleNumber> offset, depth, distance, within;
  bool is_relative() const noexcept { return distance || within; }
};

/// `pcre`, by PCRE2. `flags`: PCRE2_CASELESS, ... ; `/R` is `relative`.
struct PcreMatch {
  std::string expression;  ///< without slashes and flags
  std::uint32_t flags = 0;
  bool relative = false, negated = false;
};

enum class Compare : std::uint8_t {
  kLess,
  kGreater,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kLessEqual,
  kGreaterEqual
};
/// How byte_test and its relatives read a number: bytes as an integer, or text of digits.
struct NumberFormat {
  /// 1..8 binary; up to 23 of text. 0: of text, as many as there are; binary (byte_jump), none: the
  /// number is 0.
  std::uint8_t bytes = 1;
  bool little_endian = false;
  bool is_text = false;
  std::uint8_t base = 10;  ///< of text: 8, 10, 16; 0: hex behind 0x, octal behind 0
  std::uint32_t mask = 0;  ///< bitmask; 0: none. The result is shifted down by its low zeros
};
struct ByteTest {
  NumberFormat format;
  Compare compare = Compare::kEqual;
  bool negated = false;
  RuleNumber value, offset;
  bool relative = false;
};
struct ByteJump {
  NumberFormat format;
  RuleNumber offset;
  bool relative = false, align = false, from_beginning = false, from_end = false;
  std::uint32_t multiplier = 1;
  std::int32_t post_offset = 0;
};
struct ByteExtract {
  NumberFormat format;
  RuleNumber offset;
  bool relative = false;
  std::uint8_t variable = 0;
  std::uint32_t multiplier = 1;
  std::uint8_t align = 0;  ///< 0, 2, 4: the number is rounded up to that
};
struct ByteMath {
  enum class Operator : std::uint8_t {
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kShiftLeft,
    kShiftRight
  };
  NumberFormat format;
  RuleNumber offset, value;
  Operator op = Operator::kAdd;
  bool relative = false;
  std::uint8_t variable = 0;
};
struct IsDataAt {
  RuleNumber at;
  bool relative = false, negated = false;
};
/// `bsize`, `urilen`, `bufferlen`: bytes of the whole buffer.
struct BufferSize {
  std::uint32_t low = 0, high = UINT32_MAX;
  bool negated = false;
};
/// `dataset`: the whole buffer is one of the values, which are sorted, or none of them.
struct DatasetMatch {
  bool negated = false;
  bool is_sha256 = false;  ///< values are digests (32 bytes); else the bytes themselves
  std::vector<std::string> values;
};

struct BufferTests;  // signature.hpp
enum class Base64Form : std::uint8_t {
  kPlain,   ///< RFC 4648: it ends in front of the first other character
  kMime,    ///< RFC 2045: other characters are left out
  kFolded,  ///< Snort: likewise, up to padding, or to a line that the next one does not continue
};
/// `base64_decode`: something is encoded there, and passes what stands behind `base64_data`.
struct Base64Decode {
  static constexpr std::uint32_t kBytesMax = 65'535;
  std::uint32_t bytes = kBytesMax;  ///< of the text, at most
  std::uint32_t offset = 0;
  bool relative = false;
  Base64Form form = Base64Form::kPlain;
  std::shared_ptr<const BufferTests> decoded;  ///< null: nothing is asked
};

using Match = std::variant<ContentMatch, PcreMatch, ByteTest, ByteJump, ByteExtract, ByteMath,
                           IsDataAt, BufferSize, DatasetMatch, Base64Decode>;

/// What is done to a buffer before it is looked at, in the order of the rule.
struct Transform {
  enum class Kind : std::uint8_t {
    kToLowercase,
    kToUppercase,
    kStripWhitespace,
    kCompressWhitespace,
    kUrlDecode,
    kDotPrefix,
    kToMd5,
    kToSha1,
    kToSha256,
    kXor,   ///< `text`: the key
    kPcre,  ///< pcrexform; `text`: the expression; the first group is left
    kHeaderLowercase,
    kStripPseudoHeaders,
    kDomain,
    kTld,
  } kind;
  std::string text;
  bool operator==(const Transform&) const = default;
};

}  // namespace millrace
