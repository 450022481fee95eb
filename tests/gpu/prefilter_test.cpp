// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// `prefilter` on a GPU leaves the hint that it leaves on a CPU.

#include <random>
#include <string>

#include "shared/layout/payload_hint.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace millrace {
namespace {

using test::GpuWorld;

constexpr const char* kFront = R"(
millrace: 1
name: front
batch: { capacity: 256 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers:
  cpu: { kind: classifier }
  gpu: { kind: gpu, device: cuda }
functions:
  look: { type: prefilter, rules: own.rules, on: gpu }
paths:
  one: { from: [a], to: b, run: [look], slots: 64 }
)";

class PrefilterOnGpu : public test::GpuTest {};

std::string few_letters(std::mt19937& random, std::size_t bytes) {
  std::string text(bytes, 'a');
  for (char& letter : text) letter = "abcdABCD"[random() % 8];
  return text;
}

/// Literals of few letters, of all lengths; for any port, or for some.
std::string rules_of_few_letters(std::mt19937& random) {
  constexpr const char* kProtocols[] = {"tcp", "udp", "ip"};
  constexpr const char* kPorts[] = {"any", "80", "[53,80:90]", "!80"};
  std::string rules;
  for (std::size_t i = 1; i <= 2 + random() % 60; ++i) {
    const std::size_t bytes = 2 + random() % (random() % 4 == 0 ? 90 : 8);
    rules += std::string("alert ") + kProtocols[random() % 3] + " any any -> any " +
             kPorts[random() % 4] + " (content:\"" + few_letters(random, bytes) + "\"; " +
             (random() % 2 == 0 ? "nocase; " : "") + "sid:" + std::to_string(i) + ";)\n";
  }
  return rules;
}

Frame packet_of_few_letters(std::mt19937& random) {
  if (random() % 8 == 0) return random_frame(random);
  const std::string text = few_letters(random, random() % (random() % 8 == 0 ? 1400 : 40));
  const auto bytes = static_cast<unsigned>(text.size());
  FrameBuilder builder;
  const bool tcp = random() % 2 == 0;
  builder.ipv4(tcp ? 6 : 17, (tcp ? 20 : 8) + bytes);
  const unsigned port = random() % 2 == 0 ? 80 : static_cast<unsigned>(random() % 100);
  Frame frame =
      (tcp ? builder.tcp(5, 40'000, port) : builder.udp(bytes, 40'000, port)).text(text).build();
  if (random() % 16 == 0) frame.resize(random() % frame.size());
  return frame;
}

TEST_F(PrefilterOnGpu, LeavesTheHintOfACpu) {
  std::mt19937 random(19);
  std::uint32_t clean = 0, packets = 0;
  for (std::uint32_t set = 0; set < test::many(40); ++set) {
    const GpuWorld world(kFront, {{"own.rules", rules_of_few_letters(random)}});
    FunctionStages cpu(world.context("cpu.0"));
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    for (std::uint32_t batch = 0; batch < 100; ++batch) {
      std::vector<Frame> frames(1 + random() % 256);
      for (Frame& frame : frames) frame = packet_of_few_letters(random);
      const test::BothWays both = test::run_both_ways(world, gpu, cpu, frames);
      test::compare_words(both, 1, batch);
      if (HasFatalFailure()) return;
      const SlotHeader &there = *both.there.header, &here = *both.here.header;
      ASSERT_EQ(there.hint_literals, here.hint_literals);
      for (std::uint32_t i = 0; i < frames.size(); ++i) {
        const bool is_clean = is_hinted_clean(here, i, here.hint_literals);
        ASSERT_EQ(is_hinted_clean(there, i, here.hint_literals), is_clean)
            << "set " << set << " batch " << batch << " packet " << i;
        clean += is_clean ? 1 : 0;
      }
      packets += static_cast<std::uint32_t>(frames.size());
    }
  }
  std::printf("%u packets, %u clean\n", packets, clean);
  EXPECT_GT(clean, packets / 100);
  EXPECT_LT(clean, packets / 100 * 99);
}

}  // namespace
}  // namespace millrace
