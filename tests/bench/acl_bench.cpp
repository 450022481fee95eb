// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// acl_bench RULES TRACE [THREADS]: a rule set and a trace, of ClassBench for instance, on rte_acl
// and on the bit vectors. Millions of look-ups a second of one and of THREADS threads (all
// processors), each over the whole trace in an order of its own; every word is compared with the
// trace's, once before.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "services/functions/acl/acl_bits_build.hpp"
#include "tests/bench/acl_rate.hpp"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;
using acl_rate::LookUp;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint64_t wrong_words(const AclTrace& trace, const LookUp& look_up) {
  std::uint64_t wrong = 0;
  std::uint32_t words[kAclKeysMax];
  for (std::size_t i = 0; i < trace.keys.size(); i += kAclKeysMax) {
    const std::size_t count = std::min(kAclKeysMax, trace.keys.size() - i);
    look_up(std::span(trace.keys).subspan(i, count), words);
    for (std::size_t k = 0; k < count; ++k) wrong += words[k] != trace.words[i + k] ? 1 : 0;
  }
  return wrong;
}

std::uint64_t megabytes_of(const AclBitsSet& set) {
  return ((set.ipv4.vectors.size() + set.ipv4.summaries.size() + set.ipv4.transport.size()) * 4) >>
         20;
}

void measure(const char* name, const AclTrace& trace, const LookUp& look_up, unsigned threads) {
  const std::uint64_t wrong = wrong_words(trace, look_up);
  for (const std::size_t at_once : {std::size_t{16}, kAclKeysMax}) {
    std::printf("%-8s %2zu at once  1 thread %8.1f M/s", name, at_once,
                acl_rate::rate(trace, look_up, 1, at_once));
    if (threads > 1) {
      std::printf("  %u threads %8.1f M/s", threads,
                  acl_rate::rate(trace, look_up, threads, at_once));
    }
    std::printf("  wrong %llu of %zu\n", static_cast<unsigned long long>(wrong), trace.keys.size());
  }
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "acl_bench RULES TRACE [THREADS]\n");
    return 2;
  }
  const std::vector<AclRule> rules = plain_rules(read_acl_rules(argv[1]));
  const AclTrace trace = read_acl_trace(argv[2]);
  unsigned threads = std::thread::hardware_concurrency();
  if (argc > 3) {
    const std::string_view given = argv[3];
    std::from_chars(given.data(), given.data() + given.size(), threads);
  }
  if (rules.empty() || trace.keys.empty()) {
    std::fprintf(stderr, "no rules, or no trace\n");
    return 1;
  }
  std::printf("%s: %zu rules, %zu look-ups\n", argv[1], rules.size(), trace.keys.size());
  auto start = Clock::now();
  const AclSearch search(rules);
  std::printf("rte_acl  built in %.2f s\n", seconds_since(start));
  start = Clock::now();
  std::string why;
  const auto set = build_acl_bits(rules, why);
  std::printf("bits     built in %.2f s%s%s\n", seconds_since(start), set ? "" : ": ", why.c_str());
  measure(
      "rte_acl", trace, [&](auto keys, auto words) { search.look_up(keys, words); }, threads);
  if (!set) return 0;
  std::printf("bits     %llu MB, %u vectors, %zu + %zu intervals, %zu transport classes\n",
              static_cast<unsigned long long>(megabytes_of(*set)), set->ipv4.vector_count,
              set->ipv4.source.starts.size(), set->ipv4.destination.starts.size(),
              set->ipv4.transport.size());
  const AclBitsTable bits{set->ipv4.view(), set->ipv6.view()};
  measure(
      "bits", trace,
      [&](auto keys, auto words) {
        for (std::size_t i = 0; i < keys.size(); ++i) words[i] = bits.look_up(keys[i]);
      },
      threads);
  return 0;
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) { return millrace::run(argc, argv); }
