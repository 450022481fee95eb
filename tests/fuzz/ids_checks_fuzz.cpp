// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the value of a buffer that comes in pieces, in front of rules' tests of every kind:
// once nothing can match nothing does, a whole buffer leaves nothing open, and contents that are in
// the whole are found in the piece that ends them.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/ids/detect/buffer_matcher.hpp"
#include "shared/base/check.hpp"

namespace millrace {
namespace {

constexpr std::size_t kHeadBytes = 6;  // which tests, how, and the ends of four pieces
constexpr std::uint64_t kBase = 1000;

struct Checked {
  BufferTests tests;
  bool is_plain = false;    ///< positive contents alone
  bool is_settled = false;  ///< no limit of PCRE2 turns a later match into none
};

ContentMatch behind(std::string bytes, std::int64_t distance) {
  return {.bytes = std::move(bytes), .distance = {{distance}}};
}
ContentMatch within(std::string bytes, std::int64_t distance, std::int64_t room) {
  return {.bytes = std::move(bytes), .distance = {{distance}}, .within = {{room}}};
}

std::vector<std::vector<Match>> plain_tests() {
  return {
      {ContentMatch{.bytes = "GET "}, behind("/", 0), behind("HTTP/1.", 1), behind("\r\n", 1)},
      {ContentMatch{.bytes = "ab", .nocase = true}, within("ba", -1, 4)},
      {ContentMatch{.bytes = "a", .offset = {{2}}, .depth = {{9}}}, within("b", 0, 9)},
      {ContentMatch{.bytes = "host:", .nocase = true}, ContentMatch{.bytes = std::string(1, '\0')}},
  };
}

std::vector<std::vector<Match>> other_tests() {
  return {
      {ContentMatch{.bytes = "a"}, ContentMatch{.bytes = "b", .negated = true, .within = {{5}}}},
      {ContentMatch{.bytes = "a"}, ContentMatch{.bytes = "b", .negated = true},
       IsDataAt{.at = {4}, .relative = true, .negated = true}},
      {ContentMatch{.bytes = "end", .ends_with = true}, BufferSize{.low = 5, .high = 30}},
      {ByteTest{.format = {.bytes = 2, .mask = 0x7FF0}, .value = {4}, .offset = {1}},
       ByteJump{.format = {.bytes = 2, .little_endian = true},
                .offset = {-1},
                .relative = true,
                .align = true,
                .post_offset = -3},
       ContentMatch{.bytes = "a", .within = {{20}}}},
      {ByteExtract{.format = {.bytes = 8}, .variable = 0, .multiplier = 3, .align = 4},
       ByteMath{.format = {.bytes = 4, .is_text = true, .base = 16},
                .offset = {.variable = 0},
                .value = {.variable = 0},
                .op = ByteMath::Operator::kShiftLeft,
                .variable = 1},
       ByteJump{.offset = {.variable = 1}, .from_end = true, .post_offset = -9},
       IsDataAt{.at = {.variable = 1}, .relative = true},
       ContentMatch{.bytes = "a", .distance = {{.variable = 0}}, .within = {{.variable = 1}}}},
      {ContentMatch{.bytes = "len="},
       ByteJump{.format = {.bytes = 20, .is_text = true}, .relative = true, .multiplier = 2},
       ContentMatch{.bytes = "x", .offset = {{.variable = 5}}}},
      {DatasetMatch{.negated = true, .is_sha256 = true, .values = {std::string(32, 'a')}}},
  };
}

std::vector<std::vector<Match>> regex_tests() {
  return {
      {ContentMatch{.bytes = "a"}, PcreMatch{.expression = "^(b+)\\1(?=c)", .relative = true},
       behind("c", 0)},
      {PcreMatch{.expression = "(a+)+$", .flags = 0},
       PcreMatch{.expression = "\\bx", .negated = true}},
      {PcreMatch{.expression = "x*"}, PcreMatch{.expression = "\\Kz", .relative = true},
       within("b", 0, 3)},
  };
}

/// What is decoded, with contents, and behind each place of a content.
std::vector<std::vector<Match>> base64_tests() {
  std::vector<std::vector<Match>> all;
  for (const Base64Form form : {Base64Form::kPlain, Base64Form::kFolded}) {
    Base64Decode decode{.form = form};
    all.push_back({decode});
    decode.decoded = std::make_shared<const BufferTests>(
        BufferTests{.buffer = RuleBuffer::kBase64Data,
                    .tests = {ContentMatch{.bytes = "a"}, behind("b", 0),
                              ContentMatch{.bytes = "c", .negated = true, .depth = {{9}}}}});
    all.push_back({decode});
    decode.bytes = 12;
    decode.offset = 1;
    decode.relative = true;
    all.push_back({ContentMatch{.bytes = "="}, decode, behind(".", 0)});
  }
  return all;
}

std::vector<Checked> all_checks() {
  std::vector<Checked> checks;
  const auto add = [&](std::vector<std::vector<Match>> sets, bool is_plain, bool is_settled) {
    for (std::vector<Match>& tests : sets) {
      for (const RuleBuffer buffer : {RuleBuffer::kPayload, RuleBuffer::kFileData}) {
        checks.push_back({.tests = {.buffer = buffer, .tests = tests},
                          .is_plain = is_plain,
                          .is_settled = is_settled});
      }
    }
  };
  add(plain_tests(), true, true);
  add(other_tests(), false, true);
  add(regex_tests(), false, false);
  add(base64_tests(), false, true);
  using Kind = Transform::Kind;
  const ContentMatch digest{.bytes = "\x01"};
  for (const auto& transforms : std::vector<std::vector<Transform>>{
           {{Kind::kUrlDecode, ""}, {Kind::kToLowercase, ""}, {Kind::kCompressWhitespace, ""}},
           {{Kind::kHeaderLowercase, ""}, {Kind::kStripPseudoHeaders, ""}, {Kind::kDotPrefix, ""}},
           {{Kind::kXor, "key"}, {Kind::kPcre, "a(.*)b"}, {Kind::kToUppercase, ""}},
           {{Kind::kStripWhitespace, ""}, {Kind::kToMd5, ""}, {Kind::kToSha1, ""}}}) {
    checks.push_back(
        {.tests = {.buffer = RuleBuffer::kFileData, .transforms = transforms, .tests = {digest}}});
  }
  return checks;
}

struct Case {
  Checked check;
  BufferMatcher matcher;
  explicit Case(Checked checked) : check(std::move(checked)), matcher(check.tests) {}
};

/// Cases do not move: a matcher borrows its tests.
const std::vector<std::unique_ptr<Case>>& cases() {
  static const auto kCases = [] {
    std::vector<std::unique_ptr<Case>> made;
    for (Checked& check : all_checks()) made.push_back(std::make_unique<Case>(std::move(check)));
    return made;
  }();
  return kCases;
}

void look_by_pieces(const Case& one, std::span<const std::byte> value, std::uint64_t base,
                    const std::vector<std::size_t>& ends) {
  static MatcherScratch scratch;
  RuleVariables variables;
  bool is_found = false;
  bool is_never = false;
  std::size_t seen = 0;
  for (const std::size_t end : ends) {
    const bool is_complete = end == ends.back() && &end == &ends.back();
    const Look look = one.matcher.look({.bytes = value.first(end),
                                        .base = base,
                                        .seen = static_cast<std::uint32_t>(seen),
                                        .is_complete = is_complete},
                                       variables, scratch);
    MILLRACE_CHECK(!is_complete || look.found != Found::kNotYet);
    MILLRACE_CHECK(look.missing == kNoTest || look.found == Found::kNotYet);
    is_found = is_found || look.found == Found::kYes;
    MILLRACE_CHECK(!is_never || !one.check.is_settled || look.found != Found::kYes);
    is_never = is_never || look.found == Found::kNo;
    seen = end;
  }
  const Look whole = one.matcher.look({.bytes = value, .base = base}, variables, scratch);
  MILLRACE_CHECK(whole.found != Found::kNotYet);
  MILLRACE_CHECK(!one.check.is_plain || is_found == (whole.found == Found::kYes));
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < millrace::kHeadBytes) return 0;
  const auto& cases = millrace::cases();
  const auto& one = *cases[data[0] % cases.size()];
  // Its own memory: a read behind its end is seen.
  const std::vector<uint8_t> value(data + millrace::kHeadBytes, data + size);
  std::vector<std::size_t> ends;
  for (std::size_t i = 2; i < millrace::kHeadBytes; ++i) {
    ends.push_back(data[i] * value.size() / UINT8_MAX);
  }
  ends.push_back(value.size());
  std::sort(ends.begin(), ends.end());
  millrace::look_by_pieces(one, std::as_bytes(std::span(value)),
                           data[1] % 2 == 0 ? 0 : millrace::kBase, ends);
  return 0;
}
