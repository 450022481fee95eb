// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

TEST(FunctionTable, EveryRowIsFoundByItsTypeAndComplete) {
  std::set<std::string_view> seen;
  for (const FunctionType& row : function_types()) {
    EXPECT_TRUE(seen.insert(row.traits.type).second) << row.traits.type << " stands twice";
    EXPECT_EQ(find_function_type(row.traits.type), &row);
    EXPECT_NE(row.make, nullptr);
    EXPECT_NE(row.check, nullptr);
    EXPECT_EQ(row.build != nullptr, row.traits.has_image) << row.traits.type;
    EXPECT_FALSE(row.traits.summary.empty());
  }
  EXPECT_TRUE(seen.contains("route"));
}

TEST(FunctionTable, ReasonsAreNamedAsTheMetricsWantAndAgreeOnTheirCause) {
  std::map<std::string_view, ReasonCause> causes;
  for (const FunctionType& row : function_types()) {
    for (const DeclaredReason& reason : row.traits.reasons) {
      EXPECT_THAT(std::string(reason.name), testing::MatchesRegex("[a-z][a-z0-9_]*"));
      EXPECT_FALSE(reason.summary.empty()) << reason.name;
      EXPECT_EQ(causes.try_emplace(reason.name, reason.cause).first->second, reason.cause)
          << reason.name << " of " << row.traits.type;
    }
  }
  // Those of the core have their numbers.
  std::erase_if(causes, [](const auto& one) {
    return std::ranges::find(kReasonNames, one.first) != kReasonNames.end();
  });
  EXPECT_LE(causes.size(), kDeclaredReasonCountMax) << "all of them would not fit into one plan";
}

TEST(FunctionTable, AnUnknownTypeIsAnErrorThatListsTheKnownOnes) {
  EXPECT_EQ(find_function_type("rout"), nullptr);
  try {
    function_type("rout");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("'rout'"), testing::HasSubstr("route")));
  }
}

}  // namespace
}  // namespace millrace
