// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// acl on the GPU and by rte_acl: the same verdicts, classes and result words.

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <random>

#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/made_data.hpp"
#include "tests/unit/services/functions/acl/acl_random.hpp"
#include "tests/unit/services/functions/acl/acl_traces.hpp"

namespace millrace {
namespace {

using test::compare, test::GpuWorld;

/// `functions`: lines of that section; `path`: the keys of the only one.
std::string topology_of(const std::string& functions, const std::string& path) {
  return R"(
millrace: 1
name: acl
batch: { capacity: 256 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers:
  cpu: { kind: classifier }
  gpu: { kind: gpu, device: cuda }
functions:
)" + functions +
         "paths: { one: { from: [a], slots: 64, " + path + " } }\n";
}

std::string chain_of(const std::string& settings) {
  return topology_of("  first: { type: acl, rules: first.rules, on: gpu" + settings +
                         " }\n"
                         "  way: { type: route, table: routes.txt, on: gpu }\n"
                         "  second: { type: acl, rules: second.rules, on: gpu }\n",
                     "run: [first, way, second]");
}
constexpr const char* kRoutes = "0.0.0.0/0 b 02:00:00:00:00:01\n";

class AclOnGpu : public test::GpuTest {};

TEST_F(AclOnGpu, AgreesWithTheCpuOnRandomRulesAndPackets) {
  std::mt19937 random(23);
  for (const std::size_t count : {1, 31, 400, 1500, 3000}) {
    const char* const settings[] = {"", ", default: drop", ", non_ip: drop"};
    const GpuWorld world(chain_of(settings[count % 3]),
                         {{"first.rules", random_rules(random, count)},
                          {"second.rules", random_rules(random, 50, true)},
                          {"routes.txt", kRoutes}});
    FunctionStages cpu(world.context("cpu.0"));
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    const std::uint32_t batches = test::many(1000);
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
      std::vector<Frame> frames(1 + random() % 256);
      for (Frame& frame : frames) {
        frame = random_acl_frame(random);
        if (random() % 2 == 0) test::mend_checksum(frame);
      }
      compare(world, gpu, cpu, frames, batch);
      if (HasFatalFailure()) return;
    }
  }
}

/// The ingress says by keys what most packets are; a GPU reads the others.
TEST_F(AclOnGpu, AgreesWithTheCpuByKeysOfFlows) {
  const std::string topology = topology_of(
      "  first: { type: acl, rules: first.rules, default: drop, on: gpu }\n"
      "  second: { type: acl, rules: second.rules, on: gpu }\n",
      "run: [first, second]");
  const std::uint32_t batches = test::many(1000);
  std::mt19937 random(29);
  std::size_t keyed = 0, others = 0;
  for (const std::size_t count : {1, 400, 3000, 401}) {
    const bool conditions = count % 400 == 1;  // these ask for frames too
    const GpuWorld world(topology, {{"first.rules", random_rules(random, count, conditions)},
                                    {"second.rules", random_rules(random, 50)}});
    ASSERT_TRUE(world.plan().paths[0].has_keys);
    FunctionStages cpu(world.context("cpu.0"));
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
      std::vector<Frame> frames(1 + random() % 256);
      for (Frame& frame : frames) {
        frame = random_acl_frame(random);
        ++(flow_key_of(frame).protocol != 0 ? keyed : others);
      }
      compare(world, gpu, cpu, frames, batch);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(keyed, 10u * batches);
  EXPECT_GT(others, 10u * batches);
}

TEST_F(AclOnGpu, WhatIsReadOfASlotIsBounded) {
  std::mt19937 random(47);
  const std::string first = "  first: { type: acl, rules: first.rules, on: gpu }\n";
  for (const std::string& topology :
       {topology_of(first, "run: [first]"), chain_of(", default: drop")}) {
    const GpuWorld world(topology, {{"first.rules", random_rules(random, 400)},
                                    {"second.rules", random_rules(random, 50)},
                                    {"routes.txt", kRoutes}});
    FunctionStages cpu(world.context("cpu.0"));
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    std::vector<Frame> frames(256);
    for (Frame& frame : frames) frame = random_acl_frame(random);
    test::expect_nonsense_is_bounded(world, gpu, cpu, frames);
    if (HasFailure()) return;
  }
}

/// A rule set in the form of ClassBench.
struct RuleSet {
  std::string name, text;
  AclTrace trace;
};

std::vector<RuleSet> read_sets(const std::filesystem::path& folder) {
  std::vector<RuleSet> sets;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with("_trace")) continue;
    std::ifstream in(path.substr(0, path.size() - 6));
    sets.push_back({path, {std::istreambuf_iterator<char>(in), {}}, read_acl_trace(path)});
  }
  return sets;
}

std::vector<RuleSet> made_sets() {
  std::mt19937 random(37);
  std::vector<RuleSet> sets;
  for (const auto& [name, kind] : {std::pair{"access", test::MadeAcl::kAccess},
                                   {"firewall", test::MadeAcl::kFirewall},
                                   {"chain", test::MadeAcl::kChain}}) {
    RuleSet set{.name = name, .text = test::made_acl(random, kind, 2000), .trace = {}};
    const AclRuleFile rules = parse_acl_rules(set.text, name, {});
    EXPECT_EQ(rules.refusals.size(), 0u) << rules.refusals[0];
    set.trace = test::made_trace(random, rules.rules, test::many(20'000));
    sets.push_back(std::move(set));
  }
  return sets;
}

class AclTraces : public AclOnGpu {
 protected:
  /// As packets: TCP and UDP get what the trace names.
  void check(const RuleSet& set) {
    const GpuWorld world(chain_of(", method: bits"), {{"first.rules", set.text},
                                                      {"second.rules", "drop gre any -> any\n"},
                                                      {"routes.txt", kRoutes}});
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    std::vector<Frame> frames;
    std::vector<std::uint32_t> expected;
    const auto& [keys, words] = set.trace;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].protocol == 6 || keys[i].protocol == 17) {
        frames.push_back(frame_of(keys[i]));
        expected.push_back(words[i]);
      }
      if (frames.size() < 256 && i + 1 < keys.size()) continue;
      world.fill(0, 0, frames);
      test::submit(world, gpu, 0);
      test::wait_for_one(gpu);
      const std::uint32_t* results = world.segment().gpu_results(0, 0);
      for (std::size_t k = 0; k < frames.size(); ++k) {
        ASSERT_EQ(results[k], expected[k]) << set.name << " " << i;
        if (expected[k] != 0) ++matched_;
      }
      held_ += frames.size();
      frames.clear();
      expected.clear();
    }
  }

  std::size_t held_ = 0, matched_ = 0;
};

/// Those of the folder that MILLRACE_CLASSBENCH names (`x` and `x_trace`), else made ones.
TEST_F(AclTraces, AreGivenTheRulesThatTheyName) {
  const char* const folder = std::getenv("MILLRACE_CLASSBENCH");
  const std::vector<RuleSet> sets = folder == nullptr ? made_sets() : read_sets(folder);
  ASSERT_FALSE(sets.empty()) << folder;
  for (const RuleSet& set : sets) {
    check(set);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(matched_, held_ / 4);
  std::printf("%zu packets of %zu %s traces, %zu of them meet a rule\n", held_, sets.size(),
              folder == nullptr ? "made" : "real", matched_);
}

}  // namespace
}  // namespace millrace
