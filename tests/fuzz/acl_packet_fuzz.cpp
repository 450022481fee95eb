// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a packet: acl says by both methods what trying every rule in turn says.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "services/functions/acl/acl.hpp"
#include "shared/base/check.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/acl/acl_folder.hpp"
#include "tests/unit/services/functions/acl/acl_oracle.hpp"

namespace {

constexpr char kRules[] =
    "pass ip any -> any fragment later dscp ef\n"
    "drop icmp any -> any icmp unreachable/4\n"
    "pass icmp6 any -> any icmp 128 vlan 0-100\n"
    "alert ip any -> 0.0.0.0/2 vlan 100-4095\n"
    "drop tcp 10.0.0.0/8 -> any port 80 flags S/SA\n"
    "pass udp any -> 192.0.2.0/24 port 53\n"
    "alert sctp any port 1-1000 -> any\n"
    "drop icmp6 any -> any\n"
    "drop tcp 2000::/3 -> any port 1024-65535\n"
    "alert 0x00/0x01 any -> 0.0.0.0/1\n"
    "drop ip6 any -> ::/1\n";

/// Built once; an input takes microseconds.
struct Filter {
  millrace::AclFolder folder;
  millrace::PlanFunction tries = folder.plan(kRules, {{"method", "tries"}});
  millrace::PlanFunction bits = folder.plan(kRules, {{"method", "bits"}});
  millrace::BuildReport report = millrace::build(tries);
  std::unique_ptr<millrace::Function> one = millrace::make(tries), other = millrace::make(bits);
  std::vector<millrace::AclNamedRule> rules = millrace::parse_acl_rules(kRules, "a", {}).rules;
  millrace::BatchArena arena{1, 8192};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Filter filter;
  size = std::min<size_t>(size, filter.arena.room());
  filter.arena.clear();
  filter.arena.add(std::as_bytes(std::span(data, size)));
  const millrace::Batch batch = filter.arena.batch();
  const std::vector<std::uint16_t> one = {0};
  filter.one->compute(batch, {one}, batch.results(0));
  filter.other->compute(batch, {one}, batch.results(1));
  MILLRACE_CHECK(filter.report.accepted == filter.rules.size());
  const std::uint32_t expected = millrace::oracle::acl_word(
      millrace::oracle::acl_packet(std::span<const std::byte>(batch.bytes(0))), filter.rules);
  MILLRACE_CHECK(batch.results(0)[0] == expected && batch.results(1)[0] == expected);
  return 0;
}
