// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_image.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "services/functions/ids/image_fields.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"

namespace millrace {
namespace {

constexpr char kRulesOfImage[] =
    "alert tcp $HOME_NET any -> any 80 (msg:\"one\"; content:\"a|00|b\"; flowbits:set,x; "
    "classtype:own-class; sid:7; rev:3;)\n"
    "drop udp any any -> any any \\\n   (msg:\"two\"; content:\"c\"; detection_filter:track "
    "by_src, "
    "count 3, seconds 9; sid:8;)\n";

TEST(IdsImage, HoldsWhatWasWritten) {
  const MatchFolder folder;
  folder.write("values", "aabbccddeeff00112233445566778899\n");
  IdsRules rules;
  rules.setup = default_rule_setup();
  rules.setup.variables["HOME_NET"] = "10.9.0.0/16";
  rules.setup.classes["own-class"] = {4, "a class"};
  rules.setup.folder = folder.path("");
  read_rules(std::string(kRulesOfImage) +
                 "alert http any any -> any any (http.uri; to_md5; dataset:isset,d,type md5,load "
                 "values; sid:9;)\n",
             "own.rules", rules.setup, rules.rules);
  ASSERT_EQ(rules.rules.signatures.size(), 3u)
      << (rules.rules.refusals.empty() ? "" : rules.rules.refusals[0].line());
  sort_signatures(rules.rules);
  rules.rules.signatures[1].threshold =
      Threshold{.kind = Threshold::Kind::kBoth, .by = TrackBy::kBoth, .count = 5, .seconds = 6};
  rules.suppressions.push_back(
      {1, 8, RuleSuppression::Track::kEither, {false, {{4, Ipv6Bytes{1}, Ipv6Bytes{2}}}}});
  write_ids_image(folder.path("i"), rules, 20);
  std::filesystem::remove(folder.path("values"));  // a worker does not need it

  const IdsImage image(folder.path("i"));
  ASSERT_EQ(image.signatures().size(), 3u);
  for (std::size_t number = 0; number < 3; ++number) {
    const Signature &read = image.signatures()[number], &written = rules.rules.signatures[number];
    EXPECT_EQ(read.sid, written.sid);
    EXPECT_EQ(read.place, written.place);
    EXPECT_EQ(read.text, written.text);
    EXPECT_EQ(read.message, written.message);
    EXPECT_EQ(read.classification, written.classification);
    EXPECT_EQ(read.priority, written.priority);
    EXPECT_EQ(read.buffers.size(), written.buffers.size());
    EXPECT_EQ(read.threshold.has_value(), written.threshold.has_value());
    EXPECT_EQ(read.detection_filter.has_value(), written.detection_filter.has_value());
    EXPECT_EQ(read.source.ranges.size(), written.source.ranges.size());
  }
  EXPECT_EQ(image.signatures()[0].sid, 8u);
  EXPECT_EQ(image.signatures()[0].place, "own.rules:2");
  EXPECT_EQ(image.signatures()[0].detection_filter->seconds, 9u);
  EXPECT_EQ(image.signatures()[1].threshold->kind, Threshold::Kind::kBoth);
  EXPECT_EQ(image.signatures()[1].threshold->seconds, 6u);
  ASSERT_EQ(image.suppressions().size(), 1u);
  EXPECT_EQ(image.suppressions()[0].track, RuleSuppression::Track::kEither);
  EXPECT_TRUE(image.suppressions()[0].addresses.contains(4, Ipv6Bytes{1}));
  EXPECT_FALSE(image.suppressions()[0].addresses.contains(4, Ipv6Bytes{3}));
  EXPECT_NE(image.flowbit_names(), 0u);
}

TEST(IdsImage, NamesOfFlowbitsTellRuleSetsApart) {
  const MatchFolder folder;
  const auto names_of = [&](const std::string& text) {
    IdsRules rules;
    rules.setup = default_rule_setup();
    read_rules(text, "own.rules", rules.setup, rules.rules);
    write_ids_image(folder.path("i"), rules, 20);
    return IdsImage(folder.path("i")).flowbit_names();
  };
  const std::string head = "alert tcp any any -> any 80 (content:\"a\"; flowbits:set,";
  EXPECT_EQ(names_of(head + "x; sid:1;)"), names_of(head + "x; sid:2;)"));
  EXPECT_NE(names_of(head + "x; sid:1;)"), names_of(head + "y; sid:1;)"));
}

TEST(ImageFields, DoNotReadBehindTheEnd) {
  FieldWriter writer;
  writer.put<std::uint32_t>(7);
  writer.put_text("text");
  FieldReader reader(writer.bytes());
  EXPECT_EQ(reader.take<std::uint32_t>(), 7u);
  EXPECT_EQ(reader.take_text(), "text");
  EXPECT_THROW(reader.take<std::uint8_t>(), Error);
  FieldReader cut(writer.bytes().first(writer.bytes().size() - 1));
  cut.take<std::uint32_t>();
  EXPECT_THROW(cut.take_text(), Error);
}

}  // namespace
}  // namespace millrace
