// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// acl on the GPU and by rte_acl: the same verdicts, classes and result words.

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <random>

#include "tests/gpu/gpu_test.hpp"
#include "tests/unit/services/functions/acl/acl_random.hpp"
#include "tests/unit/services/functions/acl/acl_traces.hpp"

namespace millrace {
namespace {

using test::GpuWorld;

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

class AclOnGpu : public test::GpuTest {
 protected:
  static void compare(const GpuWorld& world, Device& gpu, StageWork& cpu,
                      const std::vector<Frame>& frames, std::uint32_t serial) {
    const auto [there, here, words] = test::run_both_ways(world, gpu, cpu, frames);
    for (std::uint32_t i = 0; i < frames.size(); ++i) {
      ASSERT_EQ(words[i], here.results(0)[i]) << "batch " << serial << " packet " << i;
    }
    for (std::uint32_t i = 0; i < frames.size(); ++i) {
      ASSERT_EQ(there.verdict[i], here.verdict[i]) << "batch " << serial << " packet " << i;
      ASSERT_EQ(there.reason[i], here.reason[i]) << "batch " << serial << " packet " << i;
      ASSERT_EQ(there.output[i], here.output[i]) << "batch " << serial << " packet " << i;
    }
  }
};

TEST_F(AclOnGpu, AgreesWithTheCpuOnRandomRulesAndPackets) {
  std::mt19937 random(23);
  for (const std::size_t count : {1, 31, 400, 1500, 3000}) {
    const char* const settings[] = {"", ", default: drop", ", non_ip: drop"};
    const GpuWorld world(chain_of(settings[count % 3]),
                         {{"first.rules", random_rules(random, count)},
                          {"second.rules", random_rules(random, 50)},
                          {"routes.txt", kRoutes}});
    FunctionStages cpu(world.context("cpu.0"));
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    for (std::uint32_t batch = 0; batch < 1000; ++batch) {
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

/// With several lanes the ingress says by keys what most packets are; a GPU reads the others.
TEST_F(AclOnGpu, AgreesWithTheCpuByKeysOfFlows) {
  const std::string topology = topology_of(
      "  first: { type: acl, rules: first.rules, default: drop, on: gpu }\n"
      "  second: { type: acl, rules: second.rules, on: gpu }\n",
      "run: [first, second], lanes: 8");
  const char* const given = std::getenv("MILLRACE_GPU_BATCHES");
  const auto batches =
      static_cast<std::uint32_t>(given == nullptr ? 1000 : std::strtoul(given, nullptr, 10));
  std::mt19937 random(29);
  std::size_t keyed = 0, others = 0;
  for (const std::size_t count : {1, 400, 3000}) {
    const GpuWorld world(topology, {{"first.rules", random_rules(random, count)},
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

/// A rule set of ClassBench and its trace, as packets: TCP and UDP get what the trace names.
TEST_F(AclOnGpu, GivesTheRulesThatATraceNames) {
  const char* const folder = std::getenv("MILLRACE_CLASSBENCH");
  if (folder == nullptr) GTEST_SKIP() << "MILLRACE_CLASSBENCH names a folder of rules and traces";
  std::size_t sets = 0, held = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string trace_path = entry.path().string();
    if (!trace_path.ends_with("_trace")) continue;
    std::ifstream in(trace_path.substr(0, trace_path.size() - 6));
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const AclTrace trace = read_acl_trace(trace_path);
    const GpuWorld world(chain_of(", method: bits"), {{"first.rules", text},
                                                      {"second.rules", "drop gre any -> any\n"},
                                                      {"routes.txt", kRoutes}});
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    std::vector<Frame> frames;
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < trace.keys.size(); ++i) {
      if (trace.keys[i].protocol == 6 || trace.keys[i].protocol == 17) {
        frames.push_back(frame_of(trace.keys[i]));
        expected.push_back(trace.words[i]);
      }
      if (frames.size() < 256 && i + 1 < trace.keys.size()) continue;
      world.fill(0, 0, frames);
      test::submit(world, gpu, 0);
      test::wait_for_one(gpu);
      const std::uint32_t* results = world.segment().gpu_results(0, 0);
      for (std::size_t k = 0; k < frames.size(); ++k) {
        ASSERT_EQ(results[k], expected[k]) << trace_path << " " << i;
      }
      held += frames.size();
      frames.clear();
      expected.clear();
    }
    ++sets;
  }
  EXPECT_GT(sets, 0u);
  std::printf("%zu packets of %zu traces\n", held, sets);
}

}  // namespace
}  // namespace millrace
