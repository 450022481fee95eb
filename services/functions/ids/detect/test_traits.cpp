// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/test_traits.hpp"

#include <optional>

namespace millrace {
namespace {

template <typename... Visitors>
struct Visit : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Visit(Visitors...) -> Visit<Visitors...>;

bool is_variable(const RuleNumber& number) noexcept {
  return number.variable != RuleNumber::kNoVariable;
}
bool is_variable(const std::optional<RuleNumber>& number) noexcept {
  return number && is_variable(*number);
}
bool is_not_negative(const RuleNumber& number) noexcept {
  return !is_variable(number) && number.value >= 0;
}

}  // namespace

bool is_relative(const Match& test) noexcept {
  return std::visit(
      Visit{[](const ContentMatch& content) { return content.is_relative(); },
            [](const BufferSize&) { return false; }, [](const DatasetMatch&) { return false; },
            [](const auto& other) { return other.relative; }},
      test);
}

bool sets_cursor(const Match& test) noexcept {
  return is_choice(test) || std::holds_alternative<ByteJump>(test) ||
         std::holds_alternative<ByteExtract>(test) || std::holds_alternative<ByteMath>(test);
}

bool is_choice(const Match& test) noexcept {
  return std::visit(
      Visit{[](const ContentMatch& content) { return !content.negated; },
            [](const PcreMatch& pcre) { return !pcre.negated; }, [](const auto&) { return false; }},
      test);
}

bool goes_forward(const Match& test) noexcept {
  return std::visit(
      Visit{[](const ContentMatch& content) {
              return !content.distance || is_not_negative(*content.distance);
            },
            [](const ByteJump& jump) {
              return !jump.from_beginning && !jump.from_end && jump.post_offset >= 0 &&
                     !jump.format.is_text && jump.format.bytes < sizeof(std::uint64_t) &&
                     jump.multiplier <= UINT8_MAX && is_not_negative(jump.offset);
            },
            [](const ByteExtract& extract) { return is_not_negative(extract.offset); },
            [](const ByteMath& math) { return is_not_negative(math.offset); },
            [](const auto&) { return true; }},
      test);
}

bool uses_variables(const Match& test) noexcept {
  return std::visit(
      Visit{
          [](const ContentMatch& content) {
            return is_variable(content.offset) || is_variable(content.depth) ||
                   is_variable(content.distance) || is_variable(content.within);
          },
          [](const ByteTest& test) { return is_variable(test.value) || is_variable(test.offset); },
          [](const ByteJump& jump) { return is_variable(jump.offset); },
          [](const ByteExtract& extract) { return is_variable(extract.offset); },
          [](const ByteMath& math) { return is_variable(math.value) || is_variable(math.offset); },
          [](const IsDataAt& test) { return is_variable(test.at); },
          [](const auto&) { return false; }},
      test);
}

bool is_about_absence(const Match& test) noexcept {
  return std::visit(
      Visit{[](const ContentMatch& content) { return content.negated || content.ends_with; },
            [](const PcreMatch& pcre) { return pcre.negated; },
            [](const IsDataAt& test) { return test.negated; },
            [](const ByteJump& jump) { return jump.from_end; },
            [](const BufferSize&) { return true; }, [](const DatasetMatch&) { return true; },
            [](const auto&) { return false; }},
      test);
}

}  // namespace millrace
