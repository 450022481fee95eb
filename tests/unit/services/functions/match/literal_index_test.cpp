// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/literal_index.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "services/functions/match/image.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/services/functions/match/match_oracle.hpp"

namespace millrace {
namespace {

/// A payload with what may stand behind it.
struct Text {
  const std::string* bytes;
  std::uint32_t word(std::uint32_t at) const {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes->data() + at, sizeof word);
    return word;
  }
};

/// Every place, as the threads of a GPU look: the number of the strongest rule, or that of rules.
std::uint32_t search(const LiteralIndex& index, const std::string& payload, std::size_t begin) {
  const std::string padded = payload + "abcdefgh";
  const Text text{&padded};
  const Payload part{static_cast<std::uint32_t>(begin),
                     static_cast<std::uint32_t>(payload.size()),
                     17,
                     {5000, 53}};
  std::uint32_t best = index.counts.rules;
  const auto look = [&](const LiteralEntry* entries, const std::uint32_t* bounds,
                        std::uint32_t anchor, std::uint32_t at) {
    for (std::uint32_t i = bounds[0]; i < bounds[1]; ++i) {
      best = stronger_of(index, entries[i], anchor, text, part, at, best);
    }
  };
  for (std::uint32_t at = part.begin; at < part.end; ++at) {
    const std::uint32_t window = fold_case(text.word(at));
    if (filter_has(index.filter, window) && part.end - at >= kAnchorBytes) {
      look(index.entries, index.buckets + anchor_hash(window, index.counts.bucket_bits), window,
           at);
    }
    if (index.counts.short_entries != 0) {
      const std::uint32_t pair = window & kPairMask;
      look(index.short_entries, index.pairs + pair, pair, at);
    }
  }
  return best;
}

std::string letters(std::mt19937& random, std::size_t length) {
  std::string text(length, ' ');
  for (char& letter : text) letter = "abcABC\xff"[random() % 7];
  return text;
}

std::vector<MatchRule> random_rules(std::mt19937& random) {
  std::vector<MatchRule> rules(1 + random() % 40);
  const std::size_t shortest = 1 + random() % 5;
  for (MatchRule& rule : rules) {
    rule.nocase = random() % 2 == 0;
    rule.action = static_cast<MatchAction>(random() % 3);
    rule.protocol = std::array<std::uint8_t, 3>{0, 17, 6}[random() % 3];
    rule.port = std::array<std::uint16_t, 4>{0, 0, 53, 80}[random() % 4];
    rule.name = "r";
    rule.literal = letters(random, shortest + random() % 9);
  }
  return oracle::by_strength(rules);
}

TEST(LiteralIndex, FindsWhatASearchOfEveryPlaceFinds) {
  std::mt19937 random(3);
  std::uint64_t found = 0, empty = 0;
  for (int set = 0; set < 300; ++set) {
    const std::vector<MatchRule> rules = random_rules(random);
    const LiteralTables tables = index_literals(rules);
    for (int i = 0; i < 60; ++i) {
      const std::string payload = letters(random, 1 + random() % 30);
      const std::size_t begin = random() % payload.size();
      std::uint32_t wanted = 0;
      while (wanted < rules.size()) {
        const MatchRule& rule = rules[wanted];
        const bool applies =
            (rule.protocol == 0 || rule.protocol == 17) && (rule.port == 0 || rule.port == 53);
        if (applies && oracle::contains(payload.substr(begin), rule.literal, rule.nocase)) break;
        ++wanted;
      }
      ASSERT_EQ(search(tables.view(), payload, begin), wanted) << "set " << set;
      ++(wanted == rules.size() ? empty : found);
    }
  }
  EXPECT_GT(found, 3'000u);
  EXPECT_GT(empty, 1'000u);
}

TEST(LiteralIndex, FoldsLettersAndNothingElse) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool capital = byte >= 'A' && byte <= 'Z';
    const unsigned folded = capital ? byte + 32 : byte;
    EXPECT_EQ(fold_case(byte * 0x01010101), folded * 0x01010101) << byte;
  }
}

TEST(LiteralIndex, LongLiteralsHaveTheirRarestBytesAsAnchor) {
  MatchRule rule;
  rule.name = "r";
  rule.literal = "the internet \x80\x81\x82\x83 the internet";
  const LiteralTables tables = index_literals(std::vector<MatchRule>{rule});
  ASSERT_EQ(tables.entries.size(), 1u);
  EXPECT_EQ(tables.entries[0].anchor, 0x83828180u);
  EXPECT_EQ(tables.entries[0].anchor_at, 13u);
}

TEST(LiteralIndex, ComesBackFromTheImage) {
  const MatchFolder folder;
  std::mt19937 random(4);
  const std::vector<MatchRule> rules = random_rules(random);
  ASSERT_TRUE(write_match_image(folder.path("i"), rules).empty());
  const MatchImage image(folder.path("i"));
  const LiteralTables tables = index_literals(rules);
  EXPECT_EQ(image.index().counts.entries, tables.counts.entries);
  EXPECT_EQ(image.index().counts.drop_rules, tables.counts.drop_rules);
  for (int i = 0; i < 200; ++i) {
    const std::string payload = letters(random, 1 + random() % 60);
    EXPECT_EQ(search(image.index(), payload, 0), search(tables.view(), payload, 0));
  }
}

}  // namespace
}  // namespace millrace
