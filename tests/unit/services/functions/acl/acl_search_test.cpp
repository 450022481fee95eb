// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "services/functions/acl/acl_bits_build.hpp"
#include "tests/places.hpp"
#include "tests/unit/services/functions/acl/acl_folder.hpp"
#include "tests/unit/services/functions/acl/acl_oracle.hpp"
#include "tests/unit/services/functions/acl/acl_random.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint32_t> words_of(const AclSearch& search, std::span<const AclKey> keys) {
  std::vector<std::uint32_t> words(keys.size(), 12345);
  for (std::size_t i = 0; i < keys.size(); i += kAclKeysMax) {
    const std::size_t count = std::min(kAclKeysMax, keys.size() - i);
    search.look_up(keys.subspan(i, count), std::span(words).subspan(i, count));
  }
  return words;
}

std::vector<std::uint32_t> words_of(const AclBitsSet& set, std::span<const AclKey> keys) {
  const AclBitsTable bits{set.ipv4.view(), set.ipv6.view()};
  std::vector<std::uint32_t> words;
  words.reserve(keys.size());
  for (const AclKey& key : keys) words.push_back(bits.look_up(key));
  return words;
}

/// By both methods; `seen` receives what was found.
void compare_with_the_oracle(std::mt19937& random, std::size_t count, bool conditions,
                             std::set<std::uint32_t>& seen, std::size_t& found,
                             std::size_t& compared) {
  const auto file = parse_acl_rules(random_rules(random, count, conditions), "r", {});
  ASSERT_EQ(file.rules.size(), count) << testing::PrintToString(file.refusals);
  const std::vector<AclRule> rules = plain_rules(file.rules);
  const AclSearch search(rules);
  std::string why;
  const auto set = build_acl_bits(rules, why);
  ASSERT_TRUE(set) << why;
  std::vector<AclKey> keys(4000);
  for (AclKey& key : keys) key = random_key(random);
  const auto by_tries = words_of(search, keys), by_bits = words_of(*set, keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint32_t expected = oracle::acl_word(oracle::acl_packet(keys[i]), file.rules);
    ASSERT_EQ(by_tries[i], expected) << count << " rules, key " << i;
    ASSERT_EQ(by_bits[i], expected) << count << " rules, key " << i;
    found += expected != 0;
    seen.insert(expected);
    ++compared;
  }
}

TEST(AclSearch, AndTheBitVectorsAgreeWithTryingEveryRuleInTurn) {
  std::mt19937 random(5);
  std::size_t found = 0, compared = 0;
  std::set<std::uint32_t> seen;
  for (const std::size_t count : {0, 1, 2, 7, 31, 32, 33, 100, 1023, 1025, 2500}) {
    compare_with_the_oracle(random, count, false, seen, found, compared);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(found, compared / 4);
  EXPECT_LT(found, compared) << "some match none";
  EXPECT_GT(seen.size(), 50u);
}

TEST(AclSearch, AndTheBitVectorsAgreeWithItOnRulesWithConditions) {
  std::mt19937 random(7);
  std::size_t found = 0, compared = 0;
  std::set<std::uint32_t> seen;
  for (const std::size_t count : {1, 5, 33, 100, 300}) {
    compare_with_the_oracle(random, count, true, seen, found, compared);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(found, compared / 4);
  EXPECT_LT(found, compared) << "some match none";
  EXPECT_GT(seen.size(), 50u);
}

TEST(AclSearch, SeveralTablesOfAProcessDoNotDisturbEachOther) {
  const auto one = plain_rules(parse_acl_rules("drop tcp any -> any port 80", "a", {}).rules);
  const auto other = plain_rules(parse_acl_rules("drop tcp any -> any port 81", "b", {}).rules);
  const AclSearch first(one);
  {
    const AclSearch second(other);
    EXPECT_EQ(words_of(second, std::vector{acl_key(1, 2, 3, 81, 6)}), std::vector{1u});
    EXPECT_EQ(words_of(first, std::vector{acl_key(1, 2, 3, 81, 6)}), std::vector{0u});
  }
  EXPECT_EQ(words_of(first, std::vector{acl_key(1, 2, 3, 80, 6)}), std::vector{1u});
}

TEST(AclSearch, KindsOfKeysMayStandMixedInOneCall) {
  const auto rules = plain_rules(parse_acl_rules("drop tcp any -> any port 80\n"
                                                 "drop ip6 any -> any\n"
                                                 "drop tcp any -> any\n",
                                                 "a", {})
                                     .rules);
  const AclSearch search(rules);
  AclKey ipv4 = acl_key(1, 2, 3, 80, 6), later = acl_key(1, 2, 0, 0, 6), ipv6 = ipv4;
  later.has_ports = 0;
  ipv6.version = 6;
  AclKey ipv6_later = later;
  ipv6_later.version = 6;
  EXPECT_EQ(words_of(search, std::vector{later, ipv6, ipv4, ipv6_later, later, ipv4}),
            (std::vector<std::uint32_t>{3, 1, 1, 2, 3, 1}));
}

/// ClassBench's rule sets with their traces, where ../shared is.
class AclClassBench : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path archive = test::shared_folder() / "data/classbench.tar.xz";
    if (!fs::exists(archive)) GTEST_SKIP() << archive << " is not there: 15 traces are not held";
    const std::string command = "tar -xJf " + archive.string() + " -C " + folder_.path("");
    ASSERT_EQ(std::system(command.c_str()), 0);
    for (const auto& entry : fs::directory_iterator(folder_.path("classbench"))) {
      const std::string path = entry.path().string();
      if (path.ends_with("_trace")) sets_.push_back(path.substr(0, path.size() - 6));
    }
    ASSERT_EQ(sets_.size(), 15u);
  }

  AclFolder folder_;
  std::vector<std::string> sets_;
};

TEST_F(AclClassBench, EveryTraceGetsTheRulesThatItNames) {
  for (const std::string& path : sets_) {
    const std::vector<AclNamedRule> named = read_acl_rules(path);
    const AclTrace trace = read_acl_trace(path + "_trace");
    ASSERT_GE(named.size(), 500u) << path;
    ASSERT_GE(trace.keys.size(), 10000u) << path;
    const std::vector<AclRule> rules = plain_rules(named);
    std::string why;
    const auto set = build_acl_bits(rules, why);
    ASSERT_TRUE(set) << path << ": " << why;
    EXPECT_TRUE(words_of(*set, trace.keys) == trace.words) << path;
    // Large sets take rte_acl seconds each: one is enough.
    if (named.size() > 2000 && !path.ends_with("acl1_10k")) continue;
    EXPECT_TRUE(words_of(AclSearch(rules), trace.keys) == trace.words) << path;
  }
}

}  // namespace
}  // namespace millrace
