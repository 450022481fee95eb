// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bitset>
#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_values.hpp"

/// Which content the prefilter looks for.

namespace millrace {
namespace {

/// Buffers whose values are few, or that are long, select less.
bool is_selective(RuleBuffer buffer) noexcept {
  switch (buffer) {
    case RuleBuffer::kPayload:
    case RuleBuffer::kHttpMethod:
    case RuleBuffer::kHttpStatusCode:
    case RuleBuffer::kHttpStatusMessage:
    case RuleBuffer::kHttpProtocol:
    case RuleBuffer::kTlsVersion:
    case RuleBuffer::kSshProtocol:
      return false;
    default:
      return true;
  }
}

/// Letters and zeros are frequent, other bytes are rare; each different one counts once more.
std::uint32_t strength_of(const std::string& bytes) noexcept {
  constexpr std::uint32_t kLetter = 3, kDigit = 4, kFrequent = 2, kRare = 6;
  constexpr std::string_view kFrequentBytes{"\0\xff\x01\x20\r\n", 6};
  std::bitset<256> seen;
  std::uint32_t strength = 0;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    std::uint32_t worth = kRare;
    if (kFrequentBytes.find(byte) != std::string_view::npos) {
      worth = kFrequent;
    } else if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')) {
      worth = kLetter;
    } else if (byte >= '0' && byte <= '9') {
      worth = kDigit;
    }
    strength += seen.test(value) ? 1 : worth;
    seen.set(value);
  }
  return strength;
}

/// How much better a content is than another: the greater one wins.
using Worth = std::tuple<bool, bool, std::size_t, std::uint32_t>;

std::optional<Worth> worth_of(const BufferTests& tests, const Match& match) {
  const auto* const content = std::get_if<ContentMatch>(&match);
  if (content == nullptr || content->negated || !tests.transforms.empty()) return std::nullopt;
  constexpr std::size_t kShort = 4;
  return Worth{content->bytes.size() >= kShort, is_selective(tests.buffer), content->bytes.size(),
               strength_of(content->bytes)};
}

FastPattern pattern_at(std::size_t buffer, std::size_t test, std::size_t offset,
                       std::size_t length) {
  return {.buffer = static_cast<std::uint16_t>(buffer),
          .test = static_cast<std::uint16_t>(test),
          .offset = static_cast<std::uint16_t>(offset),
          .length = static_cast<std::uint16_t>(length)};
}

/// What `fast_pattern` names, if the prefilter can look for it.
std::optional<FastPattern> wanted_pattern(const RuleDraft& draft) {
  if (!draft.wanted_fast_pattern) return std::nullopt;
  const RuleDraft::Place place = *draft.wanted_fast_pattern;
  const BufferTests& tests = draft.signature.buffers[place.buffer];
  const Match& match = tests.tests[place.test];
  if (!worth_of(tests, match)) return std::nullopt;
  const std::size_t bytes = std::get<ContentMatch>(match).bytes.size();
  const std::size_t length = draft.fast_length != 0 ? draft.fast_length : bytes - draft.fast_offset;
  if (draft.fast_offset + length > bytes || length == 0) {
    throw RuleRefused{"fast_pattern", "that part is not within the content"};
  }
  return pattern_at(place.buffer, place.test, draft.fast_offset, length);
}

/// A content that is to be found anywhere takes no part in what is relative to the one before.
void check_only(const RuleDraft& draft) {
  if (!draft.fast_pattern_only || !draft.wanted_fast_pattern) return;
  const RuleDraft::Place place = *draft.wanted_fast_pattern;
  const std::vector<Match>& tests = draft.signature.buffers[place.buffer].tests;
  if (place.test + 1 == tests.size()) return;
  const auto is_relative = [](const auto& test) {
    if constexpr (requires { test.is_relative(); }) {
      return test.is_relative();
    } else if constexpr (requires { test.relative; }) {
      return test.relative;
    } else {
      return false;
    }
  };
  if (std::visit(is_relative, tests[place.test + 1])) {
    throw RuleRefused{"fast_pattern", "only: the test behind it is relative to it"};
  }
}

}  // namespace

void choose_fast_pattern(RuleDraft& draft) {
  check_only(draft);
  Signature& signature = draft.signature;
  signature.fast_pattern = wanted_pattern(draft);
  if (signature.fast_pattern) return;
  std::optional<Worth> best;
  for (std::size_t buffer = 0; buffer < signature.buffers.size(); ++buffer) {
    const BufferTests& tests = signature.buffers[buffer];
    for (std::size_t test = 0; test < tests.tests.size(); ++test) {
      const std::optional<Worth> worth = worth_of(tests, tests.tests[test]);
      if (!worth || (best && *worth <= *best)) continue;
      best = worth;
      const std::size_t bytes = std::get<ContentMatch>(tests.tests[test]).bytes.size();
      signature.fast_pattern = pattern_at(buffer, test, 0, bytes);
    }
  }
}

}  // namespace millrace
