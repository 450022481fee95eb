// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_places.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

/// "http.uri:abc http.header:d": buffers, and the contents that are tests of each ('.' for others).
std::string buffers_of(const std::string& options, const DraftOf& of = {}) {
  std::string text;
  for (const BufferTests& tests : signature_of(options, of).buffers) {
    text += (text.empty() ? "" : " ") + std::string(traits_of(tests.buffer).name) + ":";
    for (const Match& match : tests.tests) {
      const auto* const content = std::get_if<ContentMatch>(&match);
      text += content == nullptr ? "." : content->bytes;
    }
  }
  return text;
}

TEST(RulePlaces, TestsGoToTheStickyBuffer) {
  EXPECT_EQ(buffers_of("content:\"a\"; http.uri; content:\"b\"; http.header; content:\"c\";"
                       "http.uri; content:\"d\"; pkt_data; content:\"e\";"),
            "pkt_data:ae http.uri:bd http.header:c");
}

TEST(RulePlaces, ModifiersMoveTheContentInFrontOfThem) {
  EXPECT_EQ(buffers_of("content:\"a\"; content:\"b\"; http_uri; content:\"c\"; nocase; http_uri;"
                       "content:\"d\";"),
            "pkt_data:ad http.uri:bc");
  EXPECT_EQ(buffers_of("content:\"a\"; http_header;"), "http.header:a");
  EXPECT_EQ(buffers_of("content:\"a\"; isdataat:3; http_header;"), "pkt_data:. http.header:a");
}

TEST(RulePlaces, RelativeTestsFollowTheOneBeforeInSuricata) {
  const std::string options = "content:\"a\"; http_uri; isdataat:5,relative; content:\"b\";";
  EXPECT_EQ(buffers_of(options), "pkt_data:b http.uri:a.");
  EXPECT_EQ(buffers_of("content:\"a\"; http_uri; isdataat:5;"), "pkt_data:. http.uri:a");
  EXPECT_EQ(buffers_of("http_uri; content:\"a\"; pkt_data; isdataat:5,relative;", kOfSnort3),
            "http.uri:a pkt_data:.");
}

TEST(RulePlaces, BuffersWithOtherTransformsAreApart) {
  EXPECT_EQ(buffers_of("http.uri; content:\"a\"; http.uri; to_lowercase; content:\"b\";"
                       "http.uri; content:\"c\";"),
            "http.uri:ac http.uri:b");
}

TEST(RulePlaces, EachStickyBufferOfManyValuesIsOneValue) {
  EXPECT_EQ(buffers_of("dns.query; content:\"a\"; content:\"b\"; dns.query; content:\"c\";",
                       draft_of(RuleProtocol::kDns)),
            "dns.query:ab dns.query:c");
}

TEST(RulePlaces, TheFastPatternMovesWithItsContent) {
  const Signature signature =
      signature_of("content:\"long-one\"; content:\"x\"; fast_pattern; http_uri; content:\"y\";");
  ASSERT_TRUE(signature.fast_pattern);
  EXPECT_EQ(signature.buffers[signature.fast_pattern->buffer].buffer, RuleBuffer::kHttpUri);
  EXPECT_EQ(signature.fast_pattern->test, 0);
  EXPECT_EQ(signature.fast_pattern->length, 1);
}

TEST(RulePlaces, TheFastPatternStaysWhenAContentInFrontOfItMoves) {
  std::vector<std::string> flowbits;
  const RuleSetup setup;
  RuleFiles files;
  RuleDraft draft{.setup = setup, .flowbits = flowbits, .files = files};
  ContentMatch content;
  content.bytes = "a";
  add_test(draft, content);
  const auto first = draft.last_content;
  content.bytes = "b";
  add_test(draft, content);
  draft.wanted_fast_pattern = draft.last_content;
  draft.last_content = first;
  move_last_content(draft, RuleBuffer::kHttpUri);
  EXPECT_EQ(draft.wanted_fast_pattern->test, 0u);
  EXPECT_EQ(draft.last_content->buffer, 1u);
  EXPECT_EQ(draft.last_test->test, 0u);
}

}  // namespace
}  // namespace millrace
