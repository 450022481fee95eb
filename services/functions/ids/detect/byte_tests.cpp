// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/byte_tests.hpp"

#include <algorithm>

#include "services/functions/ids/detect/byte_numbers.hpp"

namespace millrace {
namespace {

/// isdataat of a variable that is not smaller finds nothing, as in Suricata.
constexpr std::int64_t kDataAtMax = 100'000'000;
constexpr std::int64_t kOffsetMax = INT32_MAX;

/// An offset, within 32 bits: sums of places do not overflow.
std::int64_t offset_of(const RuleNumber& number, const RuleVariables& variables) noexcept {
  return std::clamp(value_of(number, variables), -kOffsetMax, kOffsetMax);
}

struct NumberRead {
  Passed passed = Passed::kNo;
  std::int64_t place = 0;  ///< of its first byte
  ReadNumber number{};
};

/// Text that ends where its digits do. While bytes may follow, what the last one of them belongs to
/// is not known.
NumberRead read_open_text(const TestText& text, std::int64_t place,
                          const NumberFormat& format) noexcept {
  const std::int64_t bytes = std::min<std::int64_t>(text.end() - place, kOpenTextBytes);
  const bool may_grow = bytes < kOpenTextBytes && !text.is_complete;
  const NumberRead open{.passed = may_grow ? Passed::kLater : Passed::kNo, .place = place};
  if (bytes <= 0) return open;
  const auto number =
      read_number(text.bytes.subspan(text.index(place), static_cast<std::size_t>(bytes)), format);
  if (!number || (may_grow && number->length == bytes)) return open;
  return {.passed = Passed::kYes, .place = place, .number = *number};
}

NumberRead read_at(const TestText& text, std::int64_t place, const NumberFormat& format) noexcept {
  if (place < text.begin) return {};
  if (format.is_text && format.bytes == 0) return read_open_text(text, place, format);
  if (place + format.bytes > text.end()) {
    return {.passed = text.is_complete ? Passed::kNo : Passed::kLater, .place = place};
  }
  if (text.bytes.empty()) return {};
  const auto number = read_number(text.bytes.subspan(text.index(place), format.bytes), format);
  if (!number) return {};
  return {.passed = Passed::kYes, .place = place, .number = *number};
}

bool holds(Compare compare, std::uint64_t read, std::uint64_t value) noexcept {
  switch (compare) {
    case Compare::kLess:
      return read < value;
    case Compare::kGreater:
      return read > value;
    case Compare::kEqual:
      return read == value;
    case Compare::kNotEqual:
      return read != value;
    case Compare::kAnd:
      return (read & value) != 0;
    case Compare::kOr:
      return (read ^ value) != 0;
    case Compare::kLessEqual:
      return read <= value;
    case Compare::kGreaterEqual:
      return read >= value;
  }
  return false;
}

/// None: a division by 0.
std::optional<std::uint64_t> calculate(ByteMath::Operator op, std::uint64_t read,
                                       std::uint64_t value) noexcept {
  constexpr std::uint64_t kBits = 64;
  switch (op) {
    case ByteMath::Operator::kAdd:
      return read + value;
    case ByteMath::Operator::kSubtract:
      return read - value;
    case ByteMath::Operator::kMultiply:
      return read * value;
    case ByteMath::Operator::kDivide:
      if (value == 0) return std::nullopt;
      return read / value;
    case ByteMath::Operator::kShiftLeft:
      return value < kBits ? read << value : 0;
    case ByteMath::Operator::kShiftRight:
      return value < kBits ? read >> value : 0;
  }
  return std::nullopt;
}

std::uint64_t aligned(std::uint64_t value, std::uint64_t align) noexcept {
  const std::uint64_t over = align == 0 ? 0 : value % align;
  return over == 0 ? value : value + (align - over);
}

TestEnd ended(const NumberRead& read, bool passes, std::int64_t cursor) noexcept {
  return {.passed = passes ? Passed::kYes : Passed::kNo,
          .cursor = cursor,
          .furthest = read.place + read.number.length};
}

}  // namespace

std::int64_t value_of(const RuleNumber& number, const RuleVariables& variables) noexcept {
  return number.variable < kRuleVariablesMax ? variables.values[number.variable] : number.value;
}

TestEnd run_byte_test(const ByteTest& test, const TestText& text, std::int64_t cursor,
                      const RuleVariables& variables) noexcept {
  const std::int64_t from = test.relative ? cursor : 0;
  const NumberRead read = read_at(text, from + offset_of(test.offset, variables), test.format);
  if (read.passed != Passed::kYes) return {.passed = read.passed};
  const auto value = static_cast<std::uint64_t>(value_of(test.value, variables));
  const bool is_so = holds(test.compare, masked(read.number.value, test.format.mask), value);
  TestEnd end = ended(read, is_so != test.negated, cursor);
  end.furthest = read.place + std::max(test.format.bytes, read.number.length);
  return end;
}

TestEnd run_byte_jump(const ByteJump& jump, const TestText& text, std::int64_t cursor,
                      const RuleVariables& variables) noexcept {
  const std::int64_t from = jump.relative ? cursor : 0;
  const NumberRead read = read_at(text, from + offset_of(jump.offset, variables), jump.format);
  if (read.passed != Passed::kYes) return {.passed = read.passed};
  if (jump.from_end && !text.ends_here) return {.passed = Passed::kLater};
  constexpr std::uint64_t kWord = 4;
  std::uint64_t far = masked(read.number.value, jump.format.mask) * jump.multiplier;
  if (jump.align) far = aligned(far, kWord);
  far += static_cast<std::uint64_t>(std::int64_t{jump.post_offset});
  std::int64_t base = read.place + read.number.length;
  if (jump.from_beginning) base = 0;
  if (jump.from_end) base = text.end();
  // A sum beyond 64 bits is beyond every buffer.
  std::int64_t target = 0;
  if (__builtin_add_overflow(base, static_cast<std::int64_t>(far), &target)) return {};
  target = std::max<std::int64_t>(target, 0);
  if (target >= text.end()) {
    return {.passed = text.is_complete || jump.from_end ? Passed::kNo : Passed::kLater};
  }
  TestEnd end = ended(read, true, target);
  end.furthest = std::max(end.furthest, target + 1);
  return end;
}

TestEnd run_byte_extract(const ByteExtract& extract, const TestText& text, std::int64_t cursor,
                         RuleVariables& variables) noexcept {
  const std::int64_t from = extract.relative ? cursor : 0;
  const NumberRead read =
      read_at(text, from + offset_of(extract.offset, variables), extract.format);
  if (read.passed != Passed::kYes) return {.passed = read.passed};
  const std::uint64_t value = masked(read.number.value, extract.format.mask) * extract.multiplier;
  if (extract.variable < kRuleVariablesMax) {
    variables.values[extract.variable] = static_cast<std::int64_t>(aligned(value, extract.align));
  }
  return ended(read, true, read.place + read.number.length);
}

TestEnd run_byte_math(const ByteMath& math, const TestText& text, std::int64_t cursor,
                      RuleVariables& variables) noexcept {
  const std::int64_t from = math.relative ? cursor : 0;
  const NumberRead read = read_at(text, from + offset_of(math.offset, variables), math.format);
  if (read.passed != Passed::kYes) return {.passed = read.passed};
  const auto other = static_cast<std::uint64_t>(value_of(math.value, variables));
  const auto result = calculate(math.op, read.number.value, other);
  if (!result) return {};
  if (math.variable < kRuleVariablesMax) {
    variables.values[math.variable] = static_cast<std::int64_t>(masked(*result, math.format.mask));
  }
  return ended(read, true, read.place + read.number.length);
}

TestEnd run_is_data_at(const IsDataAt& test, const TestText& text, std::int64_t cursor,
                       const RuleVariables& variables) noexcept {
  const std::int64_t at = value_of(test.at, variables);
  const bool is_far = test.at.variable < kRuleVariablesMax && (at < 0 || at >= kDataAtMax);
  if (is_far) return {.passed = test.negated ? Passed::kYes : Passed::kNo, .cursor = cursor};
  // The number of bytes that have to be there.
  const std::int64_t needed =
      test.relative ? cursor + offset_of(test.at, variables) : offset_of(test.at, variables) + 1;
  if (needed <= text.end()) {
    return {
        .passed = test.negated ? Passed::kNo : Passed::kYes, .cursor = cursor, .furthest = needed};
  }
  if (test.negated && text.ends_here) return {.passed = Passed::kYes, .cursor = cursor};
  return {.passed = text.is_complete ? Passed::kNo : Passed::kLater};
}

TestEnd run_buffer_size(const BufferSize& size, const TestText& text,
                        std::int64_t cursor) noexcept {
  const std::int64_t bytes = text.end();
  const bool is_within = size.low <= bytes && bytes <= size.high;
  const bool stays = bytes > size.high || (is_within && size.high == UINT32_MAX);
  if (!text.is_complete && !stays) return {.passed = Passed::kLater};
  return {.passed = is_within != size.negated ? Passed::kYes : Passed::kNo,
          .cursor = cursor,
          .furthest = bytes};
}

}  // namespace millrace
