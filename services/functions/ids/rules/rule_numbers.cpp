// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_numbers.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "services/functions/ids/detect/buffer_matcher.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

/// Digits of the largest number of 64 bits, as Suricata counts them.
struct Base {
  std::string_view name;
  std::uint8_t base, digits_max;
};
constexpr Base kBases[] = {{"oct", 8, 23}, {"dec", 10, 20}, {"hex", 16, 14}};

const Base* find_base(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kBases, name, &Base::name);
  return found == std::end(kBases) ? nullptr : found;
}

void set_base(std::string_view name, NumberOptions& options) {
  const Base* const base = find_base(name);
  if (base == nullptr) refuse_rule(quoted_word(name) + " is none of hex, dec, oct");
  options.format.base = base->base;
  options.has_base = true;
}

void set_endian(std::string_view name, NumberOptions& options) {
  if (name != "big" && name != "little") refuse_rule("the endian is big or little");
  options.format.little_endian = name == "little";
}

bool is_name(std::string_view text) noexcept {
  const auto is_letter = [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
  };
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [&](char byte) {
    return is_letter(byte) || (byte >= '0' && byte <= '9') || byte == '.' || byte == '-';
  });
}

}  // namespace

bool take_number_option(std::string_view text, NumberOptions& options) {
  const NamedValue option = split_named(text);
  if (text == "relative") {
    options.relative = true;
  } else if (text == "big" || text == "little") {
    set_endian(text, options);
  } else if (option.name == "endian") {
    set_endian(option.value, options);
  } else if (option.name == "string") {
    options.format.is_text = true;
    if (!option.value.empty()) set_base(option.value, options);
  } else if (find_base(text) != nullptr) {
    set_base(text, options);
  } else if (option.name == "bitmask") {
    options.format.mask = static_cast<std::uint32_t>(
        number_of(option.value, 1, std::numeric_limits<std::uint32_t>::max()));
  } else if (text == "dce") {
    refuse_rule("dce: DCE/RPC is not read");
  } else {
    return false;
  }
  return true;
}

NumberFormat format_of(std::string_view bytes, const NumberOptions& options,
                       const RuleDraft& draft) {
  constexpr std::int64_t kBinaryBytesMax = 8;
  NumberFormat format = options.format;
  // Snort: decimal. Suricata: what the text looks like.
  if (format.is_text && !options.has_base && !draft.is_snort3) format.base = 0;
  if (!format.is_text && options.has_base) refuse_rule("hex, dec, oct go with string");
  std::int64_t bytes_max = format.is_text ? kBases[0].digits_max : kBinaryBytesMax;
  for (const Base& row : kBases) {
    if (format.is_text && row.base == format.base) bytes_max = row.digits_max;
  }
  const bool may_be_zero = format.is_text ? options.may_be_open : options.may_be_none;
  format.bytes = static_cast<std::uint8_t>(number_of(bytes, may_be_zero ? 0 : 1, bytes_max));
  return format;
}

std::uint8_t variable_for(std::string_view name, RuleDraft& draft) {
  if (!is_name(name)) refuse_rule(quoted_word(name) + " is no name of a variable");
  const auto [found, is_new] =
      draft.variables.emplace(name, static_cast<std::uint8_t>(draft.variables.size()));
  if (draft.variables.size() > kRuleVariablesMax) {
    refuse_rule("a rule has at most " + std::to_string(kRuleVariablesMax) + " variables");
  }
  draft.signature.variables = static_cast<std::uint8_t>(draft.variables.size());
  return found->second;
}

}  // namespace millrace
