// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/signature_counts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "services/functions/image_file.hpp"
#include "tests/unit/services/telemetry/fake_nvml.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::samples;
using test::WatchedTopology;

class SignatureCountsTest : public ::testing::Test {
 protected:
  SignatureCountsTest() : watched_(plan()) {}
  Plan plan() const {
    Plan plan = test::small_plan();
    plan.functions[1].image = image(1);
    return plan;
  }
  std::string image(int edition) const { return folder_.path(std::to_string(edition) + ".image"); }
  void put_names(int edition, const std::vector<std::uint32_t>& sids,
                 const std::string& message = "m") const {
    std::vector<Signature> all(sids.size());
    for (std::size_t i = 0; i < sids.size(); ++i) {
      all[i].sid = sids[i];
      all[i].message = message + std::to_string(sids[i]);
    }
    write_signature_names(names_beside_image(image(edition)), all);
  }
  void switch_to(int edition) {
    watched_.plan.functions[1].image = image(edition);
    watched_.plan.functions[1].edition = static_cast<std::uint32_t>(edition);
  }
  void hit(std::uint32_t number, std::uint64_t times, std::uint32_t actor = 3) const {
    const std::uint32_t first = function_counter_first(watched_.plan, 1);
    watched_.status.function_counters(actor, first + number, 1)[0] += times;
  }
  std::map<std::string, double> found() {
    Families families;
    counts_.add(watched_.source(), families);
    return samples(families.take());
  }
  static std::string series(std::uint32_t sid, const std::string& message) {
    return "millrace_signature_hits_total{function=ids,gid=1,sid=" + std::to_string(sid) +
           ",severity=3,signature=" + message + "}";
  }

  test::TestFolder folder_;
  WatchedTopology watched_;
  SignatureCounts counts_;
};

using Found = std::map<std::string, double>;

TEST_F(SignatureCountsTest, SignaturesThatWereHitHaveASeries) {
  EXPECT_TRUE(found().empty()) << "no names";
  put_names(1, {70, 71, 72});
  EXPECT_TRUE(found().empty()) << "no hits";
  hit(1, 5);
  hit(1, 2, 4);
  hit(99, 3);  // a counter of no signature
  EXPECT_EQ(found(), (Found{{series(71, "m71"), 7}}));
}

TEST_F(SignatureCountsTest, CountsGoOnOverReloads) {
  put_names(1, {70, 71});
  hit(0, 5);
  hit(1, 7);
  EXPECT_EQ(found(), (Found{{series(70, "m70"), 5}, {series(71, "m71"), 7}}));
  put_names(2, {69, 70});
  switch_to(2);
  EXPECT_EQ(found().at(series(70, "m70")), 5);
  hit(0, 1);
  hit(1, 10);
  EXPECT_EQ(found(), (Found{{series(69, "m69"), 1},
                            {series(70, "m70"), 15},
                            {"millrace_signature_hits_total{function=ids,gid=1,sid=71,severity=,"
                             "signature=}",
                             7}}));
}

TEST_F(SignatureCountsTest, OneThatBeginsBehindAReloadCountsFromThere) {
  hit(0, 5);
  put_names(2, {70});
  switch_to(2);
  EXPECT_TRUE(found().empty());
  hit(0, 2);
  EXPECT_EQ(found(), (Found{{series(70, "m70"), 2}}));
}

TEST_F(SignatureCountsTest, SeriesAreBounded) {
  std::vector<std::uint32_t> sids;
  for (std::uint32_t sid = 0; sid < 100; ++sid) sids.push_back(1000 + sid);
  double all = 0;
  for (int edition = 1; edition < 5; ++edition) {
    for (std::uint32_t& sid : sids) sid -= 100;
    put_names(edition, sids);
    switch_to(edition);
    found();
    for (std::uint32_t number = 0; number < 100; ++number) hit(number, 1);
    all += 100;
    const Found now = found();
    EXPECT_EQ(now.size(), std::min<std::size_t>(100u * static_cast<unsigned>(edition),
                                                SignatureCounts::kSeriesMax + 1));
    double sum = 0;
    for (const auto& [name, value] : now) sum += value;
    EXPECT_EQ(sum, all);
  }
  EXPECT_EQ(found().at("millrace_signature_hits_total{function=ids,gid=,sid=,severity=,"
                       "signature=others}"),
            400 - static_cast<double>(SignatureCounts::kSeriesMax));
}

TEST_F(SignatureCountsTest, ALabelIsTextWhateverTheRuleHolds) {
  put_names(1, {70}, "\xff\n\"");
  hit(0, 1);
  EXPECT_EQ(found(), (Found{{series(70, "??\"70"), 1}}));
}

TEST_F(SignatureCountsTest, AFileThatIsNoneChangesNothing) {
  put_names(1, {70});
  hit(0, 1);
  found();
  write_signature_names(image(2), {});
  switch_to(2);
  EXPECT_EQ(found(), (Found{{series(70, "m70"), 1}})) << "no names beside it";
}

}  // namespace
}  // namespace millrace
