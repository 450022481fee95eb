// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/vectorscan.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

/// Number of a literal and where it ends.
using Ends = std::vector<std::pair<unsigned, unsigned long long>>;

int note_end(unsigned number, unsigned long long, unsigned long long end, unsigned, void* context) {
  static_cast<Ends*>(context)->emplace_back(number, end);
  return 0;
}

Ends ends_in(const hs_database_t* database, std::string_view text) {
  HsScratch scratch;
  grow_scratch(scratch, database);
  Ends ends;
  scan_text(database, std::as_bytes(std::span{text}), scratch.get(), note_end, &ends);
  return ends;
}

const std::vector<HsLiteral> kLiterals{{.bytes = "abc", .nocase = false, .number = 7},
                                       {.bytes = "xy", .nocase = true, .number = 3}};

TEST(Vectorscan, EachPlaceOrTheFirstOneOfALiteralIsReported) {
  HsRefusal refusal;
  const HsDatabase each = compile_literals(kLiterals, MatchPlaces::kEach, refusal);
  ASSERT_EQ(refusal.reason, "");
  EXPECT_EQ(ends_in(each.get(), "-abc-Xy-abc-ABC"), (Ends{{7, 4}, {3, 7}, {7, 11}}));
  const HsDatabase one = compile_literals(kLiterals, MatchPlaces::kOne, refusal);
  EXPECT_EQ(ends_in(one.get(), "-abc-Xy-abc-ABC"), (Ends{{7, 4}, {3, 7}}));
}

TEST(Vectorscan, ADatabaseIsTheSameBehindItsBytes) {
  HsRefusal refusal;
  const HsDatabase made = compile_literals(kLiterals, MatchPlaces::kEach, refusal);
  const HsDatabase read = deserialize_database(serialize_database(made.get()));
  EXPECT_EQ(ends_in(read.get(), "abcxy"), (Ends{{7, 3}, {3, 5}}));
}

TEST(Vectorscan, WithoutLiteralsThereIsNoDatabase) {
  HsRefusal refusal;
  EXPECT_EQ(compile_literals({}, MatchPlaces::kEach, refusal), nullptr);
  EXPECT_EQ(refusal.reason, "");
  EXPECT_TRUE(serialize_database(nullptr).empty());
  EXPECT_EQ(deserialize_database({}), nullptr);
  HsScratch scratch;
  grow_scratch(scratch, nullptr);
  EXPECT_EQ(scratch, nullptr);
}

TEST(Vectorscan, ALiteralThatIsTooLongIsRefusedByItsPlace) {
  std::vector<HsLiteral> literals = kLiterals;
  literals.push_back({.bytes = std::string(100'000, 'a'), .nocase = false, .number = 9});
  HsRefusal refusal;
  EXPECT_EQ(compile_literals(literals, MatchPlaces::kEach, refusal), nullptr);
  EXPECT_EQ(refusal.literal, 2);
  EXPECT_NE(refusal.reason, "");
}

TEST(Vectorscan, BytesThatAreNoDatabaseAreRefused) {
  HsRefusal refusal;
  const HsDatabase made = compile_literals(kLiterals, MatchPlaces::kEach, refusal);
  std::vector<std::byte> bytes = serialize_database(made.get());
  bytes[0] ^= std::byte{1};
  EXPECT_NE(test::error_of([&] { deserialize_database(bytes); }).find("build the table again"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace
