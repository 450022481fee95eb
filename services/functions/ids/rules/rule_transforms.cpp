// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_pcre.hpp"
#include "services/functions/ids/rules/rule_values.hpp"

/// Transforms of a buffer: behind the sticky buffer, in front of what looks at it.

namespace millrace {
namespace {

constexpr std::size_t kTransformsMax = 16;

void add_transform(Transform transform, RuleDraft& draft) {
  if (draft.buffer == RuleBuffer::kPayload || !draft.at_buffer) {
    refuse_rule("a transform stands directly behind a sticky buffer");
  }
  if (draft.buffer == RuleBuffer::kBase64Data) refuse_rule("it does not go with base64_data");
  if (draft.transforms.size() == kTransformsMax) refuse_rule("too many transforms of a buffer");
  draft.transforms.push_back(std::move(transform));
}

template <Transform::Kind Kind>
void add_plain(const RuleOption&, RuleDraft& draft) {
  add_transform({.kind = Kind, .text = {}}, draft);
}

/// The key is hex: "0d0ac8ff".
void add_xor(const RuleOption& option, RuleDraft& draft) {
  std::string hex = "|";
  hex.append(unquoted(option.value)).append("|");
  std::string key = pattern_bytes(hex);
  constexpr std::size_t kKeyBytesMax = 255;
  if (key.empty() || key.size() > kKeyBytesMax) refuse_rule("a key has 1 to 255 bytes");
  add_transform({.kind = Transform::Kind::kXor, .text = std::move(key)}, draft);
}

void add_expression(const RuleOption& option, RuleDraft& draft) {
  const std::string expression(unquoted(option.value));
  if (check_expression(expression, 0) != 1) refuse_rule("the expression captures one group");
  add_transform({.kind = Transform::Kind::kPcre, .text = expression}, draft);
}

using Kind = Transform::Kind;
constexpr auto kNone = KeywordValue::kNone;
constexpr std::array kKeywords = {
    RuleKeyword{"to_lowercase", kNone, add_plain<Kind::kToLowercase>},
    RuleKeyword{"to_uppercase", kNone, add_plain<Kind::kToUppercase>},
    RuleKeyword{"strip_whitespace", kNone, add_plain<Kind::kStripWhitespace>},
    RuleKeyword{"compress_whitespace", kNone, add_plain<Kind::kCompressWhitespace>},
    RuleKeyword{"url_decode", kNone, add_plain<Kind::kUrlDecode>},
    RuleKeyword{"dotprefix", kNone, add_plain<Kind::kDotPrefix>},
    RuleKeyword{"to_md5", kNone, add_plain<Kind::kToMd5>},
    RuleKeyword{"to_sha1", kNone, add_plain<Kind::kToSha1>},
    RuleKeyword{"to_sha256", kNone, add_plain<Kind::kToSha256>},
    RuleKeyword{"header_lowercase", kNone, add_plain<Kind::kHeaderLowercase>},
    RuleKeyword{"strip_pseudo_headers", kNone, add_plain<Kind::kStripPseudoHeaders>},
    RuleKeyword{"domain", kNone, add_plain<Kind::kDomain>},
    RuleKeyword{"tld", kNone, add_plain<Kind::kTld>},
    RuleKeyword{"xor", KeywordValue::kNeeded, add_xor},
    RuleKeyword{"pcrexform", KeywordValue::kNeeded, add_expression},
};

}  // namespace

RuleKeywords transform_keywords() noexcept { return kKeywords; }

}  // namespace millrace
