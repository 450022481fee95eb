// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/quoted.hpp"

/// Keywords of HTTP/2's frames. Each of them asks for any one value of its buffer.

namespace millrace {
namespace {

constexpr std::string_view kFrameTypes[] = {"DATA",         "HEADERS",     "PRIORITY", "RSTSTREAM",
                                            "SETTINGS",     "PUSHPROMISE", "PING",     "GOAWAY",
                                            "WINDOWUPDATE", "CONTINUATION"};
constexpr std::string_view kErrorCodes[] = {"NO_ERROR",
                                            "PROTOCOL_ERROR",
                                            "INTERNAL_ERROR",
                                            "FLOW_CONTROL_ERROR",
                                            "SETTINGS_TIMEOUT",
                                            "STREAM_CLOSED",
                                            "FRAME_SIZE_ERROR",
                                            "REFUSED_STREAM",
                                            "CANCEL",
                                            "COMPRESSION_ERROR",
                                            "CONNECT_ERROR",
                                            "ENHANCE_YOUR_CALM",
                                            "INADEQUATE_SECURITY",
                                            "HTTP_1_1_REQUIRED"};
/// By identifier, from 1.
constexpr std::string_view kSettings[] = {
    "SETTINGS_HEADER_TABLE_SIZE",   "SETTINGS_ENABLE_PUSH",    "SETTINGS_MAX_CONCURRENT_STREAMS",
    "SETTINGS_INITIAL_WINDOW_SIZE", "SETTINGS_MAX_FRAME_SIZE", "SETTINGS_MAX_HEADER_LIST_SIZE"};

constexpr std::uint8_t kByte = 1, kWord = 4, kSettingName = 2;

std::string network_bytes(std::uint32_t number, std::size_t bytes) {
  std::string made(bytes, '\0');
  for (std::size_t i = bytes; i > 0; --i, number >>= 8) made[i - 1] = static_cast<char>(number);
  return made;
}

/// Names are written with or without underscores.
std::string plain(std::string_view name) {
  std::string made;
  for (const char letter : name) {
    if (letter != '_') made.push_back(letter);
  }
  return made;
}

std::optional<std::uint32_t> number_of_name(std::string_view name,
                                            std::span<const std::string_view> names) {
  const auto is_it = [&](std::string_view one) { return plain(one) == plain(name); };
  const auto found = std::ranges::find_if(names, is_it);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - names.begin());
}

ContentMatch begin_of(std::string bytes, bool is_whole) {
  ContentMatch content;
  content.bytes = std::move(bytes);
  content.starts_with = true;
  content.ends_with = is_whole;
  return content;
}

void push(RuleBuffer buffer, std::vector<Match> tests, RuleDraft& draft) {
  draft.signature.buffers.push_back(
      {.buffer = buffer, .transforms = {}, .tests = std::move(tests)});
  draft.last_content.reset();
}

/// Of the number with so many bytes at `offset`.
void add_number_tests(const NumberTest& wanted, std::uint8_t bytes, std::uint8_t offset,
                      std::vector<Match>& tests) {
  if (wanted.negated && wanted.low != wanted.high) refuse_rule("a negated range is not supported");
  const auto add = [&](Compare compare, std::uint32_t value) {
    ByteTest test;
    test.format.bytes = bytes;
    test.compare = compare;
    test.value.value = value;
    test.offset.value = offset;
    tests.emplace_back(test);
  };
  if (wanted.low == wanted.high) {
    return add(wanted.negated ? Compare::kNotEqual : Compare::kEqual, wanted.low);
  }
  add(Compare::kGreaterEqual, wanted.low);
  add(Compare::kLessEqual, wanted.high);
}

template <RuleBuffer Buffer, std::uint8_t Bytes, const auto& Names>
void add_named(const RuleOption& option, RuleDraft& draft) {
  const std::string_view word = unquoted(option.value);
  auto number = number_of_name(word, Names);
  if (!number) {
    if (word.find_first_not_of("0123456789") != std::string_view::npos) {
      refuse_rule(quoted_word(word) + " is none that is known");
    }
    constexpr std::int64_t kMax = (std::int64_t{1} << (8 * Bytes)) - 1;
    number = static_cast<std::uint32_t>(number_of(word, 0, kMax));
  }
  push(Buffer, {begin_of(network_bytes(*number, Bytes), true)}, draft);
}

template <RuleBuffer Buffer, std::uint8_t Bytes>
void add_number(const RuleOption& option, RuleDraft& draft) {
  constexpr std::uint32_t kMax = Bytes == kByte ? std::numeric_limits<std::uint8_t>::max()
                                                : std::numeric_limits<std::uint32_t>::max();
  std::vector<Match> tests;
  add_number_tests(number_test_of(unquoted(option.value), kMax), Bytes, 0, tests);
  push(Buffer, std::move(tests), draft);
}

/// "SETTINGS_ENABLE_PUSH=0", "SETTINGS_MAX_FRAME_SIZE > 100"; or a name alone.
void add_setting(const RuleOption& option, RuleDraft& draft) {
  const std::string_view text = unquoted(option.value);
  const std::size_t end = std::min(text.find_first_of("=<>! \t"), text.size());
  const auto place = number_of_name(text.substr(0, end), kSettings);
  if (!place) refuse_rule(quoted_word(text.substr(0, end)) + " is none of the settings");
  std::string_view value = text.substr(end);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  if (value.starts_with('=')) value.remove_prefix(1);
  std::vector<Match> tests{begin_of(network_bytes(*place + 1, kSettingName), false)};
  if (!value.empty()) {
    const auto wanted = number_test_of(value, std::numeric_limits<std::uint32_t>::max());
    add_number_tests(wanted, kWord, kSettingName, tests);
  }
  push(RuleBuffer::kHttp2Setting, std::move(tests), draft);
}

constexpr auto kNeeded = KeywordValue::kNeeded;
constexpr std::array kKeywords = {
    RuleKeyword{"http2.frametype", kNeeded,
                add_named<RuleBuffer::kHttp2FrameType, kByte, kFrameTypes>},
    RuleKeyword{"http2.errorcode", kNeeded,
                add_named<RuleBuffer::kHttp2ErrorCode, kWord, kErrorCodes>},
    RuleKeyword{"http2.priority", kNeeded, add_number<RuleBuffer::kHttp2Priority, kByte>},
    RuleKeyword{"http2.window", kNeeded, add_number<RuleBuffer::kHttp2Window, kWord>},
    RuleKeyword{"http2.size_update", kNeeded, add_number<RuleBuffer::kHttp2SizeUpdate, kWord>},
    RuleKeyword{"http2.settings", kNeeded, add_setting},
};

}  // namespace

RuleKeywords http2_keywords() noexcept { return kKeywords; }

}  // namespace millrace
