// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a packet: match says what comparing every literal at every place says.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "services/functions/match/match.hpp"
#include "shared/base/check.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/services/functions/match/match_oracle.hpp"

namespace {

constexpr char kRules[] =
    "drop \"GET\" nocase port 80\n"
    "drop \"|00 00|\" proto udp\n"
    "class c \"|ff|\" proto tcp\n"
    "class c \"a\" nocase\n"
    "alert \"bc\" port 53\n"
    "alert \"|01|\"\n";

/// Built once; an input takes microseconds.
struct Matcher {
  millrace::MatchFolder folder;
  millrace::PlanFunction plan = folder.plan(kRules, {"c"}, 1);
  millrace::BuildReport report = millrace::build(plan);
  std::unique_ptr<millrace::Function> function = millrace::make(plan);
  std::vector<millrace::MatchRule> rules = millrace::oracle::by_strength(
      millrace::parse_match_rules(kRules, "m", std::vector<millrace::MatchClass>{{"c", 1}}).rules);
  millrace::BatchArena arena{1, 8192};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Matcher matcher;
  size = std::min<size_t>(size, matcher.arena.room());
  matcher.arena.clear();
  matcher.arena.add(std::as_bytes(std::span(data, size)));
  const millrace::Batch batch = matcher.arena.batch();
  const std::vector<std::uint16_t> one = {0};
  matcher.function->compute(batch, {one}, batch.results(0));
  MILLRACE_CHECK(matcher.report.accepted == matcher.rules.size());
  MILLRACE_CHECK(batch.results(0)[0] ==
                 millrace::oracle::match_word(batch.bytes(0), matcher.rules));
  return 0;
}
